"""What agent frameworks keep: items of a store, and checkpoints of threads."""

from __future__ import annotations

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE item (
    agent_id TEXT NOT NULL,
    namespace TEXT[] NOT NULL,
    key TEXT NOT NULL,
    value JSONB NOT NULL,
    text TEXT,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    ttl_minutes double precision,
    expires_at timestamptz,
    terms JSONB,
    length INTEGER,
    embedding halfvec,
    model TEXT,
    PRIMARY KEY (agent_id, namespace, key)
);
CREATE INDEX item_unindexed ON item (agent_id, updated_at)
    WHERE text IS NOT NULL AND terms IS NULL;
CREATE INDEX item_term ON item (agent_id, expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE checkpoint (
    agent_id TEXT NOT NULL,
    thread TEXT NOT NULL,
    namespace TEXT NOT NULL,
    id TEXT NOT NULL,
    parent TEXT,
    kind TEXT NOT NULL,
    body BYTEA NOT NULL,
    versions JSONB NOT NULL,
    metadata JSONB NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, thread, namespace, id)
);

CREATE TABLE checkpoint_value (
    agent_id TEXT NOT NULL,
    thread TEXT NOT NULL,
    namespace TEXT NOT NULL,
    channel TEXT NOT NULL,
    version TEXT NOT NULL,
    kind TEXT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (agent_id, thread, namespace, channel, version)
);

CREATE TABLE checkpoint_write (
    agent_id TEXT NOT NULL,
    thread TEXT NOT NULL,
    namespace TEXT NOT NULL,
    checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    channel TEXT NOT NULL,
    kind TEXT NOT NULL,
    body BYTEA NOT NULL,
    path TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (agent_id, thread, namespace, checkpoint_id, task_id, place)
);
"""
SECURE = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY own_agent ON {table}
    USING (agent_id = nullif(current_setting('memci.agent', true), ''))
    WITH CHECK (agent_id = nullif(current_setting('memci.agent', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO memci_app;
"""
NEW = ("item", "checkpoint", "checkpoint_value", "checkpoint_write")


def upgrade() -> None:
    """Create them."""
    op.execute(TABLES)
    for table in NEW:
        op.execute(SECURE.format(table=table))


def downgrade() -> None:
    """Drop them."""
    for table in reversed(NEW):
        op.execute(f"DROP TABLE {table}")
