"""Removes repetitions: memories and their messages, equal words, small talk (R11, R14).

A memory repeats its messages and adds a little (R4): the speaker, the date beside an expression of
time, the question on which an answer depends. These additions alone do not count as new.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property
from typing import NamedTuple, TypeAlias

from memci.domain.memory.self_contained_text import labels
from memci.domain.search.candidate import KEPT, Candidate, Key, Source
from memci.domain.search.highlight import UNNAMED, Speakers, add_colon_space, label_for, line_at
from memci.domain.search.ranking import Ranked, by_rank
from memci.domain.session.plan import steps_listed
from memci.language.small_talk import asks_something, can_answer, has_many_content_words, is_trivial
from memci.language.times.mentions import remove_date_notes
from memci.message import Role

# The share of its score with which a message replaces a memory or a kept text.
_NEARLY = 0.5


def join_memories(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Name the memories of messages, and prefer the messages.

    Verbatim beats node (R14): if a message of a memory was found, its words are shown. The memory
    stays a hit if none of its messages scores nearly as well.
    """
    memories = [each for each in ranked if each.candidate.source is Source.MEMORY]
    if not memories:
        return list(ranked)
    messages = {each.candidate.key: each for each in ranked if each.candidate.source is Source.CHAT}
    best: dict[int, int] = {}  # by message, the best memory of it
    for each in sorted(memories, key=by_rank, reverse=True):
        best.update(dict.fromkeys(each.candidate.seqs, each.candidate.key))
    joined = [
        each._replace(candidate=each.candidate._replace(memory=best[seq])) if seq in best else each
        for seq, each in messages.items()
    ]
    for each in ranked:
        source = each.candidate.source
        if source is Source.MEMORY:
            scores = (messages[seq].score for seq in each.candidate.seqs if seq in messages)
            if max(scores, default=0.0) < _NEARLY * each.score:
                joined.append(each)
        elif source is not Source.CHAT:
            joined.append(each)
    return sorted(joined, key=by_rank)


def without_repeated(
    ranked: Sequence[Ranked],
) -> list[Ranked]:
    """Remove pages, summaries, pins and steps of a plan that messages repeat (R14).

    They stay hits if none of their messages has nearly their score, or if they have none. A
    message that lists a plan gives way to the steps of the plan, which have states.
    """
    kept = [each for each in ranked if each.candidate.source in KEPT]
    if not kept:
        return list(ranked)
    steps = (each.candidate.kept for each in kept if each.candidate.source is Source.PLAN)
    planned_in = {each.about[0] for each in steps if each and each.about}
    rest = [
        each
        for each in ranked
        if not (
            each.candidate.source is Source.CHAT
            and each.candidate.key in planned_in
            and steps_listed(each.candidate.text)
        )
    ]
    messages = [each for each in rest if each.candidate.source is Source.CHAT]

    def is_repeated(one: Ranked) -> bool:
        least = _NEARLY * one.score
        return any(
            each.score >= least and _is_about(one.candidate, each.candidate) for each in messages
        )

    repeated = {each.key for each in kept if is_repeated(each)}
    return [each for each in rest if each.key not in repeated]


def _is_about(kept: Candidate, message: Candidate) -> bool:
    about = kept.kept.about if kept.kept else None
    if about is None or kept.session_id != message.session_id:
        return False
    return about[0] <= message.key <= about[1]


# A word, or one character of a script that puts no blanks between words.
_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]|[^\W_]+")
_SENTENCE_END = re.compile(r"[.!?…]+(?=\s|$)|[。！？；]+")


def new_lines(text: str, messages: Iterable[Candidate], speakers: Speakers | None = None) -> str:
    """Return the lines of a memory that none of the messages contains.

    Compression removes words from a sentence, and never changes their order or adds any, so the
    rest is found in a line of its message. Lines without a word go with the previous line. If the
    line that names the speaker is removed, the next remaining line names the speaker. ``speakers``:
    all possible speakers; None: those of the messages.
    """
    messages = list(messages)
    known = [words for each in messages for words in _lines(each)]
    speakers = speakers or Speakers(each.name for each in messages)
    speaker_lines = speakers.in_memory(text)
    kept: list[str] = []
    keeping, above, speaker, start = True, UNNAMED, UNNAMED, 0
    for line in text.split("\n"):
        sentences = _SENTENCE_END.split(remove_date_notes(line))
        parts = [words for each in sentences if (words := words_of(each))]
        if parts:
            keeping = not all(any(_contains(each, words) for each in known) for words in parts)
        named = line_at(speaker_lines, start, start + len(line))
        if named:
            # A label that a message contains is text of the message, not a name.
            speaker = named.speaker if keeping else named.speaker._replace(other="")
        if keeping:
            label = label_for(speaker, above, labelled=named is not None)
            kept += [label, line] if label and named else [add_colon_space(label) + line]
            above = speaker
        start += len(line) + 1
    return "\n".join(kept) if any(map(words_of, kept)) else ""


def quotes(memory: str, message: str) -> bool:
    """Return True if a memory contains a message word for word."""
    words = words_of(message)
    if not words:
        return message in memory
    return f" {' '.join(words)} " in f" {' '.join(words_of(memory))} "


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text, in order and in lower case, without dates put beside them."""
    return tuple(_WORD.findall(remove_date_notes(text).casefold()))


def _lines(message: Candidate) -> Iterable[tuple[str, ...]]:
    """Yield the words of each line of a message, after those of its speaker label."""
    named = words_of(" ".join(labels(message.role, message.name)))
    for line in message.text.splitlines():
        if words := words_of(line):
            yield named + words


def _contains(line: Sequence[str], words: Sequence[str]) -> bool:
    rest = iter(line)
    return all(word in rest for word in words)


# The day and the speaker of a message.
_Saying: TypeAlias = tuple[date, Role | None, str | None]

_AROUND = " \t\n.,!?…。，！？"


class KnownMessages:
    """The question and the messages of a list, to find repetitions.

    The same words on another day or by another speaker are no repetition.
    """

    def __init__(self, question: str | None, messages: Iterable[Candidate]) -> None:
        """Begin with the question and the messages of the list."""
        self._question = plain(question or "")
        self._known: defaultdict[str, set[_Saying]] = defaultdict(set)
        for each in messages:
            self.add(each)

    def repeats(self, candidate: Candidate) -> bool:
        """Return True if a candidate repeats the question, or its speaker's words of that day."""
        words = plain(candidate.text)
        if not words:
            return False
        if words == self._question:
            return True
        known = self._known.get(words)
        return known is not None and candidate.source is Source.CHAT and _saying(candidate) in known

    def add(self, message: Candidate) -> None:
        """Add an entry of the list; only messages count."""
        if message.source is Source.CHAT:
            self._known[plain(message.text)].add(_saying(message))


def _saying(message: Candidate) -> _Saying:
    return message.at.date(), message.role, message.name


def plain(text: str) -> str:
    """Return a text for comparison: in lower case, without marks around it."""
    return text.casefold().strip(_AROUND)


class Change(NamedTuple):
    """Memories that a new message makes superfluous, and those that it shortens."""

    removed: list[Ranked]
    shorter: list[Ranked]


class Selection:
    """Entries taken from a ranking: each message once, verbatim rather than as a memory (R14).

    A message is excluded while a taken memory contains its words. A memory counts only for its text
    that its messages do not contain; without such text, it is removed.
    """

    def __init__(
        self, messages: Iterable[Candidate] = (), speakers: Speakers | None = None
    ) -> None:
        """Take the messages that the reader already has.

        ``speakers``: all possible speakers, if known.
        """
        self._speakers = speakers
        self._messages = {each.key: each for each in messages}
        self._taken: dict[Key, Ranked] = {}
        # The taken memories of each message.
        self._memories: defaultdict[int, dict[Key, None]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._taken)

    def __iter__(self) -> Iterator[Ranked]:
        """Iterate over the entries, in the order of taking."""
        return iter(self._taken.values())

    def has(self, candidate: Candidate) -> bool:
        """Return True if a candidate is a message of the selection."""
        return candidate.source is Source.CHAT and candidate.key in self._messages

    def new_in(self, candidate: Candidate) -> str | None:
        """Return the text of a candidate that is new to the selection; None if there is none."""
        if candidate.source is Source.MEMORY:
            return self._new_lines(candidate)
        if candidate.key in self._messages:
            return None
        memories = self._memories_of(candidate)
        quoted = any(quotes(each.candidate.text, candidate.text) for each in memories)
        return None if quoted else candidate.text

    def entry(self, ranked: Ranked) -> Ranked:
        """Return an entry with its text to show."""
        one = ranked.candidate
        if one.source is Source.CHAT:
            return ranked
        return ranked._replace(candidate=one._replace(text=self._new_lines(one) or ""))

    def take(self, ranked: Ranked) -> Change:
        """Take an entry with new text; return the changes to memories taken before."""
        one = ranked.candidate
        self._taken[ranked.key] = ranked
        change = Change([], [])
        if one.source is Source.MEMORY:
            for seq in one.seqs:
                self._memories[seq][ranked.key] = None
            return change
        self._messages[one.key] = one
        for memory in self._memories_of(one):
            if self._new_lines(memory.candidate) is None:
                change.removed.append(self._taken.pop(memory.key))
            else:
                change.shorter.append(memory)
        return change

    def _memories_of(self, message: Candidate) -> list[Ranked]:
        memories = self._memories.get(message.key, ())
        return [self._taken[key] for key in memories if key in self._taken]

    def _new_lines(self, memory: Candidate) -> str | None:
        known = [self._messages[seq] for seq in memory.seqs if seq in self._messages]
        if memory.seqs and len(known) == len(memory.seqs):
            return None
        return new_lines(memory.text, known, self._speakers) or None if known else memory.text


def best_once(ranked: Iterable[Ranked], limit: int) -> list[Ranked]:
    """Return the best ``limit`` of a ranking, each message once."""
    selection = Selection(speakers=Speakers())  # a memory is shown whole or not at all
    for each in ranked:
        if len(selection) >= limit:
            break
        if selection.new_in(each.candidate) is not None:
            selection.take(each)
    return list(selection)


class TrivialMessages:
    """The trivial messages of a ranking: courtesy, or few characters without a name.

    A possible answer to the previous message, if that was found, is not trivial. Messages are
    checked on request, since most of a ranking is never needed.
    """

    def __init__(self, ranked: Iterable[Ranked] = (), min_length: int = 0) -> None:
        """Take a ranking; ``min_length``: characters, as for ``is_trivial``."""
        self._ranked = ranked
        self._min_length = min_length

    def has(self, ranked: Ranked) -> bool:
        """Return True if an entry of the ranking is trivial."""
        one = ranked.candidate
        if (
            one.source is not Source.CHAT
            or one.key not in self._messages
            or has_many_content_words(one.text)
        ):
            return False
        if not is_trivial(one.text, self._min_length, self._speakers):
            return False
        question = self._messages.get(one.key - 1)
        return question is None or not (can_answer(one.text) and asks_something(question.text))

    @cached_property
    def _messages(self) -> dict[int, Candidate]:
        found = (each.candidate for each in self._ranked)
        return {one.key: one for one in found if one.source is Source.CHAT}

    @cached_property
    def _speakers(self) -> set[str]:
        return {one.name for one in self._messages.values() if one.name}
