"""Consolidation of short-term memories, sessions and their ends, claims and versions (R5, R6)."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

UPGRADE = """
ALTER TABLE lane ADD COLUMN new_memories BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE lane ADD COLUMN expire_at timestamptz;
CREATE INDEX lane_expire ON lane (expire_at) WHERE expire_at IS NOT NULL;

ALTER TABLE node ADD COLUMN promoted_at timestamptz;
ALTER TABLE node ADD COLUMN compared BOOLEAN DEFAULT false NOT NULL;
ALTER TABLE node ADD COLUMN superseded_by BIGINT;
ALTER TABLE node ADD COLUMN superseded_at timestamptz;

CREATE TABLE claim (
    agent_id TEXT NOT NULL,
    node_id BIGINT NOT NULL,
    subject TEXT NOT NULL,
    attribute TEXT NOT NULL,
    seq BIGINT NOT NULL,
    value TEXT,
    ended TEXT,
    said_at timestamptz NOT NULL,
    PRIMARY KEY (agent_id, node_id, subject, attribute, seq)
);
CREATE INDEX claim_about ON claim (agent_id, subject, attribute);
CREATE INDEX claim_message ON claim (agent_id, seq);

CREATE TABLE node_version (
    agent_id TEXT NOT NULL,
    node_id BIGINT NOT NULL,
    replaced_by BIGINT NOT NULL,
    reason TEXT NOT NULL,
    content TEXT NOT NULL,
    phrase TEXT NOT NULL,
    keywords TEXT[] NOT NULL,
    language TEXT NOT NULL,
    type TEXT NOT NULL,
    message_seqs BIGINT[] NOT NULL,
    session_id TEXT,
    user_id TEXT,
    said_at timestamptz,
    until timestamptz,
    replaced_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, node_id, replaced_by)
);
CREATE INDEX node_version_successor ON node_version (agent_id, replaced_by);

CREATE TABLE session_end (
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    ended_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, session_id)
);
"""
CONTENT_TABLES = ("claim", "node_version", "session_end")
SECURE = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY own_agent ON {table}
    USING (agent_id = nullif(current_setting('memci.agent', true), ''))
    WITH CHECK (agent_id = nullif(current_setting('memci.agent', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO memci_app;
"""
# Upkeep puts jobs into mailboxes, without payload, and looks whether one waits already.
GRANT_UPKEEP = "GRANT INSERT (agent_id, id, kind, payload, source) ON job TO memci_upkeep;"

DOWNGRADE = """
REVOKE INSERT (agent_id, id, kind, payload, source) ON job FROM memci_upkeep;
DROP TABLE session_end;
DROP TABLE node_version;
DROP TABLE claim;
ALTER TABLE node DROP COLUMN superseded_at;
ALTER TABLE node DROP COLUMN superseded_by;
ALTER TABLE node DROP COLUMN compared;
ALTER TABLE node DROP COLUMN promoted_at;
DROP INDEX lane_expire;
ALTER TABLE lane DROP COLUMN expire_at;
ALTER TABLE lane DROP COLUMN new_memories;
"""


def upgrade() -> None:
    """Add what consolidation, sessions, claims and versions are kept in."""
    op.execute(UPGRADE)
    for table in CONTENT_TABLES:
        op.execute(SECURE.format(table=table))
    op.execute(GRANT_UPKEEP)


def downgrade() -> None:
    """Drop it; merged and superseded versions are lost."""
    op.execute(DOWNGRADE)
