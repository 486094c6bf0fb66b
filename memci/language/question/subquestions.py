"""Split a text that asks several questions (R10)."""

import re
from itertools import islice

from memci.language.detection import Language
from memci.language.loading import TaskData

MOST_PARTS = 4
# Seams of one sentence that are examined.
_MOST_SEAMS = 16
# A run of marks is tried once: a long one would take time in the second power.
_ENDS = re.compile(r"[?？]+[\s\"”’')）]*|(?<![.!。！])[.!。！]++[\"”’')）]*(?:\s+|(?<=[。！]))|\n+")
_DATA = TaskData("question")
_ASKED = _DATA.pattern("asked", Language.ENGLISH)
_ASKED_CHINESE = _DATA.pattern("asked", Language.CHINESE)
_SEAMS = tuple(_DATA.pattern("and_asks", language) for language in Language)
_SHORTEST = {True: 4, False: 8}  # characters of a part, in Chinese and otherwise


def split_questions(text: str) -> tuple[str, ...]:
    """Return the questions in a text, in order and verbatim, at most 4.

    A statement stays with the question after it. Most texts are one part; a blank one has none.
    """
    sentences = _sentences(text)
    parts = [part for each in sentences for part in _cut(each)]
    if len(parts) > MOST_PARTS:
        begin = text.find(parts[MOST_PARTS - 1], _end_of(text, parts[: MOST_PARTS - 1]))
        parts = [*parts[: MOST_PARTS - 1], text[begin:].strip()]
    return tuple(parts)


def _sentences(text: str) -> list[str]:
    """Cut after each question; text after the last question is part of it."""
    found, start, seen = [], 0, 0
    for end in [match.end() for match in _ENDS.finditer(text)] + [len(text)]:
        sentence = text[seen:end]
        if re.search(r"[?？]", sentence) and len(sentence.strip()) > 1:
            found.append(text[start:end].strip())
            start = end
        seen = end
    rest = text[start:].strip()
    if rest and found:
        found[-1] = text[text.rfind(found[-1]) :].strip()
    elif rest:
        found.append(rest)
    return found


def _cut(sentence: str) -> list[str]:
    """Cut a sentence where both sides are questions."""
    parts, start = [], 0
    seams = (match for each in _SEAMS for match in islice(each.finditer(sentence), _MOST_SEAMS))
    for match in sorted(seams, key=lambda each: each.start()):
        left, right = sentence[start : match.start()], sentence[match.end() :]
        if _is_question(left) and _is_question(right):
            parts.append(left.strip())
            start = match.end()
    parts.append(sentence[start:].strip())
    return [each for each in parts if each]


def _is_question(part: str) -> bool:
    chinese = bool(_ASKED_CHINESE.search(part))
    return len(part.strip()) >= _SHORTEST[chinese] and (chinese or bool(_ASKED.match(part)))


def _end_of(text: str, parts: list[str]) -> int:
    end = 0
    for each in parts:
        end = text.find(each, end) + len(each)
    return end
