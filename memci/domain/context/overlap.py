"""What a memory and the messages it came from say both (R14).

A memory says what was said and a little more (R4): who speaks, the date beside an expression of
time, the question that an answer leans on. None of that makes the same words new.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memci.domain.context.candidate import Candidate
from memci.domain.context.voices import NOBODY, Speakers, line_at, to_name, written
from memci.domain.memory.wording import labels
from memci.domain.time import without_notes

# A word, or one character of a script that puts no blanks between words.
_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]|[^\W_]+")
_SENTENCE_END = re.compile(r"[.!?…]+(?=\s|$)|[。！？；]+")


def unsaid(text: str, said: Iterable[Candidate], speakers: Speakers | None = None) -> str:
    """Return the lines of a memory that say what no message of ``said`` says.

    Compression leaves words out of a sentence, and never changes their order or adds any: what is
    left of it is found again in a line of its message. Lines without a word go with the line above
    them. Where the line goes that names who speaks, the next that stays names it instead.
    ``speakers``: all who may have spoken; None: those of the messages.
    """
    said = list(said)
    known = [words for each in said for words in _lines(each)]
    speakers = speakers or Speakers(each.name for each in said)
    voices = speakers.in_memory(text)
    kept: list[str] = []
    keeping, above, voice, start = True, NOBODY, NOBODY, 0
    for line in text.split("\n"):
        sentences = [words for each in _sentences(line) if (words := words_of(each))]
        if sentences:
            keeping = not all(_held(words, known) for words in sentences)
        named = line_at(voices, start, start + len(line))
        if named:
            # What a message holds with its label is of the message: no name.
            voice = named.voice if keeping else named.voice._replace(other="")
        if keeping:
            label = to_name(voice, above, labelled=named is not None)
            kept += [label, line] if label and named else [written(label) + line]
            above = voice
        start += len(line) + 1
    return "\n".join(kept) if any(map(words_of, kept)) else ""


def quotes(memory: str, message: str) -> bool:
    """Tell whether a memory holds a message word for word."""
    words = words_of(message)
    if not words:
        return message in memory
    return f" {' '.join(words)} " in f" {' '.join(words_of(memory))} "


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text, in order and in small letters, without dates put beside them."""
    return tuple(_WORD.findall(without_notes(text).casefold()))


def _lines(message: Candidate) -> Iterable[tuple[str, ...]]:
    """Yield the words of each line of a message, after those that name who says it."""
    named = words_of(" ".join(labels(message.role, message.name)))
    for line in message.text.splitlines():
        if words := words_of(line):
            yield (*named, *words)


def _sentences(line: str) -> list[str]:
    return _SENTENCE_END.split(without_notes(line))


def _held(words: Sequence[str], lines: Iterable[Sequence[str]]) -> bool:
    return any(_holds(line, words) for line in lines)


def _holds(line: Sequence[str], words: Sequence[str]) -> bool:
    rest = iter(line)
    return all(word in rest for word in words)
