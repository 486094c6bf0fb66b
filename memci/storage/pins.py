"""Pinned texts in the database (R7)."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row

from memci.domain.memory.changed_facts import EndedParts, with_notes, without_ended
from memci.domain.memory.passage import ALL, Places, overlap
from memci.domain.pages.automatic_pins import bound_to
from memci.domain.pages.pins import Maker, Pin, PinKind
from memci.message import Message
from memci.storage.messages import read_messages, select_messages
from memci.storage.reading.nodes import ended_parts

# The newest number is kept without content after unpinning: numbers are never reused.
_LIST = """
SELECT number, kind, text, message_seq, span_start, span_end, pinned_by, user_id, created_at,
       unpinned_at IS NOT NULL AS unpinned
FROM pin WHERE agent_id = %s ORDER BY number
"""
_ADD = """
INSERT INTO pin (agent_id, number, kind, text, message_seq, pinned_by, created_at, user_id,
                 span_start, span_end)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
# The detector must not pin again what somebody has unpinned.
_REFUSE = """
UPDATE pin SET text = '', unpinned_at = now()
WHERE agent_id = %s AND number = ANY(%s) AND pinned_by = 'detector'
"""
_UNPIN = """
UPDATE pin SET text = '', message_seq = NULL, span_start = NULL, span_end = NULL, user_id = NULL,
               unpinned_at = now()
WHERE agent_id = %s AND number = ANY(%s) AND unpinned_at IS NULL
"""
_SWEEP = """
DELETE FROM pin WHERE agent_id = %(agent)s AND unpinned_at IS NOT NULL AND message_seq IS NULL
   AND number < (SELECT max(number) FROM pin WHERE agent_id = %(agent)s)
"""
_PAGES = """
SELECT id FROM page WHERE agent_id = %s AND pinned_by IS NOT NULL AND NOT cold ORDER BY place, id
"""


class Pins(NamedTuple):
    """An agent's pins, the oldest first, and the last pin number."""

    pins: list[Pin]
    last: int


def read_pins(connection: Connection, agent_id: str, as_of: datetime | None = None) -> Pins:
    """Return the pins; a pin of a message has the message's text, with notes where it is over (R6).

    ``as_of``: without messages said later, and without other texts pinned later.
    """
    rows = connection.exec_driver_sql(_LIST, (agent_id,)).all()
    pinned = [row for row in rows if not row.unpinned]
    messages = _messages(connection, agent_id, pinned)
    pins = [
        _pin(row, message)
        for row in pinned
        for message in (messages.get(row.message_seq),)
        if as_of is None or (message.said_at if message else row.created_at) <= as_of
    ]
    known = ended_parts(connection, agent_id, set(messages), as_of) if messages else []
    pins = [_noted(each, known) for each in pins]
    return Pins(pins, rows[-1].number if rows else 0)


def _noted(pin: Pin, known: Sequence[EndedParts]) -> Pin:
    own = [each for each in known if pin.message_seq in each.seqs]
    if not own:
        return pin
    left = without_ended(pin.text, [part for each in own for part in each.parts])
    noted = with_notes(pin.text, [pin.message_seq or 0], own)
    return replace(pin, text=noted, is_over=not left)


def refused_pins(connection: Connection, agent_id: str) -> list[Pin]:
    """Return the detector's pins that somebody has unpinned."""
    rows = connection.exec_driver_sql(_LIST, (agent_id,)).all()
    refused = [row for row in rows if row.unpinned and row.message_seq is not None]
    messages = _messages(connection, agent_id, refused)
    return [_pin(row, messages.get(row.message_seq)) for row in refused]


def _messages(
    connection: Connection, agent_id: str, rows: Iterable[Row[Any]]
) -> dict[int, Message]:
    seqs = [row.message_seq for row in rows if row.message_seq is not None]
    found = read_messages(connection, agent_id, seqs, whole=True) if seqs else []
    return {message.seq: message for message in found}


def message_by_id(connection: Connection, agent_id: str, message_id: str) -> Message | None:
    """Return the message of an id, or None."""
    where = "agent_id = %s AND id = %s"
    found = select_messages(connection, where, (agent_id, message_id), whole=True)
    return found[0] if found else None


def unpin_places(connection: Connection, agent_id: str, places: Places) -> None:
    """Remove the pins of these parts of messages; the detector does not pin them again."""
    pins = [each for each in read_pins(connection, agent_id).pins if each.message_seq in places]
    own = {each.number: {each.message_seq or 0: [each.span or ALL]} for each in pins}
    save_pins(connection, agent_id, (), [n for n in own if overlap(own[n], places)])


def save_pins(
    connection: Connection,
    agent_id: str,
    added: Iterable[Pin],
    unpinned: Collection[int],
    replaced: Collection[int] = (),
) -> None:
    """Write changes of pins. The tree must be locked.

    The detector does not pin ``unpinned`` texts again, but may pin ``replaced`` ones.
    """
    for pin in added:
        text = pin.text if pin.message_seq is None else ""
        values = (pin.number, pin.kind, text, pin.message_seq, pin.by, pin.created_at)
        start, end = pin.span or (None, None)
        connection.exec_driver_sql(_ADD, (agent_id, *values, pin.user_id, start, end))
    if unpinned:
        connection.exec_driver_sql(_REFUSE, (agent_id, list(unpinned)))
    if unpinned or replaced:
        connection.exec_driver_sql(_UNPIN, (agent_id, [*unpinned, *replaced]))
        connection.exec_driver_sql(_SWEEP, {"agent": agent_id})


def pinned_pages(connection: Connection, agent_id: str) -> list[str]:
    """Return the indexes of pages that the system does not hide (P13)."""
    return list(connection.exec_driver_sql(_PAGES, (agent_id,)).scalars())


def _pin(row: Row[Any], message: Message | None) -> Pin:
    kind, span, session = PinKind(row.kind), None, None
    text = row.text if message is None else message.text
    if row.span_start is not None:
        span = (row.span_start, row.span_end)
        text = text[slice(*span)]
    if row.pinned_by == Maker.DETECTOR and message is not None:
        session = bound_to(kind, message.session_id)
    return Pin(
        number=row.number,
        kind=kind,
        text=text,
        by=row.pinned_by,
        created_at=row.created_at,
        message_seq=row.message_seq,
        user_id=row.user_id,
        span=span,
        session_id=session,
        message_text=None if message is None else message.text,
        speaker=None if message is None else message.name,
        message_session=None if message is None else message.session_id,
    )
