"""Alembic's entry: runs on the connection that memci.storage.migrate passes on."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection)
with context.begin_transaction():
    context.run_migrations()
