"""Nothing stands twice: memories and their messages, equal words, small talk (R11, R14).

A memory repeats its messages and adds a little (R4): who speaks, the date beside an expression of
time, the question that an answer depends on. None of that makes the same words new.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import NamedTuple, TypeAlias

from memci.domain.memory.wording import labels
from memci.domain.search.candidate import KEPT, Candidate, Key, Source
from memci.domain.search.highlight import NOBODY, Speakers, line_at, to_name, written
from memci.domain.search.ranking import Ranked, by_rank
from memci.domain.session.plan import steps_listed
from memci.language.small_talk import asks, can_answer, is_trivial, tells_much
from memci.language.times import remove_date_notes
from memci.message import Role

# What the best memory adds to the score of its messages, and how near the best of them must come.
_LENT = 0.1
_NEARLY = 0.5


def join_memories(ranked: Sequence[Ranked]) -> list[Ranked]:
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


def fused_score(ranked: Ranked) -> float:
    """Return how well something was found where scores of channels were summed."""
    return ranked.score


def lexical_score(ranked: Ranked) -> float:
    """Return how well it was found where ranks were: those of hundreds are nearly the same.

    What is kept is found by its words alone, and scored as messages are.
    """
    return ranked.candidate.lexical or 0.0


def without_repeated(
    ranked: Sequence[Ranked], found: Callable[[Ranked], float] = fused_score
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


class Change(NamedTuple):
    """Memories that another message makes superfluous, and those it only makes shorter."""

    gone: list[Ranked]
    shorter: list[Ranked]


class Selection:
    """What is taken from a ranking: each message once, word for word before a memory of it (R14).

    ``held`` are messages that the reader has already. A message stays out while a memory that was
    taken holds its words. Of a memory only what its messages do not say themselves is worth the
    room; when there is nothing of that, it goes.
    """

    def __init__(self, held: Iterable[Candidate] = (), speakers: Speakers | None = None) -> None:
        """Begin with nothing taken; ``speakers``: all who may have spoken, if that is known."""
        self._speakers = speakers
        self._said = {each.key: each for each in held}
        self._taken: dict[Key, Ranked] = {}
        # Of each message, the memories of it that were taken.
        self._memories: defaultdict[int, dict[Key, None]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._taken)

    def __iter__(self) -> Iterator[Ranked]:
        """Iterate over what is taken, in the order of taking."""
        return iter(self._taken.values())

    def taken(self, key: Key) -> Ranked | None:
        """Return what is taken of one, at whatever length; None: it is not, or has gone."""
        return self._taken.get(key)

    def has(self, candidate: Candidate) -> bool:
        """Tell whether it is a message that is held or taken."""
        return candidate.source is Source.CHAT and candidate.key in self._said

    def new_in(self, candidate: Candidate) -> str | None:
        """Return what it says that is not there yet: None if nothing."""
        if candidate.source is Source.MEMORY:
            return self._unsaid(candidate)
        if candidate.key in self._said or self._quoted(candidate):
            return None
        return candidate.text

    def entry(self, ranked: Ranked) -> Ranked:
        """Return one that is taken with what is to be shown of it."""
        one = ranked.candidate
        if one.source is Source.CHAT:
            return ranked
        return ranked._replace(candidate=one._replace(text=self._unsaid(one) or ""))

    def take(self, ranked: Ranked) -> Change:
        """Take one that brings something new; tell what it changes about memories taken before.

        What was taken in short may be taken again as it was.
        """
        one = ranked.candidate
        self._taken[ranked.key] = ranked
        change = Change([], [])
        if one.source is Source.MEMORY:
            for seq in one.seqs:
                self._memories[seq][ranked.key] = None
            return change
        self._said[one.key] = one
        for memory in self._of(one):
            if self._unsaid(memory.candidate) is None:
                change.gone.append(self._taken.pop(memory.key))
            else:
                change.shorter.append(memory)
        return change

    def _quoted(self, message: Candidate) -> bool:
        return any(quotes(each.candidate.text, message.text) for each in self._of(message))

    def _of(self, message: Candidate) -> list[Ranked]:
        """Return the memories of a message that are taken."""
        memories = self._memories.get(message.key, ())
        return [self._taken[key] for key in memories if key in self._taken]

    def _unsaid(self, memory: Candidate) -> str | None:
        said = [self._said[seq] for seq in memory.seqs if seq in self._said]
        if memory.seqs and len(said) == len(memory.seqs):
            return None
        return unsaid(memory.text, said, self._speakers) or None if said else memory.text


def thin(ranked: Iterable[Ranked], limit: int) -> list[Ranked]:
    """Return the best ``limit`` of a ranking, each message once."""
    selection = Selection(speakers=Speakers())  # nothing of a memory is shown but all of it
    for each in ranked:
        if len(selection) >= limit:
            break
        if selection.new_in(each.candidate) is not None:
            selection.take(each)
    return list(selection)


class Filler:
    """The messages of a ranking that are courtesy, or name nothing in a few characters.

    One that may answer the question before it, found as well, is not among them. Each is looked at
    when it is asked for, since most of a ranking never comes into question.
    """

    def __init__(self, ranked: Iterable[Ranked] = (), min_length: int = 0) -> None:
        """Take a ranking; ``min_length``: characters, as for ``is_trivial``."""
        self._ranked = ranked
        self._min_length = min_length

    def has(self, ranked: Ranked) -> bool:
        """Tell whether one of the ranking is filler."""
        one = ranked.candidate
        return (
            one.source is Source.CHAT
            and one.key in self._said
            and not tells_much(one.text)
            and is_trivial(one.text, self._min_length, self._speakers)
            and not self._answers(one)
        )

    @cached_property
    def _said(self) -> dict[int, Candidate]:
        found = (each.candidate for each in self._ranked)
        return {one.key: one for one in found if one.source is Source.CHAT}

    @cached_property
    def _speakers(self) -> set[str]:
        return {one.name for one in self._said.values() if one.name}

    def _answers(self, one: Candidate) -> bool:
        question = self._said.get(one.key - 1)
        return question is not None and can_answer(one.text) and asks(question.text)
