"""Finds messages, pages and pins that contain all words of a query, to propose for erasure (M25).

There is no search by meaning or through memories: anything to be erased must contain the words.

Names and descriptions of pages, and notes, are an agent's own words, not those of a message. Former
names of a page count as well, as long as ``undo`` or ``redo`` could restore them.

A pinned text is not derived from a message either. A pinned message is erased with the message.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memci.domain.pages.page import Page
from memci.language.detection import Language, language_of
from memci.schemas.archive import PreviewedPage, PreviewedPin
from memci.smallmodel.ports import Lexicon
from memci.storage.agents import snapshot_of
from memci.storage.erasure import deletion_set
from memci.storage.erasure.pages import written_pages
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.pages.undo_steps import words_of_steps
from memci.storage.pins import read_pins
from memci.storage.reading.messages import message_ids
from memci.storage.session import Database, batches

# Limits, newest first: unindexed messages, notes of a remote store, texts in memory at once.
_MOST_UNINDEXED = 500
_MOST_TEXTS = 5_000
_AT_ONCE = 100
_BEFORE = 24  # characters of an excerpt before the match
_WINDOW = 60  # characters within which most of the words should be
_PIECE = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Words:
    """The terms of a query, and its single Chinese characters, which are in no index."""

    terms: Sequence[str]
    characters: Sequence[str]
    lexicon: Lexicon

    @classmethod
    def of(cls, query: str, lexicon: Lexicon) -> Words:
        """Split a query into English stems and pairs of Chinese characters."""
        distinct = list(dict.fromkeys(lexicon.terms(query)))
        characters = [
            each for each in distinct if len(each) == 1 and language_of(each) is Language.CHINESE
        ]
        terms = [each for each in distinct if each not in characters]
        return cls(terms, characters, lexicon)

    def are_in(self, text: str) -> bool:
        """Return True if a text contains all words."""
        if not (self.terms or self.characters):
            return False
        terms = set(self.lexicon.terms(text))
        return terms.issuperset(self.terms) and all(each in text for each in self.characters)

    def densest_place(self, line: str) -> int:
        """Return the position from which most words are close together; 0 if there are none."""
        found = [each for piece in _PIECE.finditer(line) for each in self._in_piece(piece)]
        return max(
            found,
            key=lambda hit: (
                len({term for at, term in found if 0 <= at - hit[0] < _WINDOW}),
                -hit[0],
            ),
            default=(0, ""),
        )[0]

    def _in_piece(self, piece: re.Match[str]) -> list[tuple[int, str]]:
        """Return positions and terms; Chinese terms occur literally in a piece without spaces."""
        terms = set(self.lexicon.terms(piece[0]))
        words = [each for each in self.terms if each in terms]
        words += [each for each in self.characters if each in piece[0]]
        return [(piece.start() + max(0, piece[0].casefold().find(each)), each) for each in words]


def excerpt(text: str, words: Words | None, length: int = 240) -> str:
    """Return part of a text on one line, from its beginning or from where most words are."""
    line = " ".join(text.split())
    start = 0 if words is None else max(0, words.densest_place(line) - _BEFORE)
    if start:
        # Do not cut words in two.
        space = line.find(" ", start, start + _BEFORE)
        start = start if space < 0 else space + 1
    return (("…" if start else "") + line[start:])[:length]


def find_messages(database: Database, agent_id: str, words: Words, *, most: int) -> list[str]:
    """Return the ids of the newest messages that contain all words, at most ``most``.

    Raises ``NotFoundError`` for no agent.
    """
    with snapshot_of(database, agent_id) as connection:
        seqs = deletion_set.find_seqs_by_words(
            connection, agent_id, terms=words.terms, characters=words.characters, most=most
        )
        waiting = deletion_set.unindexed_messages(connection, agent_id, most=_MOST_UNINDEXED)
        seqs += [each.seq for each in waiting if words.are_in(each.searched)]
        newest = sorted(set(seqs), reverse=True)[:most]
        return list(message_ids(connection, agent_id, newest).values())


class FoundPages(NamedTuple):
    """Page indexes, and the number of notes whose texts were not read."""

    indexes: list[str]
    unread: int = 0


class _WrittenPage(NamedTuple):
    """A page, and its former names that ``undo`` or ``redo`` could restore."""

    page: Page
    earlier: Sequence[str]

    def own_words(self, text: str) -> str:
        """Return all its own words, with its text if it is a note."""
        page = self.page
        parts = [*self.earlier, text]
        if page.span is None or page.named or page.summarized:
            parts = [page.name, page.description, *page.entries, *parts]
        return "\n".join(dict.fromkeys(filter(None, parts)))


def find_pages(
    database: Database, store: PageStore, agent_id: str, words: Words, *, most: int
) -> FoundPages:
    """Return the newest pages whose own words contain all words, at most ``most``.

    Of a remote store only the texts of the newest 5,000 notes are read. Raises ``NotFoundError``
    for no agent, and ``PageStoreError``.
    """
    written = _written_pages(database, agent_id)[::-1]
    notes = [each.page for each in written if each.page.text_version is not None]
    unread = {page.index for page in notes[_MOST_TEXTS:]} if store.is_remote else set[str]()
    found: list[str] = []
    for page, own_words in _with_own_words(store, agent_id, written, unread):
        if words.are_in(own_words):
            found.append(page.index)
            if len(found) == most:
                return FoundPages(found)
    return FoundPages(found, len(unread))


def preview_pages(
    database: Database,
    store: PageStore,
    agent_id: str,
    indexes: Collection[str],
    words: Words | None,
) -> list[PreviewedPage]:
    """Return the own words of pages for a preview; pages without own words are left out."""
    if not indexes:
        return []
    return [
        PreviewedPage(
            index=page.index,
            name=page.name,
            removed=page.text_version is not None,
            excerpt=excerpt(own_words, words),
        )
        for page, own_words in _with_own_words(
            store, agent_id, _written_pages(database, agent_id, indexes)
        )
    ]


def _written_pages(
    database: Database, agent_id: str, only: Collection[str] | None = None
) -> list[_WrittenPage]:
    with snapshot_of(database, agent_id) as connection:
        earlier = words_of_steps(connection, agent_id, only)
        pages = written_pages(connection, agent_id, earlier, only)
        return [_WrittenPage(page, earlier.get(page.index, ())) for page in pages]


def _with_own_words(
    store: PageStore, agent_id: str, pages: Sequence[_WrittenPage], unread: Collection[str] = ()
) -> Iterator[tuple[Page, str]]:
    """Yield pages with all their own words; a text that is erased meanwhile is empty."""
    for some in batches(pages, _AT_ONCE):
        keys = {
            page.index: TextKey(agent_id, page.index, page.text_version)
            for page, _ in some
            if page.text_version is not None and page.index not in unread
        }
        texts = store.load_many(list(keys.values()))
        for each in some:
            key = keys.get(each.page.index)
            yield each.page, each.own_words(texts.get(key, "") if key else "")


def find_pins(database: Database, agent_id: str, words: Words, *, most: int) -> list[int]:
    """Return the numbers of the newest pins that contain all words, at most ``most``.

    Raises ``NotFoundError`` for no agent.
    """
    with snapshot_of(database, agent_id) as connection:
        pins = read_pins(connection, agent_id).pins
    found = [each for each in pins if each.message_seq is None and words.are_in(each.text)]
    return [each.number for each in found[::-1][:most]]


def preview_pins(
    database: Database, agent_id: str, numbers: Collection[int], words: Words | None
) -> list[PreviewedPin]:
    """Return the texts of pins for a preview."""
    with snapshot_of(database, agent_id) as connection:
        pins = read_pins(connection, agent_id).pins
    return [
        PreviewedPin(pin=pin.number, excerpt=excerpt(pin.text, words))
        for pin in pins
        if pin.number in numbers
    ]
