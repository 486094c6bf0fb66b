"""Checkpoints of a framework's threads, read as they were written."""

from __future__ import annotations

import base64
from typing import Any

from memci.schemas.frameworks import (
    ChannelValueOut,
    CheckpointList,
    CheckpointOut,
    CheckpointSearch,
    PendingWriteOut,
    TypedOut,
)
from memci.storage import checkpoints as stored
from memci.storage.session import Connection, Database


def find(database: Database, agent_id: str, request: CheckpointSearch) -> CheckpointList:
    """Return checkpoints, the latest first; none of an agent that is not there."""
    asked = request.model_dump(include={"thread", "namespace", "id", "before", "filter"})
    if request.after is not None:
        asked |= {f"after_{name}": value for name, value in request.after.model_dump().items()}
    with database.agent_snapshot(agent_id) as connection:
        rows = stored.find_checkpoints(connection, agent_id, asked, request.limit + 1)
        page = [_whole(connection, agent_id, row) for row in rows[: request.limit]]
    return CheckpointList(checkpoints=page, more=len(rows) > request.limit)


def _whole(connection: Connection, agent_id: str, row: Any) -> CheckpointOut:
    values = stored.values_of(connection, agent_id, row)
    writes = stored.writes_of(connection, agent_id, row)
    return CheckpointOut(
        thread=row.thread,
        namespace=row.namespace,
        id=row.id,
        parent=row.parent,
        checkpoint=TypedOut(kind=row.kind, body=_text(row.body)),
        values=[
            ChannelValueOut(channel=each.channel, kind=each.kind, body=_text(each.body))
            for each in values
        ],
        writes=[
            PendingWriteOut(
                task_id=each.task_id, channel=each.channel, kind=each.kind, body=_text(each.body)
            )
            for each in writes
        ],
        metadata=row.metadata,
    )


def _text(body: bytes) -> str:
    return base64.b64encode(body).decode()
