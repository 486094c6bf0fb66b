"""Documents: files, their chunks, and what finds those (R9)."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE document (
    agent_id TEXT NOT NULL,
    id BIGINT NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    state TEXT DEFAULT 'queued' NOT NULL,
    error TEXT,
    chunks INTEGER DEFAULT 0 NOT NULL,
    indexed_chunks INTEGER DEFAULT 0 NOT NULL,
    job_id UUID NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    sent_at timestamptz DEFAULT now() NOT NULL,
    indexed_at timestamptz,
    PRIMARY KEY (agent_id, id)
);
CREATE UNIQUE INDEX document_name ON document (agent_id, name);

CREATE TABLE document_body (
    agent_id TEXT NOT NULL,
    document_id BIGINT NOT NULL,
    body BYTEA NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, document_id)
);

CREATE TABLE chunk (
    agent_id TEXT NOT NULL,
    id BIGINT NOT NULL,
    document_id BIGINT NOT NULL,
    place INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    path TEXT NOT NULL,
    symbol TEXT,
    symbol_key TEXT,
    language TEXT NOT NULL,
    first_line INTEGER,
    last_line INTEGER,
    page INTEGER,
    indexed BOOLEAN DEFAULT false NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (agent_id, id)
);
CREATE UNIQUE INDEX chunk_document ON chunk (agent_id, document_id, place);
CREATE INDEX chunk_symbol ON chunk (agent_id, symbol_key) WHERE symbol_key IS NOT NULL;
CREATE INDEX chunk_waiting ON chunk (agent_id, document_id, id) WHERE NOT indexed;

CREATE TABLE chunk_vector (
    agent_id TEXT NOT NULL,
    chunk_id BIGINT NOT NULL,
    embedding halfvec NOT NULL,
    model TEXT NOT NULL,
    PRIMARY KEY (agent_id, chunk_id)
);

CREATE TABLE chunk_term (
    agent_id TEXT NOT NULL,
    term TEXT NOT NULL,
    chunk_id BIGINT NOT NULL,
    tf INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (agent_id, term, chunk_id) INCLUDE (tf, length)
);
CREATE INDEX chunk_term_chunk ON chunk_term (agent_id, chunk_id);
"""
COUNTERS = """
ALTER TABLE lane
    ADD COLUMN documents BIGINT DEFAULT 0 NOT NULL,
    ADD COLUMN last_document_id BIGINT DEFAULT 0 NOT NULL,
    ADD COLUMN last_chunk_id BIGINT DEFAULT 0 NOT NULL,
    ADD COLUMN indexed_chunks BIGINT DEFAULT 0 NOT NULL,
    ADD COLUMN chunk_terms BIGINT DEFAULT 0 NOT NULL;
"""
SECURE = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY own_agent ON {table}
    USING (agent_id = nullif(current_setting('memci.agent', true), ''))
    WITH CHECK (agent_id = nullif(current_setting('memci.agent', true), ''));
GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO memci_app;
"""
# A transaction names the collections that it may read beside its agent's own; a blank is in no
# name. Nothing but a collection can be named in this way. The owner is no bare column in it: else
# the planner takes "own or named" for a way through any index that begins with the owner.
SHARE = """
CREATE POLICY named_collections ON {table} FOR SELECT
    USING ((agent_id || '') = ANY (string_to_array(current_setting('memci.collections', true), ' '))
           AND starts_with(agent_id, 'collection/'));
"""
NEW = ("document", "document_body", "chunk", "chunk_vector", "chunk_term")
# Bytes that nobody has read yet are for the one who reads them.
SHARED = ("document", "chunk", "chunk_vector", "chunk_term")


def upgrade() -> None:
    """Create them."""
    op.execute(TABLES)
    op.execute(COUNTERS)
    for table in NEW:
        op.execute(SECURE.format(table=table))
    for table in SHARED:
        op.execute(SHARE.format(table=table))


def downgrade() -> None:
    """Drop them; lanes of collections go, too, since nobody would know what they are."""
    op.execute("DELETE FROM job WHERE starts_with(agent_id, 'collection/')")
    op.execute("DELETE FROM lane WHERE starts_with(agent_id, 'collection/')")
    for table in reversed(NEW):
        op.execute(f"DROP TABLE {table}")
    for column in (
        "documents", "last_document_id", "last_chunk_id", "indexed_chunks", "chunk_terms"
    ):  # fmt: skip
        op.execute(f"ALTER TABLE lane DROP COLUMN {column}")
