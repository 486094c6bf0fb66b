"""Who does what in an English clause: its subject, and the verbs that need one."""

from __future__ import annotations

from collections.abc import Sequence

from memci.smallmodel.offline.rarity import UNKNOWN, rarity
from memci.smallmodel.offline.weights import Word
from memci.smallmodel.offline.words import (
    ENGLISH_FINITE_VERBS,
    ENGLISH_VERBS_OR_NOUNS,
)

_PRONOUNS = frozenset(("i", "we", "he", "she", "they", "you", "it", "there"))
_DETERMINERS = frozenset(("my", "our", "his", "her", "their", "your", "its", "the", "a", "an"))
# What brings in somebody or something else that does what follows.
DOERS = _PRONOUNS | {"who", "which", "that", "where", "what", "when", "because", "if", "while"}
_LONGEST_SUBJECT = 5  # words
_SHORTEST_PAST = 4


def is_finite(word: Word) -> bool:
    """Say whether a word is a verb that somebody has to do."""
    key = word.key.replace("’", "'")
    head, _, tail = key.partition("'")
    if key in ENGLISH_FINITE_VERBS or (tail and tail != "s" and head in _PRONOUNS):
        return True
    past = len(key) > _SHORTEST_PAST and key.endswith("ed") and word.text.islower()
    return past and any(rarity(stem) < UNKNOWN for stem in (key[:-2], key[:-1], key[:-3]))


def subject_words(words: Sequence[Word]) -> int:
    """Return how many words at a clause's beginning say who does it; 0 when that is not certain."""
    if not words:
        return 0
    first = words[0].key.replace("’", "'").split("'")[0]
    if first in _PRONOUNS:
        return 1
    if first not in _DETERMINERS and not words[0].text[:1].isupper():
        return 0
    for at, word in enumerate(words[1 : _LONGEST_SUBJECT + 1], start=1):
        if word.key in DOERS:
            return 0
        if is_finite(word) or word.key in ENGLISH_VERBS_OR_NOUNS:
            return at
    return 0
