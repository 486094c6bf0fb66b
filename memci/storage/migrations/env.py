"""Alembic's entry: runs on the connection that memci.storage.migrate passes on."""

from alembic import context

from memci.storage.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, compare_server_default=True)
with context.begin_transaction():
    context.run_migrations()
