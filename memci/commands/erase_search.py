"""Finds messages, pages and pins that hold all words of a query, to propose them for erasure (M25).

Nothing is found by meaning or by way of a memory: what goes for good has to hold the words.

Notes, names and descriptions are an agent's own: no message says that they speak of something. What
a page was called before counts as well, as long as ``undo`` or ``redo`` could bring it back.

A text is pinned by who works with the agent or by the agent itself: no message says what it says. A
message that is pinned goes with the message.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memci.domain.pages.page import Page
from memci.domain.pages.pins import Pin
from memci.language.detection import Language, language_of
from memci.schemas.archive import CondemnedPage, CondemnedPin
from memci.smallmodel.ports import Lexicon
from memci.storage.agents import snapshot_of
from memci.storage.erasure.deletion_set import ids_of, not_indexed, worded_messages
from memci.storage.erasure.pages import written_pages
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.pages.undo_steps import words_of_steps
from memci.storage.pins import read_pins
from memci.storage.session import Database

# The newest messages that no index holds yet, which are read one by one.
_NOT_INDEXED = 500
_BEFORE = 24  # characters that an excerpt shows in front of the match
_WINDOW = 60  # characters within which as many of the words as possible are to stand
_PIECE = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Words:
    """The terms of a query, and those of a single Chinese character, which no index holds."""

    terms: Sequence[str]
    characters: Sequence[str]
    lexicon: Lexicon

    @classmethod
    def of(cls, query: str, lexicon: Lexicon) -> Words:
        """Read a query: English stems, pairs of Chinese characters."""
        distinct = list(dict.fromkeys(lexicon.terms(query)))
        characters = [each for each in distinct if _is_one_character(each)]
        terms = [each for each in distinct if each not in characters]
        return cls(terms, characters, lexicon)

    def are_in(self, text: str) -> bool:
        """Tell whether a text holds all of them."""
        if not (self.terms or self.characters):
            return False
        held = set(self.lexicon.terms(text))
        return held.issuperset(self.terms) and all(each in text for each in self.characters)

    def excerpt(self, text: str, length: int) -> str:
        """Return so much of a text, on one line, from just before where most of them stand."""
        line = " ".join(text.split())
        start = max(0, self._place(line) - _BEFORE)
        if start:
            # A word that is cut in two says nothing.
            space = line.find(" ", start, start + _BEFORE)
            start = start if space < 0 else space + 1
        return (("…" if start else "") + line[start:])[:length]

    def _place(self, line: str) -> int:
        found = [each for piece in _PIECE.finditer(line) for each in self._in_piece(piece)]
        if not found:
            return 0
        return max(
            found,
            key=lambda hit: (
                len({term for at, term in found if 0 <= at - hit[0] < _WINDOW}),
                -hit[0],
            ),
        )[0]

    def _in_piece(self, piece: re.Match[str]) -> list[tuple[int, str]]:
        """Return places and terms; Chinese terms stand literally in a piece without spaces."""
        held = set(self.lexicon.terms(piece[0]))
        words = [each for each in self.terms if each in held]
        words += [each for each in self.characters if each in piece[0]]
        return [(piece.start() + max(0, piece[0].casefold().find(each)), each) for each in words]


def find_messages(database: Database, agent_id: str, words: Words, *, most: int) -> list[str]:
    """Return the ids of the newest messages that hold all of these words, at most ``most``.

    Raises ``NotFoundError`` for no agent.
    """
    with snapshot_of(database, agent_id) as connection:
        seqs = worded_messages(
            connection, agent_id, terms=words.terms, characters=words.characters, most=most
        )
        waiting = not_indexed(connection, agent_id, most=_NOT_INDEXED)
        seqs += [each.seq for each in waiting if words.are_in(each.searched)]
        return ids_of(connection, agent_id, sorted(set(seqs), reverse=True)[:most])


def _is_one_character(term: str) -> bool:
    return len(term) == 1 and language_of(term) is Language.CHINESE


_EXCERPT = 240
# Of texts that are not in the database those of the newest notes are looked at.
_MOST_READ = 5_000
# Texts that are in memory at once.
_AT_ONCE = 100


class FoundPages(NamedTuple):
    """Indexes, and how many notes there are whose texts were not looked at."""

    indexes: list[str]
    unread: int = 0


class _Written(NamedTuple):
    """A page, and what steps on it have in them."""

    page: Page
    before: Sequence[str]

    def says(self, text: str) -> str:
        """Return all its own words, with what it holds if it is a note."""
        return "\n".join(dict.fromkeys(filter(None, (*self._parts(), text))))

    def _parts(self) -> Iterator[str]:
        page = self.page
        if page.span is None or page.named or page.summarized:
            yield page.name
            yield page.description
            yield from page.entries
        yield from self.before


def find_pages(
    database: Database, store: PageStore, agent_id: str, words: Words, *, most: int
) -> FoundPages:
    """Return the newest pages whose own words hold all of these, at most ``most``.

    Of a far store the texts of the newest 5,000 notes are read, of others but their names. Raises
    ``NotFoundError`` for no agent, and ``PageStoreError``.
    """
    written = _written(database, agent_id)[::-1]
    notes = [each.page for each in written if each.page.text_version is not None]
    unread = {page.index for page in notes[_MOST_READ:]} if store.is_remote else set[str]()
    found: list[str] = []
    for page, says in _saying(store, agent_id, written, unread):
        if words.are_in(says):
            found.append(page.index)
            if len(found) == most:
                return FoundPages(found)
    return FoundPages(found, len(unread))


def shown_pages(
    database: Database,
    store: PageStore,
    agent_id: str,
    indexes: Collection[str],
    words: Words | None,
) -> list[CondemnedPage]:
    """Return what is to be read of pages before they go; those without own words are left out."""
    if not indexes:
        return []
    written = _written(database, agent_id, indexes)
    return [_shown_page(page, says, words) for page, says in _saying(store, agent_id, written)]


def _written(
    database: Database, agent_id: str, only: Collection[str] | None = None
) -> list[_Written]:
    with snapshot_of(database, agent_id) as connection:
        before = words_of_steps(connection, agent_id, only)
        pages = written_pages(connection, agent_id, before, only)
        return [_Written(page, before.get(page.index, ())) for page in pages]


def _saying(
    store: PageStore, agent_id: str, written: Sequence[_Written], unread: Collection[str] = ()
) -> Iterator[tuple[Page, str]]:
    """Yield pages and all their own words; a text that somebody erases right now is none."""
    for at in range(0, len(written), _AT_ONCE):
        some = written[at : at + _AT_ONCE]
        keys = {
            each.page.index: TextKey(agent_id, each.page.index, each.page.text_version)
            for each in some
            if each.page.text_version is not None and each.page.index not in unread
        }
        texts = store.load_many(list(keys.values()))
        for each in some:
            key = keys.get(each.page.index)
            yield each.page, each.says(texts.get(key, "") if key else "")


def _shown_page(page: Page, says: str, words: Words | None) -> CondemnedPage:
    excerpt = " ".join(says.split())[:_EXCERPT] if words is None else words.excerpt(says, _EXCERPT)
    return CondemnedPage(
        index=page.index, name=page.name, goes=page.text_version is not None, excerpt=excerpt
    )


def find_pins(database: Database, agent_id: str, words: Words, *, most: int) -> list[int]:
    """Return the numbers of the newest pinned texts that hold all of these words, at most ``most``.

    Raises ``NotFoundError`` for no agent.
    """
    found = [
        each.number
        for each in reversed(_pinned(database, agent_id))
        if each.message_seq is None and words.are_in(each.text)
    ]
    return found[:most]


def shown_pins(
    database: Database, agent_id: str, numbers: Collection[int], words: Words | None
) -> list[CondemnedPin]:
    """Return what is to be read of pinned texts before they go."""
    if not numbers:
        return []
    return [
        _shown_pin(each, words)
        for each in _pinned(database, agent_id)
        if each.number in set(numbers)
    ]


def _pinned(database: Database, agent_id: str) -> list[Pin]:
    with snapshot_of(database, agent_id) as connection:
        return read_pins(connection, agent_id).pins


def _shown_pin(pin: Pin, words: Words | None) -> CondemnedPin:
    text = pin.text
    excerpt = " ".join(text.split())[:_EXCERPT] if words is None else words.excerpt(text, _EXCERPT)
    return CondemnedPin(pin=pin.number, excerpt=excerpt)
