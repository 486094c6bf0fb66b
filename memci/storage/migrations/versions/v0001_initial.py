"""The first schema: lanes, messages and the memory network, secured by agent (M21)."""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# No foreign keys: every write happens under the lane's row lock, links may dangle by design
# (M14), and an erasure removes all rows of an agent by their first column.
TABLES = """
CREATE TABLE lane (
    agent_id TEXT NOT NULL,
    fence BIGINT DEFAULT 0 NOT NULL,
    lease_owner UUID,
    lease_until timestamptz,
    wake_at timestamptz,
    compress_at timestamptz,
    not_before timestamptz,
    compress_req BIGINT DEFAULT 0 NOT NULL,
    compress_done BIGINT DEFAULT 0 NOT NULL,
    compress_cursor JSONB,
    paused BOOLEAN DEFAULT false NOT NULL,
    halted_by UUID,
    message_seq BIGINT DEFAULT 0 NOT NULL,
    last_node_id BIGINT DEFAULT 0 NOT NULL,
    pass_number BIGINT DEFAULT 0 NOT NULL,
    mentions BIGINT DEFAULT 0 NOT NULL,
    indexed_messages BIGINT DEFAULT 0 NOT NULL,
    indexed_terms BIGINT DEFAULT 0 NOT NULL,
    epoch INTEGER DEFAULT 0 NOT NULL,
    written_at timestamptz,
    read_at timestamptz,
    beat_at timestamptz,
    receipts_from timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id)
) WITH (fillfactor = 50);
CREATE INDEX lane_compress_due ON lane (compress_at) WHERE compress_at IS NOT NULL;
CREATE INDEX lane_due ON lane (wake_at) WHERE wake_at IS NOT NULL;

CREATE TABLE job (
    agent_id TEXT NOT NULL,
    id UUID NOT NULL,
    ordinal BIGINT GENERATED ALWAYS AS IDENTITY,
    kind TEXT NOT NULL,
    payload JSONB NOT NULL,
    source TEXT NOT NULL,
    state TEXT DEFAULT 'queued' NOT NULL,
    first_seq BIGINT,
    last_seq BIGINT,
    attempts INTEGER DEFAULT 0 NOT NULL,
    started INTEGER DEFAULT 0 NOT NULL,
    not_before timestamptz,
    last_error TEXT,
    result JSONB,
    traceparent TEXT,
    created_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    PRIMARY KEY (agent_id, id)
) WITH (fillfactor = 70);
CREATE INDEX job_dead ON job (agent_id) WHERE state = 'dead';
CREATE INDEX job_head ON job (agent_id, ordinal) WHERE state = 'queued';

CREATE TABLE letter (
    agent_id TEXT NOT NULL,
    job_id UUID NOT NULL,
    body BYTEA NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, job_id)
);

CREATE TABLE agent_setting (
    agent_id TEXT NOT NULL,
    parameters JSONB NOT NULL,
    changed_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id)
);

CREATE TABLE receipt (
    agent_id TEXT NOT NULL,
    id UUID NOT NULL,
    kind TEXT NOT NULL,
    session_id TEXT,
    body JSONB NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, id)
);
CREATE INDEX receipt_age ON receipt (agent_id, created_at);
CREATE INDEX receipt_session ON receipt (agent_id, session_id, created_at);

CREATE TABLE message (
    agent_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    content TEXT,
    name TEXT,
    tool_calls JSONB,
    tool_call_id TEXT,
    metadata JSONB,
    session_id TEXT,
    user_id TEXT,
    said_at timestamptz NOT NULL,
    received_at timestamptz DEFAULT now() NOT NULL,
    remember TEXT NOT NULL,
    memory_state TEXT DEFAULT 'none' NOT NULL,
    memory_reason TEXT,
    indexed BOOLEAN DEFAULT false NOT NULL,
    PRIMARY KEY (agent_id, seq)
);
CREATE UNIQUE INDEX message_id ON message (agent_id, id);
CREATE INDEX message_session ON message (agent_id, session_id, seq);
CREATE INDEX message_tail ON message (agent_id, seq) WHERE NOT indexed;

CREATE TABLE message_vector (
    agent_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    embedding HALFVEC NOT NULL,
    model TEXT NOT NULL,
    PRIMARY KEY (agent_id, seq)
);

CREATE TABLE message_term (
    agent_id TEXT NOT NULL,
    term TEXT NOT NULL,
    seq BIGINT NOT NULL,
    tf INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (agent_id, term, seq) INCLUDE (tf, length)
);

CREATE TABLE node (
    agent_id TEXT NOT NULL,
    id BIGINT NOT NULL,
    slot BIGINT NOT NULL,
    kind TEXT NOT NULL,
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    original_length INTEGER NOT NULL,
    phrase TEXT NOT NULL,
    keywords TEXT[] NOT NULL,
    language TEXT NOT NULL,
    entity_key TEXT,
    worth double precision DEFAULT 0 NOT NULL,
    message_seqs BIGINT[] NOT NULL,
    session_id TEXT,
    user_id TEXT,
    said_at timestamptz,
    scan_count BIGINT DEFAULT 0 NOT NULL,
    last_pass BIGINT DEFAULT 0 NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    attempts_pass BIGINT DEFAULT 0 NOT NULL,
    retry_at timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX node_entity ON node (agent_id, entity_key) WHERE entity_key IS NOT NULL;
CREATE UNIQUE INDEX node_slot ON node (agent_id, slot);

CREATE TABLE node_vector (
    agent_id TEXT NOT NULL,
    node_id BIGINT NOT NULL,
    embedding HALFVEC NOT NULL,
    model TEXT NOT NULL,
    PRIMARY KEY (agent_id, node_id)
);

CREATE TABLE node_term (
    agent_id TEXT NOT NULL,
    term TEXT NOT NULL,
    node_id BIGINT NOT NULL,
    tf INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (agent_id, term, node_id) INCLUDE (tf, length)
);
CREATE INDEX node_term_node ON node_term (agent_id, node_id);

CREATE TABLE link (
    agent_id TEXT NOT NULL,
    source BIGINT NOT NULL,
    target BIGINT NOT NULL,
    relation TEXT NOT NULL,
    strength double precision NOT NULL,
    hint TEXT NOT NULL,
    PRIMARY KEY (agent_id, source, target)
) WITH (fillfactor = 50);
CREATE INDEX link_target ON link (agent_id, target);

CREATE TABLE focus (
    agent_id TEXT NOT NULL,
    node_id BIGINT NOT NULL,
    mentioned BIGINT NOT NULL,
    PRIMARY KEY (agent_id, node_id)
);

CREATE TABLE trail (
    agent_id TEXT NOT NULL,
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    node_id BIGINT NOT NULL,
    event TEXT NOT NULL,
    pass_number BIGINT NOT NULL,
    details JSONB NOT NULL,
    at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, id)
);
CREATE INDEX trail_node ON trail (agent_id, node_id);

CREATE TABLE pass_log (
    agent_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    message_seq BIGINT NOT NULL,
    started_at timestamptz DEFAULT now() NOT NULL,
    finished_at timestamptz,
    scanned BIGINT DEFAULT 0 NOT NULL,
    compressed BIGINT DEFAULT 0 NOT NULL,
    forgotten BIGINT DEFAULT 0 NOT NULL,
    broken BIGINT DEFAULT 0 NOT NULL,
    given_up BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (agent_id, number)
);
"""

# Vectors are always read whole and in bulk: keep them in the row, uncompressed.
VECTORS_IN_LINE = """
ALTER TABLE message_vector ALTER COLUMN embedding SET STORAGE PLAIN;
ALTER TABLE node_vector ALTER COLUMN embedding SET STORAGE PLAIN;
"""

QUEUE_TABLES = ("lane", "job")
CONTENT_TABLES = (
    "letter",
    "agent_setting",
    "receipt",
    "message",
    "message_vector",
    "message_term",
    "node",
    "node_vector",
    "node_term",
    "link",
    "focus",
    "trail",
    "pass_log",
)

SECURE = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY own_agent ON {table}
    USING (agent_id = nullif(current_setting('memci.agent', true), ''))
    WITH CHECK (agent_id = nullif(current_setting('memci.agent', true), ''));
"""

GRANT_UPKEEP = """
GRANT SELECT, UPDATE ON lane TO memci_upkeep;
GRANT SELECT (ctid, agent_id, id, ordinal, kind, source, state, attempts, started, not_before,
              created_at, started_at, finished_at) ON job TO memci_upkeep;
GRANT DELETE ON job TO memci_upkeep;
GRANT SELECT ON alembic_version TO memci_app, memci_upkeep;
"""


def upgrade() -> None:
    """Create everything and secure it."""
    op.execute(TABLES)
    op.execute(VECTORS_IN_LINE)
    for table in CONTENT_TABLES:
        op.execute(SECURE.format(table=table))
    for table in QUEUE_TABLES + CONTENT_TABLES:
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO memci_app")
    op.execute(GRANT_UPKEEP)


def downgrade() -> None:
    """Drop everything."""
    for table in CONTENT_TABLES + QUEUE_TABLES:
        op.execute(f"DROP TABLE {table}")
