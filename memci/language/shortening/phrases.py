"""Phrases of a clause that may be left out, when a whole clause has no room."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memci.language import chinese_words
from memci.language.clauses import (
    OTHER_SUBJECTS,
    can_be_subject,
    is_finite,
    lacks_subject,
    subject_words,
)
from memci.language.loading import TaskData
from memci.language.shortening.protected_spans import Span, atoms, joined
from memci.language.times.mentions import has_only_relative_times, spans_with_date_notes
from memci.language.word_lists import ENGLISH_SUPPOSING, ENGLISH_VERBS_OR_NOUNS
from memci.language.word_weights import Word

MARK = re.compile(r"[,;:.!?，；：。！？…—\n]")
_DATA = TaskData("shortening")
JOINS = _DATA.words("joins")
_LIGHT_VERBS = _DATA.words("light_verbs")
_COMPLEMENTS = _DATA.words("complements")
_CONTINUATION = _DATA.words("goes_on")
_OWNERS = _DATA.words("owners")
_NAME_PREFIXES = _DATA.words("name_prefixes")
_TAKES_ALL = _DATA.words("takes_all")
_AWAITS_VERB = _DATA.words("awaits_verb")
_PERSONS = _DATA.words("persons")
_NO_VERBS = _DATA.words("no_verbs") | _TAKES_ALL | _AWAITS_VERB
# Times, adverbs, prepositions, conjunctions and pronouns, by jieba's tags.
_LEADS_ON = ("t", "d", "p", "c", "r", "f")
HAN = re.compile(r"[\u3400-\u9fff]")
_LONGEST_PHRASAL = 5
# A date with its note, or a Chinese day: the action follows.
_TELLS_WHEN = re.compile(r"\d[^()（）]*[)）]$|^[昨今明后前][天晚年]$")


def units_of(text: str, words: Sequence[Word]) -> list[Word]:
    """Return the words, those of one atom as one."""
    spans = iter(_atoms_and_dates(text))
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


def _atoms_and_dates(text: str) -> list[Span]:
    """Return the atoms, and times with their date notes: "yesterday (2026-03-07)"."""
    moments = spans_with_date_notes(text)
    return joined([*atoms(text), *moments]) if moments else atoms(text)


def ends_of(text: str, words: Sequence[Word]) -> list[bool]:
    """Return for each word whether a phrase may end with it."""
    ends = [
        bool(MARK.search(text, word.end, after.start))
        # A note can be left out, and so can the day.
        or after.text.startswith(("(", "（"))
        or after.key in {"today", "tonight"}
        or (
            after.text.endswith(")") and has_only_relative_times(after.text) and not is_finite(word)
        )
        or (
            (after.weight <= 0 or _may_end(word.text))
            and after.key not in _CONTINUATION
            and not is_joined(text, word, after)
            and not _phrase_continues(words[at - 1] if at else None, word, after)
        )
        for at, (word, after) in enumerate(pairwise(words))
    ]
    for first, last in _indivisible_ranges(text, words):
        ends[first:last] = [False] * len(ends[first:last])
    return [*ends, True]


def _may_end(word: str) -> bool:
    """Return True if a Chinese phrase may end with a word: not with an adverb or a preposition."""
    return bool(HAN.search(word)) and not chinese_words.tag(word).startswith(_LEADS_ON)


def _phrase_continues(before: Word | None, word: Word, after: Word) -> bool:
    """Return True if a phrase is incomplete: "Mia fell", "that Chloe | can", "陈伟昨天"."""
    if word.key in ENGLISH_VERBS_OR_NOUNS and before is not None and can_be_subject(before.text):
        return True
    return (
        is_finite(word)
        or is_finite(after)
        or bool(HAN.search(word.text) and _TELLS_WHEN.search(word.text))
    )


def _indivisible_ranges(text: str, words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Yield (first, last) of words between which no phrase ends.

    "Fell in love with …" needs its object, and 把, 要, 打算 need a verb.
    """
    for at, word in enumerate(words[:-1]):
        if word.key in _LIGHT_VERBS:
            stop = min(at + _LONGEST_PHRASAL, len(words))
            leads = [to for to in range(at + 1, stop) if words[to].key in _COMPLEMENTS]
            if leads and not MARK.search(text, word.end, words[leads[-1]].start):
                heavy = (to for to in range(leads[-1] + 1, len(words)) if words[to].weight > 0)
                yield at, next(heavy, len(words) - 1)
        elif word.text in _TAKES_ALL:
            yield at, len(words) - 1
        elif word.text in _AWAITS_VERB:
            verbs = (to for to in range(at + 1, len(words)) if _is_verb(words[to].text))
            yield at, next(verbs, len(words) - 1)


def is_person(word: Word) -> bool:
    """Return True if a Chinese word is a person."""
    return bool(HAN.search(word.text)) and (
        word.text in _PERSONS
        or chinese_words.tag(word.text) == "nr"
        or chinese_words.is_nickname(word.text)
    )


def is_chinese_verb(word: str) -> bool:
    """Return True if a Chinese word is a verb."""
    return bool(HAN.search(word)) and _is_verb(word)


def _is_verb(word: str) -> bool:
    return word not in _NO_VERBS and chinese_words.tag(word)[:1] == "v"


def is_joined(text: str, before: Word, after: Word) -> bool:
    """Return True if two neighbours are, or lead to, halves of one thing."""
    between = text[before.end : after.start]
    if "、" in between or "&" in between or "/" in between:
        return True
    if not between and before.key in _NAME_PREFIXES:
        return True
    return not MARK.search(between) and (before.key in JOINS or after.key in JOINS)


# The factor of a part with subject and action.
_COMPLETE = 1.1
# Words read in one clause: longer ones are lists or code.
_MOST_WORDS = 120
# A clause with a negation is cut only if this share of its value is kept.
_DENIAL_KEPT = 0.75
# A number counts the next word only if its weight is above this: not "28 today".
_COUNTED = 2.0
# A conjunction before this word joins two subjects.
_LAST_OF_SUBJECT = 4


@dataclass(slots=True)
class Part:
    """A part of a clause with its words and their value."""

    text: str = ""
    words: Sequence[Word] = ()
    value: float = 0.0

    def offer(self, text: str, words: Sequence[Word], value: float) -> None:
        """Replace the part if the offered value is higher."""
        if value > self.value:
            self.text, self.words, self.value = text, words, value


def excerpt(text: str, words: Sequence[Word], room: int, *, from_start: bool = False) -> Part:
    """Return the most valuable part of ``text`` with at most ``room`` characters.

    It begins with an important word or the subject, ends where a phrase does, and cuts no atom. No
    action is left without its subject. It contains every negation of the clause with all that is
    negated and nearly all else, or is empty: "allergic" is never cut from "not allergic". With
    ``from_start`` it begins at the beginning of the clause.
    """
    words = units_of(text, words[:_MOST_WORDS])
    negations = [at for at, word in enumerate(words) if word.negation]
    ends = ends_of(text, words)
    subject = subject_words(words)
    # A joint subject stays whole: a part of "Emil and I decided" begins with Emil.
    together = [at for at in range(1, min(_LAST_OF_SUBJECT, len(words))) if words[at].key in JOINS]
    latest = 0 if together or from_start else len(words)
    least = _end_of_negated(text, words, negations[-1]) if negations else max(together, default=0)
    best = Part()
    for first, opening in enumerate(words):
        if first > latest or (negations and first > negations[0]):
            break
        has_subject = first == 0 and subject > 0
        if opening.weight <= 0 and latest and not has_subject:
            continue
        if first and (is_joined(text, words[first - 1], opening) or _lacks_beginning(words, first)):
            continue
        if first and _is_its_number(text, words, first):
            continue
        if has_subject:
            _offer_parts(best, text, words, (0, max(least, subject)), room, ends, _COMPLETE)
        else:
            stop = _end_of_own_action(words, first)
            owned = first > 0 and words[first - 1].key in _OWNERS
            _offer_parts(best, text, words[:stop], (first - owned, least), room, ends)
    if subject and not negations:
        _offer_later_actions(best, text, words, subject, room, ends)
    enough = _DENIAL_KEPT * sum(word.weight for word in words) if negations else 0.0
    return best if best.value >= enough else Part()


def _is_its_number(text: str, words: Sequence[Word], at: int) -> bool:
    """Return True if a word is the number of the thing before it, as in "tram 28 today"."""
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
    """Offer parts that begin with the first word of ``bounds`` and end with the second or later."""
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


def _lacks_beginning(words: Sequence[Word], first: int) -> bool:
    """Return True if subject or verb stand before the first word: "takes | care of the cat"."""
    return lacks_subject(words, first) or words[first - 1].key in _LIGHT_VERBS


def _end_of_own_action(words: Sequence[Word], first: int) -> int:
    """Return the index from ``first`` on of a verb whose subject is left out."""
    absent = any(map(is_person, words[:first]))
    found = (
        at
        for at in range(first, len(words))
        if (at > first and words[at].key == "to")
        or lacks_subject(words, at)
        or (absent and is_chinese_verb(words[at].text))
    )
    return next(found, len(words))


def _offer_later_actions(
    best: Part, text: str, words: Sequence[Word], subject: int, room: int, ends: Sequence[bool]
) -> None:
    """Offer the subject, the first ``subject`` words, with a later action.

    "I took her to Oslo and bought a coat" contains "I bought a coat". Another subject or a
    supposition in between ends the search.
    """
    who = text[words[0].start : words[subject - 1].end]
    known = sum(word.weight for word in words[:subject])
    for at in range(subject, len(words) - 1):
        if words[at].key in OTHER_SUBJECTS or words[at].key in ENGLISH_SUPPOSING:
            return
        if words[at].key not in JOINS or not is_finite(words[at + 1]):
            continue
        begin, value = words[at + 1].start, known
        for last in range(at + 1, len(words)):
            word = words[last]
            if len(who) + 1 + word.end - begin > room or word.key in OTHER_SUBJECTS:
                break
            value += word.weight
            if word.weight > 0 and ends[last] and last > at + 1:
                chosen = [*words[:subject], *words[at + 1 : last + 1]]
                best.offer(f"{who} {text[begin : word.end]}", chosen, value * _COMPLETE)


def _end_of_negated(text: str, words: Sequence[Word], negation: int) -> int:
    """Return the index of the last negated word: all up to the next mark."""
    for at in range(negation + 1, len(words) - 1):
        if MARK.search(text, words[at].end, words[at + 1].start):
            return at
    return len(words) - 1
