"""Which embedder made the vectors of this database: one row, and no agent's."""

from __future__ import annotations

from sqlalchemy import Boolean, CheckConstraint, Column, Integer, Table, Text, text

from memci.storage.rows.metadata import made_at, metadata

vector_model = Table(
    "vector_model",
    metadata,
    Column("only_one", Boolean, primary_key=True, server_default=text("true")),
    Column("model", Text, nullable=False),
    Column("dimension", Integer, nullable=False),
    # How often it was changed: each change asks every agent for new vectors, once.
    Column("change", Integer, nullable=False, server_default=text("1")),
    made_at("changed_at"),
    CheckConstraint("only_one"),
)
