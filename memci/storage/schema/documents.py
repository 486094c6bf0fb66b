"""Tables of documents, chunks, items and checkpoints.

``agent_id`` is the owner's id: an agent's, or ``collection/NAME``.
"""

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import ARRAY

from memci.domain.documents import ChunkKind, DocumentState
from memci.storage.schema import archive_values, columns

# Files that were sent as documents, and are removed as such.
_OF_FILES = "made of documents, and not of messages"

document = columns.agent_table(
    "document",
    columns.key("id", sa.BigInteger, at_most="lane.last_document_id"),
    columns.required("name", sa.Text, holds=archive_values.DocumentName),
    # SHA-256 of the file's bytes.
    columns.required("digest", sa.Text),
    columns.required("bytes", sa.BigInteger),
    columns.required("state", sa.Text, "'queued'", holds=DocumentState),
    columns.optional("error", sa.Text),
    columns.required("chunks", sa.Integer, "0"),
    columns.required("indexed_chunks", sa.Integer, "0"),
    columns.required("job_id", sa.Uuid),
    columns.moment(),
    # When its present bytes arrived, and when all of its chunks were indexed.
    columns.moment("sent_at"),
    columns.optional("indexed_at", columns.Instant),
    no_content=_OF_FILES,
)

# The bytes of a file until they have been read.
document_body = columns.agent_table(
    "document_body",
    columns.key("document_id", sa.BigInteger, references="document.id"),
    columns.required("body", sa.LargeBinary),
    columns.moment(local=True),
    no_content=_OF_FILES,
)

chunk = columns.agent_table(
    "chunk",
    columns.key("id", sa.BigInteger, at_most="lane.last_chunk_id"),
    columns.required("document_id", sa.BigInteger, references="document.id"),
    # Its position in the document, from 0.
    columns.required("place", sa.Integer),
    columns.required("kind", sa.Text, holds=ChunkKind),
    columns.required("text", sa.Text),
    # Headings above it, or its symbol: "Guide › Install".
    columns.required("path", sa.Text),
    columns.optional("symbol", sa.Text),
    # The last part of the symbol, in small letters.
    columns.optional("symbol_key", sa.Text),
    columns.required("language", sa.Text),
    columns.optional("first_line", sa.Integer),
    columns.optional("last_line", sa.Integer),
    columns.optional("page", sa.Integer),
    # False: not yet in chunk_term and chunk_vector.
    columns.required("indexed", sa.Boolean, "false"),
    columns.moment(),
    no_content=_OF_FILES,
)

chunk_vector = columns.agent_table(
    "chunk_vector",
    columns.key("chunk_id", sa.BigInteger, references="chunk.id"),
    columns.required("embedding", HALFVEC()),
    columns.required("model", sa.Text),
    no_content=_OF_FILES,
)

# Postings: how often a term occurs in a chunk, and the chunk's number of terms.
chunk_term = columns.agent_table(
    "chunk_term",
    columns.key("term", sa.Text),
    columns.key("chunk_id", sa.BigInteger, references="chunk.id"),
    columns.required("tf", sa.Integer, holds=archive_values.Frequency),
    columns.required("length", sa.Integer),
    no_content=_OF_FILES,
)

item = columns.agent_table(
    "item",
    columns.key("namespace", ARRAY(sa.Text)),
    columns.key("key", sa.Text),
    columns.required("value", columns.Json),
    # The text to search for; null: the item is found by place and value alone.
    columns.optional("text", sa.Text),
    columns.moment(),
    columns.moment("updated_at"),
    # Minutes from the last read to the expiry, and the time of the expiry.
    columns.optional("ttl_minutes", sa.Double),
    columns.optional("expires_at", columns.Instant),
    # How often each term occurs in the text, and its number of terms; null: not indexed yet. A job
    # indexes it again after an import.
    columns.optional("terms", columns.Json, local=True),
    columns.optional("length", sa.Integer, local=True),
    columns.optional("embedding", HALFVEC(), local=True),
    columns.optional("model", sa.Text, local=True),
    no_content="of no message: what a program has put there, and takes away itself",
)

# Kinds and bodies belong to a framework: they are stored as bytes and never read here.
checkpoint = columns.agent_table(
    "checkpoint",
    columns.key("thread", sa.Text),
    columns.key("namespace", sa.Text),
    columns.key("id", sa.Text),
    columns.optional("parent", sa.Text),
    columns.required("kind", sa.Text),
    columns.required("body", sa.LargeBinary),
    # The version of each channel's value at this checkpoint.
    columns.required("versions", columns.Json),
    columns.required("metadata", columns.Json),
    columns.moment(),
)

checkpoint_value = columns.agent_table(
    "checkpoint_value",
    columns.key("thread", sa.Text),
    columns.key("namespace", sa.Text),
    columns.key("channel", sa.Text),
    columns.key("version", sa.Text),
    columns.required("kind", sa.Text),
    columns.required("body", sa.LargeBinary),
)

checkpoint_write = columns.agent_table(
    "checkpoint_write",
    columns.key("thread", sa.Text),
    columns.key("namespace", sa.Text),
    columns.key("checkpoint_id", sa.Text),
    columns.key("task_id", sa.Text),
    # Negative: the outcome of a task.
    columns.key("place", sa.Integer, holds=archive_values.WritePlace),
    columns.required("channel", sa.Text),
    columns.required("kind", sa.Text),
    columns.required("body", sa.LargeBinary),
    columns.required("path", sa.Text, "''"),
)
