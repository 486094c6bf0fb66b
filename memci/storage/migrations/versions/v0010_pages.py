"""The page tree: pages, what notes say, and the steps that can be undone (page-tree.md)."""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE page_tree (
    agent_id TEXT NOT NULL,
    version BIGINT DEFAULT 0 NOT NULL,
    segments JSONB DEFAULT '[]' NOT NULL,
    settled_seq BIGINT DEFAULT 0 NOT NULL,
    interactions BIGINT DEFAULT 0 NOT NULL,
    next_place BIGINT DEFAULT 1 NOT NULL,
    archive TEXT,
    notice TEXT[] DEFAULT '{}' NOT NULL,
    last_step BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (agent_id)
) WITH (fillfactor = 50);

CREATE TABLE page (
    agent_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    segment TEXT NOT NULL,
    parent TEXT,
    place BIGINT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    expanded BOOLEAN NOT NULL,
    cold BOOLEAN DEFAULT false NOT NULL,
    managed BOOLEAN DEFAULT false NOT NULL,
    named BOOLEAN DEFAULT false NOT NULL,
    summed BOOLEAN DEFAULT false NOT NULL,
    pinned_by TEXT,
    first_seq BIGINT,
    last_seq BIGINT,
    session_id TEXT,
    number BIGINT,
    answered BOOLEAN,
    entries TEXT[] DEFAULT '{}' NOT NULL,
    body BIGINT,
    recalls INTEGER DEFAULT 0 NOT NULL,
    recalled_at BIGINT DEFAULT 0 NOT NULL,
    entered_at BIGINT DEFAULT 0 NOT NULL,
    archived_at BIGINT DEFAULT 0 NOT NULL,
    opened_at BIGINT DEFAULT 0 NOT NULL,
    chapter TEXT DEFAULT '' NOT NULL,
    user_id TEXT,
    held_tokens INTEGER DEFAULT 0 NOT NULL,
    PRIMARY KEY (agent_id, id)
) WITH (fillfactor = 70);
CREATE INDEX page_living ON page (agent_id, parent, session_id) WHERE NOT cold;
CREATE INDEX page_inside ON page (agent_id, parent) WHERE cold AND parent IS NOT NULL;
CREATE INDEX page_removed ON page (agent_id, place) WHERE cold AND parent IS NULL;
CREATE INDEX page_span ON page (agent_id, session_id, last_seq) WHERE first_seq IS NOT NULL;
CREATE INDEX page_unnamed ON page (agent_id, number)
    WHERE number > 0 AND NOT (named AND summed);

CREATE TABLE page_body (
    agent_id TEXT NOT NULL,
    page_id TEXT NOT NULL,
    version BIGINT NOT NULL,
    text TEXT NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, page_id, version)
);

CREATE TABLE pin (
    agent_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    message_seq BIGINT,
    pinned_by TEXT NOT NULL,
    user_id TEXT,
    created_at timestamptz DEFAULT now() NOT NULL,
    unpinned_at timestamptz,
    PRIMARY KEY (agent_id, number)
);

CREATE TABLE page_step (
    agent_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    operations TEXT[] NOT NULL,
    changes JSONB NOT NULL,
    undone BOOLEAN DEFAULT false NOT NULL,
    user_id TEXT,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, number)
);
CREATE INDEX page_step_whose ON page_step (agent_id, user_id, number);
"""
SECURE = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY own_agent ON {table}
    USING (agent_id = nullif(current_setting('memci.agent', true), ''))
    WITH CHECK (agent_id = nullif(current_setting('memci.agent', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO memci_app;
"""
NAMING = """
CREATE INDEX job_naming ON job (agent_id) WHERE state = 'queued' AND kind = 'memci.page.name';
"""
# What was written is from now on what tells a life that has begun from one that is erased; requests
# of which nothing was taken had left a time there, too.
ERASED = """
UPDATE lane SET written_at = NULL
WHERE epoch > 0 AND message_seq = erased_messages AND written_at IS NOT NULL;
"""
NEW = ("page_tree", "page", "page_body", "pin", "page_step")


def upgrade() -> None:
    """Create them; whoever looks first puts an agent's messages onto pages."""
    op.execute(TABLES)
    op.execute(NAMING)
    op.execute(ERASED)
    for table in NEW:
        op.execute(SECURE.format(table=table))


def downgrade() -> None:
    """Drop them."""
    op.execute("DROP INDEX job_naming")
    for table in reversed(NEW):
        op.execute(f"DROP TABLE {table}")
