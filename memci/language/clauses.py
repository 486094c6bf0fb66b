"""Split sentences into clauses, and find their subjects and verbs."""

import functools
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from memci.language.detection import Language
from memci.language.loading import TaskData
from memci.language.sentences import Span, clause_spans, sentence_spans
from memci.language.word_lists import (
    CHINESE_NEGATIONS,
    ENGLISH_FINITE_VERBS,
    ENGLISH_NEGATIONS,
    ENGLISH_TIMES,
    ENGLISH_VERBS_OR_NOUNS,
)
from memci.language.word_weights import UNKNOWN, rarity

_DATA = TaskData("clauses")
_PRONOUNS = _DATA.words("pronouns", Language.ENGLISH)
_PERSONS = _DATA.words("persons")
_BRINGS_IN = _DATA.words("brings_in")
_REPORTING = _DATA.words("reporting")
_SUBORDINATE = _DATA.pattern("subordinate")
_CONJUNCTION = _DATA.pattern("conjunction")
_STANDS_ALONE = _DATA.pattern("stands_alone")
_CHINESE_EXCEPTION = _DATA.pattern("exception")
_SEAM, _CONDITION, _DEPENDENT = (
    {language: _DATA.pattern(name, language) for language in Language}
    for name in ("seam", "condition", "dependent")
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# "Ann: …", "Budget: …": the speaker or the subject of a line.
_LABEL = re.compile(
    rf"(?!https?:|(?i:{_DATA.source('subjects')})\s)"
    r"(?:[^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2}:[ \t]+|"
    r"[^\W\d_a-zA-Z]{1,8}[:：][ \t]*)(?=\S)"
)
# Certainly speakers: the following lines are theirs, too.
_ROLE = re.compile("(?:User|Assistant|Tool|用户|助手|工具)[:：]")
_PRONOUN = re.compile(r"(?:he|she|they)\b", re.IGNORECASE)
_JOINED = re.compile(r"(?:and|or)\s", re.IGNORECASE)
_SHORTEST_PAST = 4
_LONGEST_LABEL = 32
# Brackets, quotations and dates with a comma, which a seam must not cut.
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_NOTE = re.compile(
    "|".join(
        rf"{re.escape(first)}[^{re.escape(first + last)}\n]{{1,100}}{re.escape(last)}"
        for first, last in ("()", "（）", "[]", "【】", "「」", "『』", "《》", "“”", "<>")
    )
    + rf'|(?<!\w)"[^"\n]{{1,100}}"(?!\w)|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?, \d{{4}}\b'
)
_FEWEST_WORDS = 3
_FEWEST_CHARACTERS = 6


def _has_finite_verb(part: str) -> bool:
    """Return True if English words contain a finite verb."""
    return _last_verb(_WORD.findall(part)) is not None


def _begins_with_verb(part: str) -> bool:
    """Return True if English words begin with a finite verb."""
    first = part.split(" ", 1)[0]
    return first.isalpha() and first.islower() and _is_finite(first)


def _last_verb(words: Sequence[str]) -> int | None:
    """Return the index of the last finite verb, or None."""
    found = (
        at
        for at in reversed(range(len(words)))
        if _is_finite(words[at])
        or (at and words[at].lower() in ENGLISH_VERBS_OR_NOUNS and _can_be_subject(words[at - 1]))
    )
    return next(found, None)


def _can_be_subject(word: str) -> bool:
    """Return True if a word can be the subject of the word after it."""
    return word.lower() in _PERSONS or word[0].isupper()


@functools.lru_cache(maxsize=1 << 14)
def _is_finite(text: str) -> bool:
    key = text.lower().replace("’", "'")
    head, _, tail = key.partition("'")
    if text == "May":
        return False
    if key in ENGLISH_FINITE_VERBS or (tail and tail != "s" and head in _PRONOUNS):
        return True
    past = len(key) > _SHORTEST_PAST and key.endswith("ed") and text.islower()
    return past and any(rarity(stem) < UNKNOWN for stem in (key[:-2], key[:-1], key[:-3]))


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence; see ``clauses``."""

    text: str
    line: int
    sentence: int
    end: str  # the closing mark of the sentence
    needs: int | None = None  # index of the clause that this one depends on
    label: str = ""  # of the line, such as the speaker's name
    turn: int = 0  # the line with the label, for all lines of one speaker


def clauses(text: str, language: Language) -> list[Clause]:
    """Return the clauses of ``text``, in order."""
    found: list[Clause] = []
    line = before = end = turn = 0
    label = shown = ""
    for number, (start, stop) in enumerate(_sentences(text)):
        line += text.count("\n", before, start)
        opens_line = not number or "\n" in text[end:start]
        if opens_line:
            shown = label_of(text, start, stop)
            if shown or not _ROLE.match(label):
                label, turn = shown, line
        before, end = start, stop
        sentence = text[start + (len(shown) if opens_line else 0) : stop]
        parts = _parts(sentence, language)
        heads, offset = _heads(parts, language), len(found)
        if offset and _is_elliptic(parts, language):
            heads, offset = [0], offset - 1
        for part, head in zip(parts, heads, strict=True):
            needs = None if head is None else offset + head
            found.append(Clause(part, line, number, _closing_mark(sentence), needs, label, turn))
    return found


def has_negation(text: str, language: Language) -> bool:
    """Return True if ``text`` contains a negation."""
    if any(
        word in ENGLISH_NEGATIONS or word.endswith("n't")
        for word in _WORD.findall(text.lower().replace("’", "'"))
    ):
        return True
    return language is Language.CHINESE and any(each in text for each in CHINESE_NEGATIONS)


def without_conjunction(clause: Clause) -> Clause:
    """Return a clause without its first conjunction: "we left" for "and we left"."""
    match = _CONJUNCTION.match(clause.text)
    return replace(clause, text=clause.text[match.end() :]) if match else clause


def _sentences(text: str) -> list[Span]:
    """Return the sentences; those within one pair of brackets or quotation marks are joined."""
    notes = _notes(text)
    found: list[Span] = []
    for start, end in sentence_spans(text):
        if found and _is_inside(start, notes):
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def _notes(text: str) -> list[Span]:
    return [match.span() for match in _NOTE.finditer(text)]


def _is_inside(at: int, spans: Sequence[Span]) -> bool:
    """Return True if a place is inside one of the spans, which are in order."""
    before = bisect_left(spans, at, key=itemgetter(0)) - 1
    return before >= 0 and at < spans[before][1]


def label_of(text: str, start: int, stop: int) -> str:
    """Return the label of a line, such as its speaker ("Ann: "), or ""."""
    match = _LABEL.match(text, start, stop)
    return match[0] if match and len(match[0]) <= _LONGEST_LABEL else ""


def spans_without_labels(text: str) -> list[Span]:
    """Return the ``clause_spans`` of a text whose lines may begin with labels, without these."""
    found = []
    for start, stop in clause_spans(text):
        line = text.rfind("\n", 0, start) + 1
        opens_line = start - line <= _LONGEST_LABEL and not text[line:start].strip()
        begin = start + (len(label_of(text, start, stop)) if opens_line else 0)
        if begin < stop:
            found.append((begin, stop))
    return found


def _parts(sentence: str, language: Language) -> list[str]:
    if sentence.startswith(("```", "~~~")):
        return [line.strip() for line in sentence.splitlines() if line.strip()]
    parts: list[str] = []
    notes = _notes(sentence)
    cuts = [
        each.span()
        for each in _SEAM[language].finditer(sentence)
        if not _is_inside(each.start(), notes)
    ]
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(sentence)]
    gap = "" if language is Language.CHINESE else " "
    for start, end in zip(starts, ends, strict=True):
        part = sentence[start:end].strip()
        if parts and part and _belongs_to_previous(parts[-1], part, language):
            parts[-1] = f"{parts[-1]}{gap}{part}"
        elif part:
            parts.append(part)
    return parts


def _belongs_to_previous(before: str, part: str, language: Language) -> bool:
    """Return True if one of two parts is no clause, or misleads without the other.

    A condition and its consequence stay together, and a subject with its verb: "Dr. Patel, | Mia's
    allergist, | said".
    """
    condition = _CONDITION[language]
    if condition.match(before):
        return True
    if language is Language.CHINESE:
        return len(part) < _FEWEST_CHARACTERS or bool(_CHINESE_EXCEPTION.match(part))
    if not _has_finite_verb(before) or _begins_with_verb(part):
        return True
    if condition.match(part) and not before.endswith((";", "-")):
        return True
    if _JOINED.match(part) and _ends_with_subject(before.split()):
        return True
    alone = _can_stand_alone(part, language) or _SUBORDINATE.match(part)
    return not alone and has_negation(part, language)


def _ends_with_subject(words: Sequence[str]) -> bool:
    """Return True if the words before "and" end with a subject of the verb after it.

    True for "I think Emil | and I decided", False for "my name is Helen | and I live in Bristol".
    """
    verb = _last_verb(words)
    if verb is None or words[-1].endswith((",", ";", "-")):
        return False
    between = (word.lower() for word in words[verb + 1 :])
    if any(word in _BRINGS_IN for word in between):
        return True
    return words[-1][0].isupper() and words[verb].lower() in _REPORTING


def _can_stand_alone(part: str, language: Language) -> bool:
    if language is Language.CHINESE:
        return len(part) >= _FEWEST_CHARACTERS and not _DEPENDENT[language].match(part)
    body = _CONJUNCTION.sub("", part, count=1)
    if body != part and _PRONOUN.match(body):
        return False  # "and she must not eat sesame" needs its antecedent
    if _DEPENDENT[language].match(body) or not _STANDS_ALONE.match(body):
        return False
    words = _WORD.findall(body)
    if not words:
        return False
    if words[0].lower() in ENGLISH_TIMES and _last_verb(words) is None:
        return False  # "Thursday the 26th at 9:00"
    return len(words) >= _FEWEST_WORDS


def _heads(parts: list[str], language: Language) -> list[int | None]:
    """Return for each part the index of the part that it needs, or None."""
    alone = [index for index, part in enumerate(parts) if _can_stand_alone(part, language)]
    if not alone:
        dependent = [bool(_DEPENDENT[language].match(each)) for each in parts]
        alone = [min(range(len(parts)), key=lambda at: (dependent[at], -len(parts[at])))]
    heads: list[int | None] = []
    for index in range(len(parts)):
        if index in alone:
            heads.append(None)
            continue
        if index and _SUBORDINATE.match(parts[index]) and language is not Language.CHINESE:
            heads.append(index - 1)  # "who turns 90", "when we moved"
            continue
        before = [each for each in alone if each < index]
        heads.append(before[-1] if before else alone[0])
    return heads


def _is_elliptic(parts: Sequence[str], language: Language) -> bool:
    """Return True if a sentence says nothing without the one before: "On April 1st."."""
    only = parts[0] if len(parts) == 1 else ""
    hangs = not any(map(str.isalpha, only)) or _DEPENDENT[language].match(only) is not None
    return bool(only) and hangs and not _has_finite_verb(only)


def _closing_mark(sentence: str) -> str:
    mark = sentence.rstrip("\"'”’)]»」』）》")[-1:]
    return mark if mark and mark in ".!?…。！？" else ""
