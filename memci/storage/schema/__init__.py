"""The description of the tables; a test compares it with the result of the migrations."""

from memci.storage.schema import documents, messages, network, pages, work
from memci.storage.schema.columns import metadata
from memci.storage.schema.network import EDITION_SCHEMA, EDITION_TABLES

__all__ = [
    "AGENT_TABLES",
    "EDITION_SCHEMA",
    "EDITION_TABLES",
    "documents",
    "messages",
    "metadata",
    "network",
    "pages",
    "work",
]

# Tables with rows of agents. A referenced table comes before those that refer to it.
AGENT_TABLES = tuple(
    table
    for table in metadata.tables.values()
    if table.schema is None and "agent_id" in table.columns
)
