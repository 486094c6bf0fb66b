"""What all tables share."""

from __future__ import annotations

from sqlalchemy import DateTime, MetaData, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql import func
from sqlalchemy.sql.schema import Column

metadata = MetaData()

Instant = DateTime(timezone=True)
Json = JSONB(none_as_null=True)


def agent_column() -> Column[str]:
    """Return the first column of every primary key: whose row it is."""
    return Column("agent_id", Text, primary_key=True)


def made_at(name: str = "created_at") -> Column[object]:
    """Return a column that takes the time of its transaction."""
    return Column(name, Instant, nullable=False, server_default=func.now())
