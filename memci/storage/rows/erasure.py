"""Tombstones: which messages were erased for good, without a trace of what they said (M25)."""

from __future__ import annotations

from sqlalchemy import Column, LargeBinary, Table

from memci.storage.rows.metadata import agent_column, made_at, metadata

# A trigger on ``message`` refuses whatever has a tombstone here.
erased_message = Table(
    "erased_message",
    metadata,
    agent_column(),
    # SHA-256 of the message's id.
    Column("digest", LargeBinary, primary_key=True),
    made_at("erased_at"),
)
