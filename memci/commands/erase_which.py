"""What is to be erased, as somebody names it, and what goes with it (M25)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from memci.domain.names import shown_name
from memci.errors import NotFoundError
from memci.shapes.erasure import EraseRequest
from memci.storage.erasure import condemned as condemning
from memci.storage.erasure.condemned import Condemned
from memci.storage.erasure.pages import unknown_pages
from memci.storage.erasure.tombstones import erased_among
from memci.storage.pins import read_pins
from memci.storage.session import Connection


@dataclass(frozen=True, slots=True)
class Which:
    """Messages by ids, pages by indexes and pins by numbers, or all messages of a session."""

    message_ids: Sequence[str] = ()
    session_id: str | None = None
    page_indexes: Sequence[str] = ()
    pins: Sequence[int] = ()

    @classmethod
    def of(cls, request: EraseRequest) -> Self:
        """Return what a request names without a query."""
        return cls(
            request.message_ids or (),
            request.session_id,
            request.page_indexes or (),
            request.pins or (),
        )


def condemned_by(connection: Connection, agent_id: str, which: Which) -> Condemned:
    """Return all that goes; what was erased before is passed over.

    Raises ``NotFoundError`` for what never was.
    """
    if which.session_id is not None:
        seqs = condemning.seqs_of_session(connection, agent_id, which.session_id)
        if not seqs:
            raise NotFoundError("this agent has no messages in that session")
        return condemning.condemned_with(connection, agent_id, seqs, which.session_id)
    stored = condemning.seqs_of_ids(connection, agent_id, which.message_ids)
    missing = [each for each in which.message_ids if each not in stored]
    unknown = sorted(set(missing) - erased_among(connection, agent_id, missing))
    if unknown:
        raise NotFoundError(
            f"{len(unknown)} of {len(which.message_ids)} messages are not stored, such as "
            f"'{shown_name(unknown[0])}'; nothing was erased"
        )
    never = unknown_pages(connection, agent_id, which.page_indexes) if which.page_indexes else []
    if never:
        raise NotFoundError(f"there never was a page {never[0]}; nothing was erased")
    condemned = condemning.condemned_with(
        connection, agent_id, sorted(stored.values()), page_indexes=which.page_indexes
    )
    return replace(condemned, pins=_pins(connection, agent_id, which.pins))


def _pins(connection: Connection, agent_id: str, numbers: Sequence[int]) -> list[int]:
    """Return those of these pins that are there; those taken down before are passed over."""
    if not numbers:
        return []
    known = read_pins(connection, agent_id)
    never = [each for each in numbers if each > known.last]
    if never:
        raise NotFoundError(f"nothing was ever pinned as {never[0]}; nothing was erased")
    there = {each.number for each in known.pins}
    return [each for each in dict.fromkeys(numbers) if each in there]
