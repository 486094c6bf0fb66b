"""Rolling summaries of sessions, and what is counted towards the next (R8)."""

from __future__ import annotations

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

TABLE = """
CREATE TABLE summary (
    agent_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    users TEXT[] DEFAULT '{}' NOT NULL,
    from_seq BIGINT DEFAULT 0 NOT NULL,
    through_seq BIGINT DEFAULT 0 NOT NULL,
    text TEXT DEFAULT '' NOT NULL,
    tokens INTEGER DEFAULT 0 NOT NULL,
    model TEXT DEFAULT '' NOT NULL,
    final BOOLEAN DEFAULT false NOT NULL,
    counted_seq BIGINT DEFAULT 0 NOT NULL,
    counted_tokens BIGINT DEFAULT 0 NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, session_id, user_id)
) WITH (fillfactor = 70);
CREATE INDEX summary_open ON summary (agent_id, session_id)
    WHERE NOT final AND user_id = '' AND session_id <> '';
"""
SECURE = """
ALTER TABLE summary ENABLE ROW LEVEL SECURITY;
ALTER TABLE summary FORCE ROW LEVEL SECURITY;
CREATE POLICY own_agent ON summary
    USING (agent_id = nullif(current_setting('memci.agent', true), ''))
    WITH CHECK (agent_id = nullif(current_setting('memci.agent', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON summary TO memci_app;
"""
SUMMING = """
CREATE INDEX job_summing ON job (agent_id)
    WHERE state = 'queued' AND kind = 'memci.session.summarise';
"""


def upgrade() -> None:
    """Create it; sessions get their rows with the next thing that is said in them."""
    op.execute(TABLE)
    op.execute(SECURE)
    op.execute(SUMMING)


def downgrade() -> None:
    """Drop it."""
    op.execute("DROP INDEX job_summing")
    op.execute("DROP TABLE summary")
