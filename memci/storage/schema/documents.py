"""Tables of documents, chunks, items and checkpoints.

``agent_id`` is the owner's id: an agent's, or ``collection/NAME``.
"""

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import ARRAY

from memci.domain.documents import ChunkKind, DocumentState
from memci.storage.schema import value_types
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

# Files that were sent as documents, and are removed as such.
_OF_FILES = "made of documents, and not of messages"

document = agent_table(
    "document",
    key("id", sa.BigInteger, at_most="lane.last_document_id"),
    required("name", sa.Text, holds=value_types.DocumentName),
    # SHA-256 of the file's bytes.
    required("digest", sa.Text),
    required("bytes", sa.BigInteger),
    required("state", sa.Text, "'queued'", holds=DocumentState),
    optional("error", sa.Text),
    required("chunks", sa.Integer, "0"),
    required("indexed_chunks", sa.Integer, "0"),
    required("job_id", sa.Uuid),
    moment(),
    # When its present bytes arrived, and when all of its chunks were indexed.
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
    # Headings above it, or its symbol: "Guide › Install".
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

# Postings: how often a term occurs in a chunk, and the chunk's number of terms.
chunk_term = agent_table(
    "chunk_term",
    key("term", sa.Text),
    key("chunk_id", sa.BigInteger, references="chunk.id"),
    required("tf", sa.Integer, holds=value_types.Frequency),
    required("length", sa.Integer),
    index("chunk_term_chunk", "chunk_id"),
    no_content=_OF_FILES,
)

item = agent_table(
    "item",
    key("namespace", ARRAY(sa.Text)),
    key("key", sa.Text),
    required("value", Json),
    # The text to search for; null: the item is found by place and value alone.
    optional("text", sa.Text),
    moment(),
    moment("updated_at"),
    # Minutes from the last read to the expiry, and the time of the expiry.
    optional("ttl_minutes", sa.Double),
    optional("expires_at", Instant),
    # How often each term occurs in the text, and its number of terms; null: not indexed yet. A job
    # indexes it again after an import.
    optional("terms", Json, local=True),
    optional("length", sa.Integer, local=True),
    optional("embedding", HALFVEC(), local=True),
    optional("model", sa.Text, local=True),
    index("item_unindexed", "updated_at", where="text IS NOT NULL AND terms IS NULL"),
    index("item_term", "expires_at", where="expires_at IS NOT NULL"),
    no_content="of no message: what a program has put there, and takes away itself",
)

# Kinds and bodies belong to a framework: they are stored as bytes and never read here.
checkpoint = agent_table(
    "checkpoint",
    key("thread", sa.Text),
    key("namespace", sa.Text),
    key("id", sa.Text),
    optional("parent", sa.Text),
    required("kind", sa.Text),
    required("body", sa.LargeBinary),
    # The version of each channel's value at this checkpoint.
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
    # Negative: the outcome of a task.
    key("place", sa.Integer, holds=value_types.WritePlace),
    required("channel", sa.Text),
    required("kind", sa.Text),
    required("body", sa.LargeBinary),
    required("path", sa.Text, "''"),
)
