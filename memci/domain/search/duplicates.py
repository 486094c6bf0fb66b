"""Finds texts that repeat each other: memories and their messages, and equal words (R11, R14).

A memory says what was said and a little more (R4): who speaks, the date beside an expression of
time, the question that an answer leans on. None of that makes the same words new.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import TypeAlias

from memci.domain.memory.wording import labels
from memci.domain.search.candidate import KEPT, Candidate, Source
from memci.domain.search.highlight import NOBODY, Speakers, line_at, to_name, written
from memci.domain.search.ranking import Ranked, by_rank
from memci.domain.session.plan import steps_listed
from memci.language.times import remove_date_notes
from memci.message import Role

# What the best memory adds to the score of its messages, and how near the best of them must come.
_LENT = 0.1
_NEARLY = 0.5


def joined(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Let memories lend their score to their messages, and leave the room to them.

    Verbatim beats node (R14): where a message of a memory was found, its words are what is shown,
    and the memory only says that it is about the matter. It stays a hit where none of its messages
    was found nearly as well.
    """
    memories = [each for each in ranked if each.candidate.source is Source.MEMORY]
    if not memories:
        return list(ranked)
    messages = {each.candidate.key: each for each in ranked if each.candidate.source is Source.CHAT}
    best = _best_memories(memories)
    top = max(each.score for each in memories)
    lent = [_lent(each, best.get(each.candidate.key), top) for each in messages.values()]
    kept = [each for each in memories if _tells_more(each, messages)]
    return sorted([*lent, *kept, *_others(ranked)], key=by_rank)


def by_score(ranked: Ranked) -> float:
    """Return how well something was found where scores of channels were summed."""
    return ranked.score


def by_words(ranked: Ranked) -> float:
    """Return how well it was found where ranks were: those of hundreds are nearly the same.

    What is kept is found by its words alone, and scored as messages are.
    """
    return ranked.candidate.lexical or 0.0


def unrepeated(
    ranked: Sequence[Ranked], found: Callable[[Ranked], float] = by_score
) -> list[Ranked]:
    """Leave the room of what is kept to the messages that it tells of (R14).

    A page, a summary, a pin or a step stays a hit where none of its messages was ``found`` nearly
    as well; what tells of no message stays. What was noted of a plan when it was made gives way to
    the plan's steps, which say how far they have come.
    """
    kept = [each for each in ranked if each.candidate.source in KEPT]
    if not kept:
        return list(ranked)
    ranked = _without_plans_noted(ranked, [each.candidate for each in kept])
    said = [
        (each.candidate, found(each)) for each in ranked if each.candidate.source is Source.CHAT
    ]
    repeated = {each.key for each in kept if _is_repeated(each.candidate, found(each), said)}
    return [each for each in ranked if each.key not in repeated]


def _without_plans_noted(ranked: Sequence[Ranked], kept: Iterable[Candidate]) -> Sequence[Ranked]:
    steps = [each for each in kept if each.source is Source.PLAN]
    told = {about[0] for each in steps if each.kept and (about := each.kept.about)}

    def is_noted(one: Candidate) -> bool:
        return one.source is Source.CHAT and one.key in told and bool(steps_listed(one.text))

    return [each for each in ranked if not is_noted(each.candidate)] if told else ranked


def _is_repeated(kept: Candidate, well: float, said: Iterable[tuple[Candidate, float]]) -> bool:
    return any(as_well >= _NEARLY * well and _tells_of(kept, each) for each, as_well in said)


def _tells_of(kept: Candidate, message: Candidate) -> bool:
    about = kept.kept.about if kept.kept else None
    if about is None or kept.session_id != message.session_id:
        return False
    return about[0] <= message.key <= about[1]


def _best_memories(memories: Sequence[Ranked]) -> dict[int, Ranked]:
    """Return, of each message, the best memory of it."""
    best: dict[int, Ranked] = {}
    for each in sorted(memories, key=by_rank, reverse=True):
        best.update(dict.fromkeys(each.candidate.seqs, each))
    return best


def _lent(message: Ranked, memory: Ranked | None, top: float) -> Ranked:
    if memory is None or top <= 0:
        return message
    found = message.candidate._replace(memory=memory.candidate.key)
    return Ranked(found, message.score + _LENT * memory.score / top, message.ranks)


def _tells_more(memory: Ranked, messages: Mapping[int, Ranked]) -> bool:
    found = (messages[seq].score for seq in memory.candidate.seqs if seq in messages)
    return max(found, default=0.0) < _NEARLY * memory.score


def _others(ranked: Sequence[Ranked]) -> list[Ranked]:
    known = (Source.CHAT, Source.MEMORY)
    return [each for each in ranked if each.candidate.source not in known]


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
    return tuple(_WORD.findall(remove_date_notes(text).casefold()))


def _lines(message: Candidate) -> Iterable[tuple[str, ...]]:
    """Yield the words of each line of a message, after those that name who says it."""
    named = words_of(" ".join(labels(message.role, message.name)))
    for line in message.text.splitlines():
        if words := words_of(line):
            yield (*named, *words)


def _sentences(line: str) -> list[str]:
    return _SENTENCE_END.split(remove_date_notes(line))


def _held(words: Sequence[str], lines: Iterable[Sequence[str]]) -> bool:
    return any(_holds(line, words) for line in lines)


def _holds(line: Sequence[str], words: Sequence[str]) -> bool:
    rest = iter(line)
    return all(word in rest for word in words)


# Who said something, and on which day.
_Saying: TypeAlias = tuple[date, Role | None, str | None]

_AROUND = " \t\n.,!?…。，！？"


class Sayings:
    """The question and the messages of a list, so that none is heard twice.

    Said again on another day, or by somebody else, it is something else that happened.
    """

    def __init__(self, asked: str | None, held: Iterable[Candidate]) -> None:
        """Begin with the question and the messages that are in the list already."""
        self._asked = plain(asked or "")
        self._heard: defaultdict[str, set[_Saying]] = defaultdict(set)
        for each in held:
            self._note(each)

    def repeated_by(self, candidate: Candidate) -> bool:
        """Tell whether it asks the question again, or says what its speaker said that day."""
        words = plain(candidate.text)
        if not words:
            return False
        if words == self._asked:
            return True
        heard = self._heard.get(words)
        return heard is not None and candidate.source is Source.CHAT and _saying(candidate) in heard

    def hear(self, candidate: Candidate) -> None:
        """Note that it is in the list."""
        if candidate.source is Source.CHAT:
            self._note(candidate)

    def _note(self, message: Candidate) -> None:
        self._heard[plain(message.text)].add(_saying(message))


def _saying(message: Candidate) -> _Saying:
    return message.at.date(), message.role, message.name


def plain(text: str) -> str:
    """Return a text as it is compared: in small letters, without marks around it."""
    return text.casefold().strip(_AROUND)
