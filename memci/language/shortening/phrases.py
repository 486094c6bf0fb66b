"""A clause's words as units that nothing may cut, and where its phrases end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from memci.language import chinese_words
from memci.language.clauses import does, is_finite
from memci.language.dated_words import dated_moments, is_moment
from memci.language.shortening.protected_spans import Span, atoms, joined
from memci.language.word_lists import ENGLISH_VERBS_OR_NOUNS
from memci.language.word_weights import Word

MARK = re.compile(r"[,;:.!?，；：。！？…—\n]")
# What begins a name, which jieba takes for a word of its own.
_NAME_PREFIXES = frozenset("小老阿第")
# Times, adverbs, prepositions, conjunctions and pronouns, by jieba's tags.
_LEADS_ON = ("t", "d", "p", "c", "r", "f")
HAN = re.compile(r"[\u3400-\u9fff]")
# What joins two halves of one thing, and what shows that a phrase goes on.
JOINS = frozenset(
    ("and", "or", "nor", "plus", "和", "与", "跟", "及", "或", "以及", "同", "还有", "并")
)
# Verbs that mean something else, or nothing, without what a preposition brings in.
LIGHT_VERBS = frozenset((
    "fall", "falls", "fell", "fallen", "break", "breaks", "broke", "broken", "give", "gives",
    "gave", "run", "runs", "ran", "get", "gets", "got", "take", "takes", "took", "make",
    "makes", "made", "put", "puts", "set", "sets", "keep", "keeps", "kept", "come", "comes",
    "came", "lose", "lost", "look", "looks", "looked", "turn", "turns", "turned", "call",
    "called", "end", "ended",
))  # fmt: skip
_COMPLEMENTS = frozenset(("with", "of", "for", "on", "off", "about", "into", "after", "forward"))
_LONGEST_PHRASAL = 5
# A date with its note, or a Chinese day: what was done then follows.
_TELLS_WHEN = re.compile(r"\d[^()（）]*[)）]$|^[昨今明后前][天晚年]$")
# Before what it is done to: what is done comes last.
_TAKES_ALL = frozenset("把将被")
_AWAITS_VERB = frozenset(
    ("要", "会", "想", "能", "可以", "打算", "准备", "计划", "必须", "应该", "需要", "想要", "愿意")
)
_PERSONS = frozenset(("我", "你", "您", "他", "她", "我们", "你们", "他们", "她们", "咱们"))
_NO_VERBS = frozenset(("在", "到", "从", "往", "给", "是", "有"))
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


def units_of(text: str, words: Sequence[Word]) -> list[Word]:
    """Return the words, those of one atom as one."""
    spans = iter(_undivided(text))
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


def _undivided(text: str) -> list[Span]:
    """Return the atoms, and what tells when in two ways: "yesterday (2026-03-07)"."""
    moments = dated_moments(text)
    return joined([*atoms(text), *moments]) if moments else atoms(text)


def ends_of(text: str, words: Sequence[Word]) -> list[bool]:
    """For each word, whether a phrase may end with it."""
    ends = [
        bool(MARK.search(text, word.end, after.start))
        # A note can be left out, and so can the day.
        or after.text.startswith(("(", "（"))
        or after.key in {"today", "tonight"}
        or (after.text.endswith(")") and is_moment(after.text) and not is_finite(word))
        or (
            (after.weight <= 0 or _may_end(word.text))
            and after.key not in _GOES_ON
            and not is_joined(text, word, after)
            and not _goes_on(words[at - 1] if at else None, word, after)
        )
        for at, (word, after) in enumerate(pairwise(words))
    ]
    for first, last in _wholes(text, words):
        ends[first:last] = [False] * len(ends[first:last])
    return [*ends, True]


def _may_end(word: str) -> bool:
    """Say whether a Chinese phrase may end with a word: not with when, how or what leads on."""
    return bool(HAN.search(word)) and not chinese_words.tag(word).startswith(_LEADS_ON)


def _goes_on(before: Word | None, word: Word, after: Word) -> bool:
    """Say whether a phrase has only begun: "Mia fell", "that Chloe | can", "陈伟昨天"."""
    if word.key in ENGLISH_VERBS_OR_NOUNS and before is not None and does(before.text):
        return True
    return (
        is_finite(word)
        or is_finite(after)
        or bool(HAN.search(word.text) and _TELLS_WHEN.search(word.text))
    )


def _wholes(text: str, words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Yield (first, last) of words between which no phrase ends.

    The meaning of "fell in love with …" hangs on what follows, and that of 把, 要, 打算 on a verb.
    """
    for at, word in enumerate(words[:-1]):
        if word.key in LIGHT_VERBS:
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
    """Say whether a Chinese word is somebody who does something."""
    return bool(HAN.search(word.text)) and (
        word.text in _PERSONS
        or chinese_words.tag(word.text) == "nr"
        or chinese_words.is_nickname(word.text)
    )


def is_chinese_verb(word: str) -> bool:
    """Say whether a Chinese word tells what somebody does."""
    return bool(HAN.search(word)) and _is_verb(word)


def _is_verb(word: str) -> bool:
    return (
        word not in _AWAITS_VERB | _TAKES_ALL
        and word not in _NO_VERBS
        and chinese_words.tag(word)[:1] == "v"
    )


def is_joined(text: str, before: Word, after: Word) -> bool:
    """Say whether two neighbours are, or lead to, halves of one thing."""
    between = text[before.end : after.start]
    if "、" in between or "&" in between or "/" in between:
        return True
    if not between and before.key in _NAME_PREFIXES:
        return True
    return not MARK.search(between) and (before.key in JOINS or after.key in JOINS)
