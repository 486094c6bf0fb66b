"""The file, columns and order of each table in an archive; derived from ``storage.schema``."""

from sqlalchemy import Column, Table

from memci.storage.schema import AGENT_TABLES

EXPORTED_TABLES = tuple(table for table in AGENT_TABLES if "left_out" not in table.info)
LEFT_OUT = {
    table.name: table.info["left_out"] for table in AGENT_TABLES if "left_out" in table.info
}
# Not exported: the manifest names the agent, and ``said_at`` includes its offset.
_SAID_ELSEWHERE = frozenset({"agent_id", "said_offset"})


def file_of(table: Table) -> str:
    """Return the path of a table's rows in an archive."""
    return f"tables/{table.name}.jsonl"


def exported_columns(table: Table) -> list[Column[object]]:
    """Return the columns that an archive has."""
    return [
        column
        for column in table.columns
        if column.identity is None
        and column.name not in _SAID_ELSEWHERE
        and not column.info.get("local")
    ]


def row_order(table: Table) -> list[str]:
    """Return the columns by which rows are sorted, so that the same rows make the same file."""
    identities = [column.name for column in table.columns if column.identity is not None]
    return identities or [each.name for each in table.primary_key if each.name != "agent_id"]
