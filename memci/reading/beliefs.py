"""Sessions of an agent, and the history of one memory, listed (R5, R6)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal

from memci.domain.memory.fate import Fate
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.offset import at_offset
from memci.errors import NotFoundError
from memci.reading.page import named_after, named_cursor
from memci.shapes.belief import HistoryAnswer, SessionAnswer, SessionList, VersionAnswer
from memci.storage.erasure.gone import snapshot_of
from memci.storage.heirs import fates_of
from memci.storage.parameters import parameters_of
from memci.storage.reading.history import ever_was, versions_of
from memci.storage.session import Database
from memci.storage.sessions import Session, list_sessions


class BeliefListings:
    """Reads the sessions of one agent, and what it believed when."""

    def __init__(self, database: Database) -> None:
        """Take where it all is."""
        self._database = database

    def sessions(
        self,
        agent_id: str,
        defaults: MemoryParameters,
        *,
        now: datetime,
        cursor: str | None,
        limit: int,
    ) -> SessionList:
        """List sessions by id; ``now`` tells which have been silent for too long."""
        after = named_after(cursor)
        with snapshot_of(self._database, agent_id) as connection:
            parameters = parameters_of(connection, agent_id, defaults)
            found = list_sessions(connection, agent_id, after=after, limit=limit + 1)
        silence = parameters.session_silence
        page = found[:limit]
        more = len(found) > limit
        return SessionList(
            sessions=[_session(each, now, silence) for each in page],
            next_cursor=named_cursor(page[-1].session_id) if more else None,
        )

    def history(self, agent_id: str, node_id: int, as_of: datetime | None) -> HistoryAnswer:
        """List the versions of a memory; ``NotFoundError`` if it never was."""
        with snapshot_of(self._database, agent_id) as connection:
            if not ever_was(connection, agent_id, node_id):
                raise NotFoundError("there never was such a node")
            rows = versions_of(connection, agent_id, node_id, as_of)
            gone = [row["node_id"] for row in rows if not row["living"]]
            fates = fates_of(connection, agent_id, gone)
        return HistoryAnswer(
            versions=[_version(row, as_of, fates.get(row["node_id"])) for row in rows]
        )


def _session(found: Session, now: datetime, silence: timedelta) -> SessionAnswer:
    ended_at = None
    if found.ended_seq is not None and found.ended_seq >= found.last_seq:
        ended_at = found.ended_at
    elif found.received_at + silence <= now:
        ended_at = found.received_at + silence
    return SessionAnswer(
        session_id=found.session_id,
        messages=found.messages,
        first_seq=found.first_seq,
        last_seq=found.last_seq,
        began_at=at_offset(found.began_at, found.began_offset),
        last_at=at_offset(found.last_at, found.last_offset),
        ended_at=ended_at,
        short_memories=found.short_memories,
    )


def _version(row: Mapping[str, Any], as_of: datetime | None, fate: Fate | None) -> VersionAnswer:
    fields: dict[str, Any] = {name: row[name] for name in row if name not in {"reason", "living"}}
    until: datetime | None = row["until"]
    held = row["reason"] is None or (
        row["reason"] == "superseded" and as_of is not None and until is not None and until > as_of
    )
    return VersionAnswer(
        **fields, state=_state(row, fate), holds=held and row["content"] is not None
    )


def _state(row: Mapping[str, Any], fate: Fate | None) -> Literal["current", "superseded"] | Fate:
    if row["reason"] == "merged":
        return Fate.MERGED
    if row["reason"] == "superseded":
        return "superseded"
    return fate or "current"
