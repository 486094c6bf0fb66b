"""Split sentences into clauses, and find their subjects and verbs."""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memci.language.detection import Language
from memci.language.loading import TaskData
from memci.language.sentences import sentence_spans
from memci.language.shortening.protected_spans import Span, is_inside, notes
from memci.language.word_lists import (
    CHINESE_NEGATIONS,
    ENGLISH_FINITE_VERBS,
    ENGLISH_NEGATIONS,
    ENGLISH_VERBS_OR_NOUNS,
)
from memci.language.word_weights import UNKNOWN, Word, rarity

_DATA = TaskData("clauses")
_PRONOUNS = _DATA.words("pronouns", Language.ENGLISH)
_DETERMINERS = _DATA.words("determiners")
OTHER_SUBJECTS = _PRONOUNS | _DATA.words("other_subjects")
_PERSONS = _DATA.words("persons")
_BEFORE_VERBS = _DATA.words("before_verbs")
_ADVERBS = _DATA.words("adverbs")
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
_NAMES = re.compile(r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.\s)?(?:[^\W\d_a-z]\w*,?\s*){1,3}")
_NAMED_TOGETHER = re.compile(r"(?:[A-ZÀ-ÖØ-Þ]\w*,\s)*(?:[A-ZÀ-ÖØ-Þ]\w*\s)?and\s")
_LONGEST_SUBJECT = 5  # words
_SHORTEST_PAST = 4
_LONGEST_VERB_IN_ING = 5  # bring
_LONGEST_LABEL = 32
_FEWEST_WORDS = 3
_FEWEST_CHARACTERS = 6


def is_finite(word: Word) -> bool:
    """Return True if a word is a finite verb, which needs a subject."""
    return _is_finite(word.text)


def has_finite_verb(part: str) -> bool:
    """Return True if English words contain a finite verb."""
    return last_verb(_WORD.findall(part)) is not None


def begins_with_verb(part: str) -> bool:
    """Return True if English words begin with a finite verb."""
    first = part.split(" ", 1)[0]
    return first.isalpha() and first.islower() and _is_finite(first)


def last_verb(words: Sequence[str]) -> int | None:
    """Return the index of the last finite verb, or None."""
    found = (
        at
        for at in reversed(range(len(words)))
        if _is_finite(words[at])
        or (at and words[at].lower() in ENGLISH_VERBS_OR_NOUNS and can_be_subject(words[at - 1]))
    )
    return next(found, None)


def lacks_subject(words: Sequence[Word], at: int) -> bool:
    """Return True if a word is a verb whose subject, "to" or "will" stands before it.

    Cut off before the verb, "Will bring a tart" and "to leave Chloe" would be orders.
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


def can_be_subject(word: str) -> bool:
    """Return True if a word can be the subject of the word after it."""
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
    """Return the number of words in the subject at the beginning; 0 if that is uncertain."""
    if not words:
        return 0
    first = words[0].key.replace("’", "'").split("'")[0]
    if first in _PRONOUNS:
        return 1
    if first not in _DETERMINERS and not words[0].text[:1].isupper():
        return 0
    for at, word in enumerate(words[1 : _LONGEST_SUBJECT + 1], start=1):
        if word.key in OTHER_SUBJECTS:
            return 0
        if is_finite(word) or word.key in ENGLISH_VERBS_OR_NOUNS:
            return at
    return 0


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
        heads = _heads(parts, language)
        offset = len(found)
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
    spans = notes(text)
    found: list[Span] = []
    for start, end in sentence_spans(text):
        if found and is_inside(start, spans):
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def label_of(text: str, start: int, stop: int) -> str:
    """Return the label of a line, such as its speaker ("Ann: "), or ""."""
    match = _LABEL.match(text, start, stop)
    return match[0] if match and len(match[0]) <= _LONGEST_LABEL else ""


def _parts(sentence: str, language: Language) -> list[str]:
    if sentence.startswith(("```", "~~~")):
        return [line.strip() for line in sentence.splitlines() if line.strip()]
    parts: list[str] = []
    spans = notes(sentence)
    cuts = [
        each.span()
        for each in _SEAM[language].finditer(sentence)
        if not is_inside(each.start(), spans)
    ]
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(sentence)]
    for start, end in zip(starts, ends, strict=True):
        part = sentence[start:end].strip()
        if not part:
            continue
        if parts and _belongs_to_previous(parts[-1], part, language):
            parts[-1] = f"{parts[-1]}{'' if language is Language.CHINESE else ' '}{part}"
            # "Emil, | Dana | and I met": the last part shows that Emil is in the subject.
            while len(parts) > 1 and (
                _shares_subject(parts[-2], parts[-1]) or _is_inside_subject(parts[-2], parts[-1])
            ):
                parts[-2:] = [f"{parts[-2]} {parts[-1]}"]
        else:
            parts.append(part)
    return parts


def _belongs_to_previous(before: str, part: str, language: Language) -> bool:
    """Return True if ``part`` is misleading or meaningless without the clause before it.

    A condition and its consequence stay together.
    """
    if language is Language.CHINESE:
        short = len(part) < _FEWEST_CHARACTERS
        return short or bool(_CONDITION[language].match(before) or _CHINESE_EXCEPTION.match(part))
    if _shares_subject(before, part) or _is_subject_of(before, part):
        return True
    condition = _CONDITION[language]
    if condition.match(before) or (condition.match(part) and not before.endswith((";", "-"))):
        return True
    if _can_stand_alone(part, language) or _SUBORDINATE.match(part):
        return False
    return has_negation(part, language)


def _shares_subject(before: str, part: str) -> bool:
    """Return True if the seam lies within a joint subject: "Emil | and I decided"."""
    if before.endswith(","):
        return bool(_NAMES.fullmatch(before) and _NAMED_TOGETHER.match(part))
    if before.endswith((";", "-")) or not _JOINED.match(part):
        return False
    words = before.split()
    return len(words) <= _FEWEST_WORDS or not has_finite_verb(part) or _ends_with_subject(words)


def _is_subject_of(before: str, part: str) -> bool:
    """Return True if the seam lies between subject and verb: "Mia's allergist, | said"."""
    return before.endswith(",") and begins_with_verb(part) and last_verb(before.split()) is None


def _is_inside_subject(before: str, part: str) -> bool:
    """Return True if the seam lies within a subject: "Dr. Patel, | Mia's allergist, said …"."""
    _, _, rest = part.partition(", ")
    return bool(_NAMES.fullmatch(before)) and begins_with_verb(rest)


def _ends_with_subject(words: Sequence[str]) -> bool:
    """Return True if the words before "and" end with a subject of the verb after it.

    True for "I think Emil | and I decided", False for "my name is Helen | and I live in Bristol".
    """
    verb = last_verb(words)
    if verb is None:
        return True
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
    return len(_WORD.findall(body)) >= _FEWEST_WORDS


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


def _closing_mark(sentence: str) -> str:
    mark = sentence.rstrip("\"'”’)]»」』）》")[-1:]
    return mark if mark and mark in ".!?…。！？" else ""
