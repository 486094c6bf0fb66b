"""Snapshots of the network at the ends of passes: ids and numbers, no text."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLE = """
CREATE TABLE pass_snapshot (
    agent_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    taken_at timestamptz DEFAULT now() NOT NULL,
    node_ids BIGINT[] NOT NULL,
    lengths INTEGER[] NOT NULL,
    original_lengths INTEGER[] NOT NULL,
    importances REAL[] NOT NULL,
    entities BIGINT[] NOT NULL,
    focus BIGINT[] NOT NULL,
    sources BIGINT[] NOT NULL,
    targets BIGINT[] NOT NULL,
    strengths REAL[] NOT NULL,
    PRIMARY KEY (agent_id, number)
) WITH (toast_tuple_target = 128);
"""

SECURE = """
ALTER TABLE pass_snapshot ENABLE ROW LEVEL SECURITY;
ALTER TABLE pass_snapshot FORCE ROW LEVEL SECURITY;
CREATE POLICY own_agent ON pass_snapshot
    USING (agent_id = nullif(current_setting('memci.agent', true), ''))
    WITH CHECK (agent_id = nullif(current_setting('memci.agent', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON pass_snapshot TO memci_app;
"""


def upgrade() -> None:
    """Create the table and secure it."""
    op.execute(TABLE)
    op.execute(SECURE)


def downgrade() -> None:
    """Drop the table."""
    op.execute("DROP TABLE pass_snapshot")
