"""Who does what in an English clause: its subject, and the verbs that need one."""

from __future__ import annotations

import functools
import re
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
_LONGEST_VERB_IN_ING = 5  # bring
_PERSONS = frozenset(("i", "we", "he", "she", "they", "you"))
_BEFORE_VERBS = frozenset((
    "to", "will", "would", "can", "cannot", "could", "shall", "should", "may", "might", "must",
    "do", "does", "did", "let", "let's", "please",
))  # fmt: skip
_ADVERBS = frozenset(("also", "always", "often", "just", "still", "now", "then", "soon", "both"))
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def is_finite(word: Word) -> bool:
    """Say whether a word is a verb that somebody has to do."""
    return _is_finite(word.text)


def tells_who_does_it(part: str) -> bool:
    """Say whether English words tell that somebody does something."""
    return last_verb(_WORD.findall(part)) is not None


def begins_with_verb(part: str) -> bool:
    """Say whether English words begin with a verb whose doer is named elsewhere."""
    first = part.split(" ", 1)[0]
    return first.isalpha() and first.islower() and _is_finite(first)


def last_verb(words: Sequence[str]) -> int | None:
    """Return the index of the last word that somebody has to do."""
    found = (
        at
        for at in reversed(range(len(words)))
        if _is_finite(words[at])
        or (at and words[at].lower() in ENGLISH_VERBS_OR_NOUNS and does(words[at - 1]))
    )
    return next(found, None)


def lacks_doer(words: Sequence[Word], at: int) -> bool:
    """Say whether a word is a verb, with who does it, or "to" or "will", before it.

    "Will bring a tart" and "to leave Chloe", cut before the verb, would be orders.
    """
    word = words[at]
    if is_finite(word):
        return True
    if not at or not word.text.islower() or not word.text.isascii() or _is_participle(word.key):
        return False
    before = at - 1
    while before and (words[before].negation or _is_adverb(words[before].key)):
        before -= 1
    head, _, tail = words[before].key.replace("’", "'").partition("'")
    if head in _PERSONS:
        return tail in {"", "ll", "d"}
    return head in _BEFORE_VERBS


def _is_participle(key: str) -> bool:
    return key.endswith("ing") and len(key) > _LONGEST_VERB_IN_ING


def _is_adverb(key: str) -> bool:
    return key in _ADVERBS or (key.endswith("ly") and len(key) > _SHORTEST_PAST)


def does(word: str) -> bool:
    """Say whether what stands behind a word, verb or noun, is what it does."""
    return word.lower() in _PERSONS or word[0].isupper()


@functools.lru_cache(maxsize=1 << 14)
def _is_finite(text: str) -> bool:
    key = text.lower().replace("’", "'")
    head, _, tail = key.partition("'")
    if key in ENGLISH_FINITE_VERBS or (tail and tail != "s" and head in _PRONOUNS):
        return True
    past = len(key) > _SHORTEST_PAST and key.endswith("ed") and text.islower()
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
