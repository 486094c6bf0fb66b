"""The tables with rows of agents; a test compares them with the result of the migrations.

Indexes, and tables of the whole database, are in the migrations alone.
"""

from memci.storage.schema import documents, messages, network, pages, work
from memci.storage.schema.columns import metadata

__all__ = ["AGENT_TABLES", "documents", "messages", "metadata", "network", "pages", "work"]

# A referenced table comes before those that refer to it.
AGENT_TABLES = tuple(table for table in metadata.tables.values() if table.schema is None)
