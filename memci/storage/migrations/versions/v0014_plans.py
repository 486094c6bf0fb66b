"""Key messages and plans (R7): parts of messages that are pinned, and steps of plans."""

from __future__ import annotations

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

TABLES = """
ALTER TABLE pin ADD COLUMN span_start INTEGER, ADD COLUMN span_end INTEGER;

CREATE TABLE plan (
    agent_id TEXT NOT NULL,
    made_seq BIGINT NOT NULL,
    session_id TEXT,
    user_id TEXT,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, made_seq)
);
CREATE INDEX plan_session ON plan (agent_id, session_id, made_seq);

CREATE TABLE plan_step (
    agent_id TEXT NOT NULL,
    made_seq BIGINT NOT NULL,
    position INTEGER NOT NULL,
    text TEXT NOT NULL,
    said_seq BIGINT NOT NULL,
    state TEXT NOT NULL,
    first_seq BIGINT,
    last_seq BIGINT,
    PRIMARY KEY (agent_id, made_seq, position)
);

CREATE TABLE tracking (
    agent_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (agent_id)
) WITH (fillfactor = 50);

CREATE INDEX job_tracking ON job (agent_id)
    WHERE state = 'queued' AND kind = 'memci.message.track';
"""
SECURE = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY own_agent ON {table}
    USING (agent_id = nullif(current_setting('memci.agent', true), ''))
    WITH CHECK (agent_id = nullif(current_setting('memci.agent', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO memci_app;
"""
# Nobody looks back: what was said before is not pinned all at once.
LOOKED_AT = """
INSERT INTO tracking (agent_id, seq)
SELECT agent_id, message_seq FROM lane WHERE message_seq > 0;
"""
UNPIN = "DELETE FROM pin WHERE pinned_by = 'detector'"
NEW = ("plan", "plan_step", "tracking")


def upgrade() -> None:
    """Create them; messages from now on are looked through."""
    op.execute(TABLES)
    op.execute(LOOKED_AT)
    for table in NEW:
        op.execute(SECURE.format(table=table))


def downgrade() -> None:
    """Drop them, and what was found."""
    op.execute("DELETE FROM job WHERE kind = 'memci.message.track'")
    op.execute("DROP INDEX job_tracking")
    for table in reversed(NEW):
        op.execute(f"DROP TABLE {table}")
    op.execute("ALTER TABLE pin DISABLE ROW LEVEL SECURITY")
    op.execute(UNPIN)
    op.execute("ALTER TABLE pin ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE pin DROP COLUMN span_start, DROP COLUMN span_end")
