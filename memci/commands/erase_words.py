"""Messages that hold all words of a query: what is proposed to be erased, and where it says so.

Nothing is found by meaning or by way of a memory: what goes for good has to hold the words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memci.domain.language import Language, language_of
from memci.smallmodel.ports import Lexicon
from memci.storage.erasure.condemned import ids_of
from memci.storage.erasure.gone import snapshot_of
from memci.storage.erasure.worded import not_indexed, worded_messages
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
