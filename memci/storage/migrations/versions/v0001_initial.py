"""The first schema: lanes, messages, memory networks, pages and documents, secured by agent (M21).

``initial.sql`` beside this module creates the tables.
"""

from pathlib import Path

from alembic import op
from sqlalchemy import inspect

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TABLES = Path(__file__).with_name("initial.sql")

# Tables without content of agents: the queue is read for all agents, the others are of the server.
_OPEN_TABLES = frozenset(
    {
        "alembic_version",
        "api_key",
        "audit",
        "key_usage",
        "lane",
        "job",
        "model_total",
        "vector_model",
        "webhook",
    }
)
_DOCUMENT_TABLES = ("document", "chunk", "chunk_term", "chunk_vector")
# Every table of a network exists again in a schema of its own, where a network is rebuilt (M24):
# same names, columns and indexes.
_NETWORK_TABLES = (
    "node", "node_vector", "node_term", "link", "focus", "ended_fact", "node_version", "trail",
    "pass_log", "replay_log",
)  # fmt: skip

_OWN_AGENT = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY own_agent ON {table}
    USING (agent_id = nullif(current_setting('memci.agent', true), ''))
    WITH CHECK (agent_id = nullif(current_setting('memci.agent', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO memci_app;
"""
# A transaction names the collections that it may read beside its agent's rows. The owner is not a
# bare column here: otherwise the planner would scan indexes that begin with the owner for both.
_NAMED_COLLECTIONS = """
CREATE POLICY named_collections ON {table} FOR SELECT
    USING ((agent_id || '') = ANY (string_to_array(current_setting('memci.collections', true), ' '))
           AND starts_with(agent_id, 'collection/'));
"""
# An administrator may have created the schema, if the owner of the tables may not.
_EDITION_SCHEMA = """
DO $$
BEGIN
    IF to_regnamespace('memci_edition') IS NULL THEN
        CREATE SCHEMA memci_edition;
    END IF;
END $$;
GRANT USAGE ON SCHEMA memci_edition TO memci_app;
"""
_EDITION_TABLE = """
CREATE TABLE memci_edition.{table} (LIKE public.{table} INCLUDING ALL EXCLUDING INDEXES);
DO $$
DECLARE definition TEXT;
BEGIN
    FOR definition IN SELECT replace(indexdef, ' ON public.', ' ON memci_edition.')
        FROM pg_indexes WHERE schemaname = 'public' AND tablename = '{table}'
        AND indexname <> '{table}_pkey'
    LOOP EXECUTE definition; END LOOP;
    SELECT 'ALTER TABLE memci_edition.{table} ADD CONSTRAINT {table}_pkey '
           || pg_get_constraintdef(oid)
      INTO definition FROM pg_constraint
     WHERE conrelid = 'public.{table}'::regclass AND contype = 'p';
    EXECUTE definition;
END $$;
"""


def upgrade() -> None:
    """Create all tables, and restrict each transaction to the rows of its agent."""
    op.execute(_TABLES.read_text(encoding="utf-8"))
    for table in _tables():
        if table not in _OPEN_TABLES:
            op.execute(_OWN_AGENT.format(table=table))
    for table in _DOCUMENT_TABLES:
        op.execute(_NAMED_COLLECTIONS.format(table=table))
    op.execute(_EDITION_SCHEMA)
    for table in _NETWORK_TABLES:
        op.execute(_EDITION_TABLE.format(table=table))
        op.execute(_OWN_AGENT.format(table=f"memci_edition.{table}"))


def downgrade() -> None:
    """Drop everything but the schema, which the owner may be unable to create again."""
    for table in _NETWORK_TABLES:
        op.execute(f"DROP TABLE memci_edition.{table}")
    for table in _tables():
        if table != "alembic_version":
            op.execute(f"DROP TABLE {table}")
    op.execute(
        "DROP FUNCTION refuse_erased_message, add_event, event_horizon, event_time, charge_key"
    )
    op.execute("DROP SEQUENCE event_offset")


def _tables() -> list[str]:
    return inspect(op.get_bind()).get_table_names(schema="public")
