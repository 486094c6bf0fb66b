"""Memories and messages by what they are like, without a query, the newest first (R20)."""

from __future__ import annotations

from memci.commands.tools.found import moment
from memci.commands.tools.place import Place
from memci.domain.offset import at_offset
from memci.shapes.memory_tools import FilterMemory, Found, FoundList
from memci.storage.reading.filtered import filtered_memories, filtered_messages
from memci.storage.reading.sight import Sight
from memci.storage.session import Connection


def filtered(connection: Connection, place: Place, asked: FilterMemory) -> FoundList:
    """Return what meets all criteria and is in the agent's sight."""
    find = _memories if asked.what == "memories" else _messages
    numbered = find(connection, place, asked, asked.limit + 1)
    shown = numbered[: asked.limit]
    more = shown[-1][0] if len(numbered) > len(shown) else None
    return FoundList(found=[each for _, each in shown], more=more)


def _memories(
    connection: Connection, place: Place, asked: FilterMemory, limit: int
) -> list[tuple[int, Found]]:
    criteria = {**_criteria(asked), "type": asked.type}
    sight = Sight(asked.session or place.session_id, place.user_id)
    rows = filtered_memories(connection, place.agent_id, sight, criteria, limit)
    return [
        (
            row.id,
            Found(
                memory=row.id,
                messages=row.message_ids,
                said_at=moment(row.said_at and at_offset(row.said_at, row.said_offset)),
                text=row.content,
                replaced_by=row.superseded_by,
            ),
        )
        for row in rows
    ]


def _messages(
    connection: Connection, place: Place, asked: FilterMemory, limit: int
) -> list[tuple[int, Found]]:
    sight = Sight(place.session_id, place.user_id)
    found = filtered_messages(connection, place.agent_id, sight, _criteria(asked), limit)
    return [
        (
            message.seq,
            Found(
                messages=[message.id],
                by=message.name or message.role.value,
                said_at=moment(message.said_at),
                text=message.text,
            ),
        )
        for message in found
    ]


def _criteria(asked: FilterMemory) -> dict[str, object]:
    return {
        "in_session": asked.session,
        "since": asked.since,
        "until": asked.until,
        "after": asked.after,
        "name": asked.name,
        "role": asked.role,
        "metadata": asked.metadata,
    }
