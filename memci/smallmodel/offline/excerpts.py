"""Parts of clauses, for when a whole clause has no room."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from memci.smallmodel.offline.atoms import atoms
from memci.smallmodel.offline.candidates import Candidate
from memci.smallmodel.offline.doers import DOERS, is_finite, subject_words
from memci.smallmodel.offline.weights import Word

# What a part that says who and what they did is worth more than one that names only a thing.
_TOLD_WHOLE = 1.1
# Words looked at in one clause: longer ones are lists or code.
_MOST_WORDS = 120
# A clause that denies something is cut only if this share of what it tells is kept.
_DENIAL_KEPT = 0.75
# A conjunction before this word joins those of whom the clause tells.
_LAST_OF_SUBJECT = 4
_MARK = re.compile(r"[,;:.!?，；：。！？…—\n]")
_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
# Numbers and addresses: a word out of one says nothing.
_UNDIVIDED = re.compile(r"[\d/\\@]")
# What begins a name, which jieba takes for a word of its own.
_NAME_PREFIXES = frozenset("小老阿第")
_HAN = re.compile(r"[\u3400-\u9fff]")
# What joins two halves of one thing, and what shows that a phrase goes on.
_JOINS = frozenset(
    ("and", "or", "nor", "plus", "和", "与", "跟", "及", "或", "以及", "同", "还有", "并")
)
_GOES_ON = frozenset(
    (
        "of",
        "the",
        "a",
        "an",
        "my",
        "our",
        "your",
        "his",
        "her",
        "their",
        "its",
        "this",
        "that",
        "these",
        "those",
        "to",
        "as",
        "than",
        "的",
        "地",
        "得",
        "了",
        "着",
        "过",
        "是",
        "在",
        "到",
        "给",
        "向",
        "往",
        "于",
    )
)


def excerpt(text: str, words: Sequence[Word], room: int) -> str:
    """Return the part of ``text`` of at most ``room`` characters whose words tell most.

    It begins with a telling word, ends where a phrase does, and cuts no atom. It holds every
    negation of the clause, all that is denied and nearly all else, or is empty: "allergic" is
    never cut from "not allergic".
    """
    words = _units(text, words[:_MOST_WORDS])
    negations = [at for at, word in enumerate(words) if word.negation]
    ends = _ends(text, words)
    doers = subject_words(words)
    # Who did it together is named together: "Emil and I decided" begins with Emil, or goes.
    together = [at for at in range(1, min(_LAST_OF_SUBJECT, len(words))) if words[at].key in _JOINS]
    latest = 0 if together else len(words)
    least = _denied(text, words, negations[-1]) if negations else max(together, default=0)
    best, best_value = "", 0.0
    for first, opening in enumerate(words):
        if first > latest or (negations and first > negations[0]):
            break
        if (opening.weight <= 0 and latest and not (doers and first == 0)) or (
            first and _is_joined(text, words[first - 1], opening)
        ):
            continue
        value = 0.0
        for last in range(first, len(words)):
            word = words[last]
            # What is done without who does it would be somebody else's.
            undone = first > 0 and doers > 0 and (word.key == "to" or is_finite(word))
            if word.end - opening.start > room or undone:
                break
            value += word.weight * (_TOLD_WHOLE if doers and first == 0 <= last - doers else 1.0)
            if last < doers and first == 0:
                continue  # who, but not what they do
            if len(text[opening.start : word.end]) == 1 and _HAN.match(word.text):
                continue
            if word.weight > 0 and last >= least and value > best_value and ends[last]:
                best, best_value = text[opening.start : word.end], value
    if doers and not negations:
        whole, value = _what_they_did(text, words, doers, room, ends)
        if value * _TOLD_WHOLE > best_value:
            best, best_value = whole, value
    enough = _DENIAL_KEPT * sum(word.weight for word in words) if negations else 0.0
    return best if best_value >= enough else ""


def _what_they_did(
    text: str, words: Sequence[Word], doers: int, room: int, ends: Sequence[bool]
) -> tuple[str, float]:
    """Return those who do it with a later thing that they do, and what it tells.

    "I took her to Oslo and bought a coat" holds "I bought a coat"; nobody else may come between.
    """
    who = text[words[0].start : words[doers - 1].end]
    best, best_value = "", 0.0
    for at in range(doers + 1, len(words) - 1):
        if words[at].key in DOERS:
            break
        if words[at].key not in _JOINS or not is_finite(words[at + 1]):
            continue
        begin = words[at + 1].start
        value = sum(word.weight for word in words[:doers])
        for last in range(at + 1, len(words)):
            word = words[last]
            over = len(who) + 1 + word.end - begin > room
            if over or word.key in DOERS or (last > at + 1 and words[last - 1].key in _JOINS):
                break
            value += word.weight
            if word.weight > 0 and ends[last] and value > best_value and last > at + 1:
                best, best_value = f"{who} {text[begin : word.end]}", value
    return best, best_value


def shortest(candidates: Iterable[Candidate], text: str, target: int) -> str:
    """Return the atom or word that tells most and fits whole.

    Of a clause that denies it is one before its negation, or else the negation alone. When none
    fits it is the first word, cut: but "…" for a number, of which a part is another number.
    """
    found: list[Word] = []
    negations: list[Word] = []
    inside: list[Word] = []
    joined: list[Word] = []  # of whom it tells together with others
    verbs: list[Word] = []
    for each in candidates:
        units = _units(each.clause.text, each.words)
        first = next((at for at, word in enumerate(units) if word.negation), len(units))
        for at, unit in enumerate(units[:first]):
            if is_finite(unit):
                verbs.append(unit)
            else:
                (joined if _has_company(units, at) else found).append(unit)
        negations += units[first : first + 1]
        named = [unit for unit in units[:first] if not _UNDIVIDED.search(unit.text)]
        inside += (
            word
            for word in each.words
            if any(unit.start <= word.start < unit.end for unit in named)
        )
    for kind in (found, joined, inside, verbs, negations):
        fitting = [word for word in kind if len(word.text) <= target]
        if fitting:
            return max(fitting, key=_says_most).text
    match = _WORD.search(text)
    start, end = match.span() if match else (0, len(text))
    # With the two characters behind it, which show an address: "https:/", "ada@".
    return "…" if match and _UNDIVIDED.search(text, start, end + 2) else text[start:end][:target]


def _has_company(units: Sequence[Word], at: int) -> bool:
    """Say whether a conjunction joins a word with another that it would stand without."""
    return any(each.key in _JOINS for each in (*units[max(0, at - 1) : at], *units[at + 1 : at + 2]))


def _says_most(word: Word) -> tuple[bool, float, int]:
    """Of Chinese words one of a single character says least: mostly it is a part of something."""
    whole = len(word.text) > 1 or not _HAN.search(word.text)
    return whole, word.weight, len(word.text)


def _units(text: str, words: Sequence[Word]) -> list[Word]:
    """Return the words, those of one atom as one."""
    spans = iter(atoms(text))
    start, end = next(spans, (len(text), len(text)))
    units: list[Word] = []
    for word in words:
        while end <= word.start:
            start, end = next(spans, (len(text), len(text)))
            if start >= len(text):
                break
        left, right = word.start, word.end
        weight, negation = word.weight, word.negation
        if start < word.end and word.start < end:
            left, right = min(left, start), max(right, end)
        if units and left < units[-1].end:
            before = units.pop()
            left, right = before.start, max(right, before.end)
            weight, negation = before.weight + weight, before.negation or negation
        units.append(Word(text[left:right], left, right, weight, negation))
    return units


def _ends(text: str, words: Sequence[Word]) -> list[bool]:
    """For each word, whether a phrase may end with it."""
    ends = [
        bool(_MARK.search(text, word.end, after.start))
        or (
            (after.weight <= 0 or bool(_HAN.search(word.text)))
            and after.key not in _GOES_ON
            and not _is_joined(text, word, after)
        )
        for word, after in pairwise(words)
    ]
    return [*ends, True]


def _is_joined(text: str, before: Word, after: Word) -> bool:
    """Say whether two neighbours are, or lead to, halves of one thing."""
    between = text[before.end : after.start]
    if "、" in between or "&" in between or "/" in between:
        return True
    if not between and before.key in _NAME_PREFIXES:
        return True
    return not _MARK.search(between) and (before.key in _JOINS or after.key in _JOINS)


def _denied(text: str, words: Sequence[Word], negation: int) -> int:
    """Return the index of the last word of what ``negation`` denies: all up to the next mark."""
    for at in range(negation + 1, len(words) - 1):
        if _MARK.search(text, words[at].end, words[at + 1].start):
            return at
    return len(words) - 1
