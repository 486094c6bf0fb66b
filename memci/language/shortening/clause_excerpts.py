"""Parts of clauses, for when a whole clause has no room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memci.language.clauses import DOERS, is_finite, lacks_doer, subject_words
from memci.language.shortening.phrases import (
    HAN,
    JOINS,
    LIGHT_VERBS,
    MARK,
    ends_of,
    is_chinese_verb,
    is_joined,
    is_person,
    units_of,
)
from memci.language.word_lists import ENGLISH_SUPPOSING
from memci.language.word_weights import Word

# What a part that says who and what they did is worth more than one that names only a thing.
_TOLD_WHOLE = 1.1
# Words looked at in one clause: longer ones are lists or code.
_MOST_WORDS = 120
# A clause that denies something is cut only if this share of what it tells is kept.
_DENIAL_KEPT = 0.75
# A number counts what follows it only if that tells more than this: not "28 today".
_COUNTED = 2.0
# Whose something is: without it, it would be the speaker's.
_OWNERS = frozenset(("his", "her", "their"))
# A conjunction before this word joins those of whom the clause tells.
_LAST_OF_SUBJECT = 4


@dataclass(slots=True)
class Part:
    """A part of a clause, the words of which it consists, and what they tell."""

    text: str = ""
    words: Sequence[Word] = ()
    value: float = 0.0

    def offer(self, text: str, words: Sequence[Word], value: float) -> None:
        """Be another part, if that tells more."""
        if value > self.value:
            self.text, self.words, self.value = text, words, value


def excerpt(text: str, words: Sequence[Word], room: int, *, whose: bool = False) -> Part:
    """Return the part of ``text`` of at most ``room`` characters whose words tell most.

    It begins with a telling word or with who does it, ends where a phrase does, and cuts no atom.
    What somebody does is never left without who does it. It holds every negation of the clause,
    all that is denied and nearly all else, or is empty: "allergic" is never cut from "not
    allergic". With ``whose`` it begins where the clause does, so that it tells of whom.
    """
    words = units_of(text, words[:_MOST_WORDS])
    negations = [at for at, word in enumerate(words) if word.negation]
    ends = ends_of(text, words)
    doers = subject_words(words)
    # Who did it together is named together: "Emil and I decided" begins with Emil, or goes.
    together = [at for at in range(1, min(_LAST_OF_SUBJECT, len(words))) if words[at].key in JOINS]
    latest = 0 if together or whose else len(words)
    least = _denied(text, words, negations[-1]) if negations else max(together, default=0)
    best = Part()
    for first, opening in enumerate(words):
        if first > latest or (negations and first > negations[0]):
            break
        says_who = first == 0 and doers > 0
        if opening.weight <= 0 and latest and not says_who:
            continue
        if first and (is_joined(text, words[first - 1], opening) or _is_left_open(words, first)):
            continue
        if first and _is_its_number(text, words, first):
            continue
        if says_who:
            _offer_parts(best, text, words, (0, max(least, doers)), room, ends, _TOLD_WHOLE)
        else:
            stop = _undone(words, first)
            owned = first > 0 and words[first - 1].key in _OWNERS
            _offer_parts(best, text, words[:stop], (first - owned, least), room, ends)
    if doers and not negations:
        _offer_what_they_did(best, text, words, doers, room, ends)
    enough = _DENIAL_KEPT * sum(word.weight for word in words) if negations else 0.0
    return best if best.value >= enough else Part()


def _is_its_number(text: str, words: Sequence[Word], at: int) -> bool:
    """Say whether a word is the number of the thing before it, as in "tram 28 today"."""
    before, word = words[at - 1], words[at]
    after = words[at + 1] if at + 1 < len(words) else None
    counts = (
        after is not None
        and after.weight > _COUNTED
        and not MARK.search(text, word.end, after.start)
    )
    follows = before.weight > 0 and text[before.end : word.start] in {"", " "}
    return word.text.isdigit() and follows and not counts


def _offer_parts(
    best: Part,
    text: str,
    words: Sequence[Word],
    bounds: tuple[int, int],
    room: int,
    ends: Sequence[bool],
    factor: float = 1.0,
) -> None:
    """Offer what begins with the first word of ``bounds`` and ends with the second or later."""
    first, least = bounds
    value = 0.0
    for last in range(first, len(words)):
        begin, word = words[first].start, words[last]
        if word.end - begin > room:
            break
        value += word.weight
        alone = word.end - begin == 1 and HAN.match(word.text)
        if word.weight > 0 and last >= least and ends[last] and not alone:
            best.offer(text[begin : word.end], words[first : last + 1], value * factor)


def _is_left_open(words: Sequence[Word], first: int) -> bool:
    """Say whether who does it, or what is done, stands before a word: "takes | care of the cat"."""
    return lacks_doer(words, first) or words[first - 1].key in LIGHT_VERBS


def _undone(words: Sequence[Word], first: int) -> int:
    """Return where, from ``first`` on, something is done by somebody who is not named there."""
    absent = any(map(is_person, words[:first]))
    found = (
        at
        for at in range(first, len(words))
        if (at > first and words[at].key == "to")
        or lacks_doer(words, at)
        or (absent and is_chinese_verb(words[at].text))
    )
    return next(found, len(words))


def _offer_what_they_did(
    best: Part, text: str, words: Sequence[Word], doers: int, room: int, ends: Sequence[bool]
) -> None:
    """Offer those who do it with a later thing that they do.

    "I took her to Oslo and bought a coat" holds "I bought a coat"; nobody else may come between,
    and nothing that was only supposed.
    """
    who = text[words[0].start : words[doers - 1].end]
    known = sum(word.weight for word in words[:doers])
    for at in range(doers, len(words) - 1):
        if words[at].key in DOERS or words[at].key in ENGLISH_SUPPOSING:
            return
        if words[at].key not in JOINS or not is_finite(words[at + 1]):
            continue
        begin, value = words[at + 1].start, known
        for last in range(at + 1, len(words)):
            word = words[last]
            if len(who) + 1 + word.end - begin > room or word.key in DOERS:
                break
            value += word.weight
            if word.weight > 0 and ends[last] and last > at + 1:
                told = [*words[:doers], *words[at + 1 : last + 1]]
                best.offer(f"{who} {text[begin : word.end]}", told, value * _TOLD_WHOLE)


def _denied(text: str, words: Sequence[Word], negation: int) -> int:
    """Return the index of the last word of what ``negation`` denies: all up to the next mark."""
    for at in range(negation + 1, len(words) - 1):
        if MARK.search(text, words[at].end, words[at + 1].start):
            return at
    return len(words) - 1
