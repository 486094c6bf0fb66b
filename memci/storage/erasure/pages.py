"""What goes from an agent's pages with messages, or because it says so itself (M25, P14)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from sqlalchemy import Connection

from memci.domain.pages.outline import with_placeholders
from memci.domain.pages.page import Page
from memci.message import Message
from memci.storage.messages import IS_NOTE
from memci.storage.pages.texts import shown_messages
from memci.storage.pages.tree import page_from_row, save_pages

# An interaction's page is found by the message: of one session and kind, none covers another.
_OF = """
SELECT found.id FROM said CROSS JOIN LATERAL (
    SELECT id, first_seq FROM page WHERE agent_id = %(agent)s AND first_seq IS NOT NULL
       AND session_id {session} AND last_seq >= said.seq AND (number = 0) = said.system
     ORDER BY last_seq LIMIT 1) AS found
 WHERE found.first_seq <= said.seq
"""
_TOUCHED = f"""
WITH said AS MATERIALIZED (
    SELECT seq, session_id, role = 'system' AS system FROM message
     WHERE agent_id = %(agent)s AND seq = ANY(%(seqs)s::bigint[])),
touched AS ({_OF.format(session="= said.session_id")}
    UNION {_OF.format(session="IS NULL AND said.session_id IS NULL")})
SELECT page.id, EXISTS (
    SELECT FROM message m WHERE m.agent_id = page.agent_id
       AND m.seq BETWEEN page.first_seq AND page.last_seq
       AND m.session_id IS NOT DISTINCT FROM page.session_id
       AND (m.role = 'system') = (page.number = 0) AND NOT {IS_NOTE}
       AND NOT m.seq = ANY(%(seqs)s::bigint[])) AS stays
  FROM page WHERE page.agent_id = %(agent)s AND page.id IN (SELECT id FROM touched)
 ORDER BY page.id
"""  # noqa: S608 - constants of this module
# A folder that was erased before says nothing more.
_NAMED = """
SELECT id, text_version IS NOT NULL AS note FROM page WHERE agent_id = %s AND id = ANY(%s)
   AND (text_version IS NOT NULL OR first_seq IS NOT NULL OR named OR description <> ''
        OR name NOT IN ('', %s))
"""
# Every index below the next of its segment was given once.
_NEXT = """
SELECT segment->>'id' AS id, (segment->>'next_number')::bigint AS next
  FROM page_tree, jsonb_array_elements(segments) AS segment WHERE agent_id = %s
"""
# What an agent, a developer or a small model has written; the rest stands in for messages.
_WRITTEN = """
SELECT * FROM page
 WHERE agent_id = %(agent)s AND (first_seq IS NULL OR named OR summarized OR id = ANY(%(others)s))
   AND (%(only)s::text[] IS NULL OR id = ANY(%(only)s::text[])) ORDER BY place, id
"""
_PAGES = "SELECT * FROM page WHERE agent_id = %s AND id = ANY(%s) ORDER BY id"
# Notes are said to nobody, and go with the page that they were made on: they count for its end.
_LAST = """
SELECT page.id, max(m.seq) AS seq FROM page JOIN message m ON m.agent_id = page.agent_id
   AND m.seq BETWEEN page.first_seq AND page.last_seq
   AND m.session_id IS NOT DISTINCT FROM page.session_id
   AND (m.role = 'system') = (page.number = 0)
 WHERE page.agent_id = %s AND page.id = ANY(%s) AND NOT m.seq = ANY(%s::bigint[])
 GROUP BY page.id
"""
_AT_ONCE = 200
# Stands for what a folder was called, in any language.
UNNAMED = "…"


@dataclass(frozen=True, slots=True)
class DeletedPages:
    """Pages that go, and those that lose what they say.

    Of ``reworded`` pages an interaction's is called again by the messages that it keeps, and
    a folder by no name.
    """

    going: Sequence[str] = ()
    reworded: Sequence[str] = ()

    @property
    def count(self) -> int:
        """How many pages lose something."""
        return len(self.going) + len(self.reworded)

    def has(self, index: str) -> bool:
        """Tell whether a page is among them."""
        return index in self.going or index in self.reworded


def condemned_pages(
    connection: Connection, agent_id: str, seqs: Sequence[int], indexes: Collection[str]
) -> DeletedPages:
    """Return what goes with messages, and what goes of these pages; nothing is written.

    A page goes when nothing that was said on it stays, and so does a note that is named; pages
    that are named and are no notes lose their words.
    """
    values = {"agent": agent_id, "seqs": list(seqs)}
    rows = connection.exec_driver_sql(_TOUCHED, values).all() if seqs else []
    going = [row.id for row in rows if not row.stays]
    asked = (agent_id, list(indexes), UNNAMED)
    named = connection.exec_driver_sql(_NAMED, asked).all() if indexes else []
    notes = [row.id for row in named if row.note]
    reworded = {row.id for row in rows if row.stays}
    reworded |= {row.id for row in named if not row.note} - set(going)
    return DeletedPages([*going, *notes], sorted(reworded))


def unknown_pages(connection: Connection, agent_id: str, indexes: Collection[str]) -> list[str]:
    """Return those of these indexes that no page of the agent ever had."""
    nexts = {row.id: row.next for row in connection.exec_driver_sql(_NEXT, (agent_id,))}
    return sorted(index for index in indexes if not _was_given(index, nexts))


def written_pages(
    connection: Connection,
    agent_id: str,
    others: Collection[str] = (),
    only: Collection[str] | None = None,
) -> list[Page]:
    """Return the pages with words that somebody wrote, removed ones too, and these others.

    ``only``: among these; None: among all.
    """
    among = None if only is None else list(only)
    values = {"agent": agent_id, "others": list(others), "only": among}
    return [page_from_row(row) for row in connection.exec_driver_sql(_WRITTEN, values)]


def reword(
    connection: Connection, agent_id: str, indexes: Sequence[str], seqs: Collection[int]
) -> None:
    """Let pages say nothing but what the messages that stay do (P6). The tree must be locked."""
    gone = frozenset(seqs)
    for some in _bites(indexes):
        rows = connection.exec_driver_sql(_PAGES, (agent_id, some))
        pages = [page_from_row(row) for row in rows]
        shown = shown_messages(connection, agent_id, pages)
        last = _last_seqs(connection, agent_id, some, gone)
        anew = []
        for page in pages:
            said = shown.get(page.index, ())
            kept = [each for each in said if each.seq not in gone]
            anew.append(_shortened(page, said, kept, last[page.index]) if kept else _unnamed(page))
        save_pages(connection, agent_id, anew)


def _shortened(page: Page, said: Sequence[Message], kept: Sequence[Message], last: int) -> Page:
    """Return a page that holds less; what is left takes about its share of what all took."""
    held, left = (sum(len(each.text) for each in some) for some in (said, kept))
    content_tokens = page.content_tokens * left // max(1, held)
    return replace(with_placeholders(page, kept, last), content_tokens=content_tokens)


def _last_seqs(
    connection: Connection, agent_id: str, indexes: Sequence[str], gone: Collection[int]
) -> dict[str, int]:
    """Return the last message of each page that keeps any, an agent's own notes included."""
    rows = connection.exec_driver_sql(_LAST, (agent_id, list(indexes), list(gone)))
    return {row.id: row.seq for row in rows}


def _unnamed(page: Page) -> Page:
    """Return a folder that says nothing; a segment's root needs no name."""
    name = "" if page.index == f"{page.segment}-0" else UNNAMED
    return replace(page, name=name, description="", named=False)


def _was_given(index: str, nexts: dict[str, int]) -> bool:
    segment, _, number = index.rpartition("-")
    return number.isdecimal() and int(number) < nexts.get(segment, 0)


def _bites(indexes: Iterable[str]) -> Iterator[list[str]]:
    left = iter(indexes)
    while some := list(islice(left, _AT_ONCE)):
        yield some
