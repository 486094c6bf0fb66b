"""What was said, as pages show it (P6)."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from memci.domain.message import Message
from memci.domain.pages.page import Page
from memci.storage.messages import COLUMNS, IS_NOTE, to_message

_UNSETTLED = f"""
SELECT {COLUMNS} FROM message WHERE agent_id = %s AND seq > %s ORDER BY seq LIMIT %s
"""  # noqa: S608 - a constant of another module
# A range of the index for each page: without the fence all messages may be read for a few.
_SHOWN = f"""
SELECT said.*, span.page
FROM unnest(%(pages)s::text[], %(firsts)s::bigint[], %(lasts)s::bigint[], %(sessions)s::text[],
            %(systems)s::boolean[]) AS span (page, first, last, session, system)
CROSS JOIN LATERAL (
    SELECT {COLUMNS} FROM message
    WHERE agent_id = %(agent)s AND seq BETWEEN span.first AND span.last
      AND session_id IS NOT DISTINCT FROM span.session AND (role = 'system') = span.system
      AND NOT {IS_NOTE}
    OFFSET 0) AS said
ORDER BY said.seq
"""  # noqa: S608 - a constant of another module


def unsettled(connection: Connection, agent_id: str, seq: int, most: int) -> list[Message]:
    """Return the messages behind a seq that are on no page yet, ascending, at most so many."""
    rows = connection.exec_driver_sql(_UNSETTLED, (agent_id, seq, most))
    return [to_message(row) for row in rows]


def shown_messages(
    connection: Connection, agent_id: str, pages: Iterable[Page]
) -> dict[str, list[Message]]:
    """Return the messages that pages are views of, by index, ascending; notes are no talk."""
    views = [(page.index, page.span) for page in pages if page.span is not None]
    found: dict[str, list[Message]] = {index: [] for index, _ in views}
    values = {
        "agent": agent_id,
        "pages": [index for index, _ in views],
        "firsts": [span.first_seq for _, span in views],
        "lasts": [span.last_seq for _, span in views],
        "sessions": [span.session_id for _, span in views],
        "systems": [not span.number for _, span in views],
    }
    for row in connection.exec_driver_sql(_SHOWN, values) if views else ():
        found[row.page].append(to_message(row))
    return found
