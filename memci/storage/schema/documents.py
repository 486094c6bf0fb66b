"""Tables of documents, chunks, items and checkpoints.

``agent_id`` is the owner's id: an agent's, or ``collection/NAME``.
"""

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import ARRAY

from memci.domain.documents import ChunkKind, DocumentState
from memci.storage.schema import values
from memci.storage.schema.columns import (
    Instant,
    Json,
    agent_table,
    index,
    key,
    moment,
    optional,
    required,
)

# Somebody has sent them as files, and removes them as such.
_OF_FILES = "made of documents, and not of messages"

document = agent_table(
    "document",
    key("id", sa.BigInteger, at_most="lane.last_document_id"),
    required("name", sa.Text, holds=values.DocumentName),
    # SHA-256 of the file's bytes.
    required("digest", sa.Text),
    required("bytes", sa.BigInteger),
    required("state", sa.Text, "'queued'", holds=DocumentState),
    optional("error", sa.Text),
    required("chunks", sa.Integer, "0"),
    required("indexed_chunks", sa.Integer, "0"),
    required("job_id", sa.Uuid),
    moment(),
    # When its present bytes came, and when all of them could be found.
    moment("sent_at"),
    optional("indexed_at", Instant),
    index("document_name", "name", unique=True),
    no_content=_OF_FILES,
)

# The bytes of a file until they have been read.
document_body = agent_table(
    "document_body",
    key("document_id", sa.BigInteger, references="document.id"),
    required("body", sa.LargeBinary),
    moment(local=True),
    no_content=_OF_FILES,
)

chunk = agent_table(
    "chunk",
    key("id", sa.BigInteger, at_most="lane.last_chunk_id"),
    required("document_id", sa.BigInteger, references="document.id"),
    # Its position in the document, from 0.
    required("place", sa.Integer),
    required("kind", sa.Text, holds=ChunkKind),
    required("text", sa.Text),
    # Headings above it, or the symbol that it is: "Guide › Install".
    required("path", sa.Text),
    optional("symbol", sa.Text),
    # The last part of the symbol, in small letters.
    optional("symbol_key", sa.Text),
    required("language", sa.Text),
    optional("first_line", sa.Integer),
    optional("last_line", sa.Integer),
    optional("page", sa.Integer),
    # False: not yet in chunk_term and chunk_vector.
    required("indexed", sa.Boolean, "false"),
    moment(),
    index("chunk_document", "document_id", "place", unique=True),
    index("chunk_symbol", "symbol_key", where="symbol_key IS NOT NULL"),
    index("chunk_waiting", "document_id", "id", where="NOT indexed"),
    no_content=_OF_FILES,
)

chunk_vector = agent_table(
    "chunk_vector",
    key("chunk_id", sa.BigInteger, references="chunk.id"),
    required("embedding", HALFVEC()),
    required("model", sa.Text),
    no_content=_OF_FILES,
)

# Postings: how often a term stands in a chunk of how many terms.
chunk_term = agent_table(
    "chunk_term",
    key("term", sa.Text),
    key("chunk_id", sa.BigInteger, references="chunk.id"),
    required("tf", sa.Integer, holds=values.Frequency),
    required("length", sa.Integer),
    index("chunk_term_chunk", "chunk_id"),
    no_content=_OF_FILES,
)

item = agent_table(
    "item",
    key("namespace", ARRAY(sa.Text)),
    key("key", sa.Text),
    required("value", Json),
    # What it is searched by; none: it is found by its place and value alone.
    optional("text", sa.Text),
    moment(),
    moment("updated_at"),
    # Minutes after the last look at it, and when that is.
    optional("ttl_minutes", sa.Double),
    optional("expires_at", Instant),
    # How often a term stands in the text of how many terms; none: it is still to be indexed. A job
    # indexes it anew after an import.
    optional("terms", Json, local=True),
    optional("length", sa.Integer, local=True),
    optional("embedding", HALFVEC(), local=True),
    optional("model", sa.Text, local=True),
    index("item_unindexed", "updated_at", where="text IS NOT NULL AND terms IS NULL"),
    index("item_term", "expires_at", where="expires_at IS NOT NULL"),
    no_content="of no message: what a program has put there, and takes away itself",
)

# Kinds and bodies are a framework's own: they are kept as bytes and never read here.
checkpoint = agent_table(
    "checkpoint",
    key("thread", sa.Text),
    key("namespace", sa.Text),
    key("id", sa.Text),
    optional("parent", sa.Text),
    required("kind", sa.Text),
    required("body", sa.LargeBinary),
    # Of each channel the version that its value has here.
    required("versions", Json),
    required("metadata", Json),
    moment(),
)

checkpoint_value = agent_table(
    "checkpoint_value",
    key("thread", sa.Text),
    key("namespace", sa.Text),
    key("channel", sa.Text),
    key("version", sa.Text),
    required("kind", sa.Text),
    required("body", sa.LargeBinary),
)

checkpoint_write = agent_table(
    "checkpoint_write",
    key("thread", sa.Text),
    key("namespace", sa.Text),
    key("checkpoint_id", sa.Text),
    key("task_id", sa.Text),
    # Below zero: how a task ended.
    key("place", sa.Integer, holds=values.WritePlace),
    required("channel", sa.Text),
    required("kind", sa.Text),
    required("body", sa.LargeBinary),
    required("path", sa.Text, "''"),
)
