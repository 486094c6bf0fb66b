"""How tables are described: their columns, and metadata for archives and erasures.

A column's ``info``:

``holds``       the pydantic type of its values in an archive, where the SQL type says too little
``references``  the ``table.column`` that it refers to; the row exists, and is erased with that one
``dangling``    True: the row that it refers to may be gone
``on_erase``    ``set null``: the row stays when the one that it refers to is erased
``at_most``     ``table.column``, a counter that no value exceeds
``local``       True: specific to this server, and in no archive

A table's ``info``:

``exported``    a condition on the rows that an archive has
``left_out``    why no archive has the table
``no_content``  why nothing is erased with messages
``outlives``    a condition on the rows that outlive the agent's erasure
"""

from typing import Any

from sqlalchemy import BigInteger, Column, DateTime, MetaData, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.schema import SchemaItem
from sqlalchemy.sql import func
from sqlalchemy.types import TypeEngine

metadata = MetaData()

Instant = DateTime(timezone=True)
Json = JSONB(none_as_null=True)
_Kind = TypeEngine[Any] | type[TypeEngine[Any]]


def agent_table(name: str, *items: SchemaItem, **info: str) -> Table:
    """Return a table of rows of agents."""
    return Table(name, metadata, key("agent_id", Text), *items, info=info)


def key(name: str, kind: _Kind, **info: Any) -> Column[Any]:
    """Return a column of the primary key."""
    return Column(name, kind, primary_key=True, autoincrement=False, info=info)


def required(name: str, kind: _Kind, default: str | None = None, **info: Any) -> Column[Any]:
    """Return a column that is not null; ``default`` is SQL."""
    server_default = None if default is None else text(default)
    return Column(name, kind, nullable=False, server_default=server_default, info=info)


def optional(name: str, kind: _Kind, **info: Any) -> Column[Any]:
    """Return a column that may be null."""
    return Column(name, kind, info=info)


def counter(name: str, **info: Any) -> Column[Any]:
    """Return a number that begins with 0."""
    return required(name, BigInteger, "0", **info)


def counters(*names: str) -> list[Column[Any]]:
    """Return several counters."""
    return [counter(name) for name in names]


def moment(name: str = "created_at", **info: Any) -> Column[Any]:
    """Return a column that takes the time of its transaction."""
    return Column(name, Instant, nullable=False, server_default=func.now(), info=info)
