"""Nothing stands twice: memories and their messages, equal words, small talk (R11, R14).

A memory repeats its messages and adds a little (R4): who speaks, the date beside an expression of
time, the question that an answer depends on. None of that makes the same words new.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property
from typing import NamedTuple, TypeAlias

from memci.domain.memory.wording import labels
from memci.domain.search.candidate import KEPT, Candidate, Key, Source
from memci.domain.search.highlight import NOBODY, Speakers, add_colon_space, label_for, line_at
from memci.domain.search.ranking import Ranked, by_rank
from memci.domain.session.plan import steps_listed
from memci.language.small_talk import asks_something, can_answer, has_many_content_words, is_trivial
from memci.language.times import remove_date_notes
from memci.message import Role

# What the best memory adds to the score of its messages, and how near the best of them must come.
_MEMORY_BONUS = 0.1
_NEARLY = 0.5


def join_memories(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Let memories add to the score of their messages, and leave the room to them.

    Verbatim beats node (R14): where a message of a memory was found, its words are shown. The
    memory stays a hit if none of its messages was found nearly as well.
    """
    memories = [each for each in ranked if each.candidate.source is Source.MEMORY]
    if not memories:
        return list(ranked)
    messages = {each.candidate.key: each for each in ranked if each.candidate.source is Source.CHAT}
    best: dict[int, Ranked] = {}  # by message, the best memory of it
    for each in sorted(memories, key=by_rank, reverse=True):
        best.update(dict.fromkeys(each.candidate.seqs, each))
    top = max(each.score for each in memories)
    joined = [_with_bonus(each, best.get(seq), top) for seq, each in messages.items()]
    for each in ranked:
        source = each.candidate.source
        if source is Source.MEMORY:
            scores = (messages[seq].score for seq in each.candidate.seqs if seq in messages)
            if max(scores, default=0.0) < _NEARLY * each.score:
                joined.append(each)
        elif source is not Source.CHAT:
            joined.append(each)
    return sorted(joined, key=by_rank)


def _with_bonus(message: Ranked, memory: Ranked | None, top: float) -> Ranked:
    if memory is None or top <= 0:
        return message
    candidate = message.candidate._replace(memory=memory.candidate.key)
    return Ranked(candidate, message.score + _MEMORY_BONUS * memory.score / top, message.ranks)


def fused_score(ranked: Ranked) -> float:
    """Return how well something was found, where the scores of channels were summed."""
    return ranked.score


def lexical_score(ranked: Ranked) -> float:
    """Return how well something was found, where ranks were summed: they hardly differ.

    Pages, summaries, pins and steps are found by their words alone.
    """
    return ranked.candidate.lexical or 0.0


def without_repeated(
    ranked: Sequence[Ranked], score: Callable[[Ranked], float] = fused_score
) -> list[Ranked]:
    """Leave out pages, summaries, pins and steps of a plan if messages say the same (R14).

    They stay hits if none of their messages has nearly their ``score``, or if they have none. A
    message that lists a plan makes room for the steps of the plan, which say how far they are.
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
        least = _NEARLY * score(one)
        return any(
            score(each) >= least and _is_about(one.candidate, each.candidate) for each in messages
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
    """Return the lines of a memory that say what none of the messages says.

    Compression leaves words out of a sentence, and never changes their order or adds any: the rest
    is found again in a line of its message. Lines without a word go with the line above them. If
    the line that names the speaker goes, the next line that stays names the speaker instead.
    ``speakers``: all who may have spoken; None: those of the messages.
    """
    messages = list(messages)
    known = [words for each in messages for words in _lines(each)]
    speakers = speakers or Speakers(each.name for each in messages)
    voices = speakers.in_memory(text)
    kept: list[str] = []
    keeping, above, voice, start = True, NOBODY, NOBODY, 0
    for line in text.split("\n"):
        sentences = _SENTENCE_END.split(remove_date_notes(line))
        parts = [words for each in sentences if (words := words_of(each))]
        if parts:
            keeping = not all(any(_contains(each, words) for each in known) for words in parts)
        named = line_at(voices, start, start + len(line))
        if named:
            # What a message contains together with its label is text of the message: no name.
            voice = named.voice if keeping else named.voice._replace(other="")
        if keeping:
            label = label_for(voice, above, labelled=named is not None)
            kept += [label, line] if label and named else [add_colon_space(label) + line]
            above = voice
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
    """Yield the words of each line of a message, after those that name who says it."""
    named = words_of(" ".join(labels(message.role, message.name)))
    for line in message.text.splitlines():
        if words := words_of(line):
            yield named + words


def _contains(line: Sequence[str], words: Sequence[str]) -> bool:
    """Return True if all these words are in the line, in their order."""
    rest = iter(line)
    return all(word in rest for word in words)


# Who said something, and on which day.
_Saying: TypeAlias = tuple[date, Role | None, str | None]

_AROUND = " \t\n.,!?…。，！？"


class KnownMessages:
    """The question and the messages of a list, so that no message stands there twice.

    Said again on another day, or by somebody else, it is something else that happened.
    """

    def __init__(self, question: str | None, messages: Iterable[Candidate]) -> None:
        """Begin with the question and the messages that are in the list already."""
        self._question = plain(question or "")
        self._known: defaultdict[str, set[_Saying]] = defaultdict(set)
        for each in messages:
            self.add(each)

    def repeats(self, candidate: Candidate) -> bool:
        """Return True if it asks the question again, or says what its speaker said that day."""
        words = plain(candidate.text)
        if not words:
            return False
        if words == self._question:
            return True
        known = self._known.get(words)
        return known is not None and candidate.source is Source.CHAT and _saying(candidate) in known

    def add(self, message: Candidate) -> None:
        """Add what is in the list; only messages count."""
        if message.source is Source.CHAT:
            self._known[plain(message.text)].add(_saying(message))


def _saying(message: Candidate) -> _Saying:
    return message.at.date(), message.role, message.name


def plain(text: str) -> str:
    """Return a text as it is compared: in lower case, without marks around it."""
    return text.casefold().strip(_AROUND)


class Change(NamedTuple):
    """Memories that another message makes superfluous, and those it only makes shorter."""

    gone: list[Ranked]
    shorter: list[Ranked]


class Selection:
    """What is taken from a ranking: each message once, word for word before a memory of it (R14).

    A message stays out while a memory that was taken contains its words. Of a memory only what its
    messages do not say themselves is worth the room; if there is nothing of that, it goes.
    """

    def __init__(
        self, messages: Iterable[Candidate] = (), speakers: Speakers | None = None
    ) -> None:
        """Take the messages that the reader has already.

        ``speakers``: all who may have spoken, if that is known.
        """
        self._speakers = speakers
        self._messages = {each.key: each for each in messages}
        self._taken: dict[Key, Ranked] = {}
        # By message, the memories of it that were taken.
        self._memories: defaultdict[int, dict[Key, None]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._taken)

    def __iter__(self) -> Iterator[Ranked]:
        """Iterate over what is taken, in the order of taking."""
        return iter(self._taken.values())

    def taken(self, key: Key) -> Ranked | None:
        """Return one as it was taken, whole or shortened; None: it is not there, or has gone."""
        return self._taken.get(key)

    def has(self, candidate: Candidate) -> bool:
        """Return True if it is a message that is there."""
        return candidate.source is Source.CHAT and candidate.key in self._messages

    def new_in(self, candidate: Candidate) -> str | None:
        """Return what it says that is not there yet; None if nothing."""
        if candidate.source is Source.MEMORY:
            return self._new_lines(candidate)
        if candidate.key in self._messages:
            return None
        memories = self._memories_of(candidate)
        quoted = any(quotes(each.candidate.text, candidate.text) for each in memories)
        return None if quoted else candidate.text

    def entry(self, ranked: Ranked) -> Ranked:
        """Return one that is taken with the text to show."""
        one = ranked.candidate
        if one.source is Source.CHAT:
            return ranked
        return ranked._replace(candidate=one._replace(text=self._new_lines(one) or ""))

    def take(self, ranked: Ranked) -> Change:
        """Take one that says something new; return what it changes about memories taken before.

        What was taken in a shortened form may be taken again as it was.
        """
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
                change.gone.append(self._taken.pop(memory.key))
            else:
                change.shorter.append(memory)
        return change

    def _memories_of(self, message: Candidate) -> list[Ranked]:
        memories = self._memories.get(message.key, ())
        return [self._taken[key] for key in memories if key in self._taken]

    def _new_lines(self, memory: Candidate) -> str | None:
        there = [self._messages[seq] for seq in memory.seqs if seq in self._messages]
        if memory.seqs and len(there) == len(memory.seqs):
            return None
        return new_lines(memory.text, there, self._speakers) or None if there else memory.text


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
    """The messages of a ranking that are courtesy, or name nothing in a few characters.

    A message that may answer the question before it, found as well, is none. Each message is looked
    at when it is asked for, since most of a ranking is never needed.
    """

    def __init__(self, ranked: Iterable[Ranked] = (), min_length: int = 0) -> None:
        """Take a ranking; ``min_length``: characters, as for ``is_trivial``."""
        self._ranked = ranked
        self._min_length = min_length

    def has(self, ranked: Ranked) -> bool:
        """Return True if one of the ranking is filler."""
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
