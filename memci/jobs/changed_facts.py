"""Which facts new messages end, and which of their own facts are over already (R6).

Candidates are the memories of facts most like a new message, those of the same job included. A
model reads each with the facts that the message tells. If what people told in a memory is ended,
the other memory supersedes it; if it tells more, the ended parts are noted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Self

import numpy as np

from memci.domain.memory.changed_facts import EndedFacts, ended_facts
from memci.domain.memory.self_contained_text import speaker_name
from memci.jobs.segments import Segments
from memci.language.clauses import label_of
from memci.language.detection import Language
from memci.message import Message, Role
from memci.smallmodel.ports import ChangeReader, ReadSentence, TextPair
from memci.storage.network import beliefs
from memci.storage.network.beliefs import LEAST_WORTH, Comparable, EndedPart
from memci.storage.network.nodes import phrases_of
from memci.storage.session import Connection

# Memories that a new message is compared with, those of the same job included; and how many of an
# agent's nearest are considered: some are other users', or hold no more.
NEAREST, CONSIDERED = 3, 12
# Compared memories that hold no more.
_OVER = 2
# How likely a sentence must tell more than a remark, so that its message is read.
_TOLD = 0.4
_TOLD_WORTHS = ("fact", "life", "vital")
_MOST = 3  # sentences of a message


class _Text(NamedTuple):
    """A text that may end facts, or whose facts may be ended."""

    node: int | None  # the living memory; None: the segment's, which is made now
    segment: int
    text: str  # with its speaker
    said_at: datetime
    user_id: str | None
    seqs: tuple[int, ...]
    news: float = 0.5  # how likely it ends anything; a memory's is not known

    def bits(self, known: Mapping[int, bytes]) -> tuple[bytes, ...]:
        """Return the bits of each message's tokens, empty where none are known."""
        return tuple(known.get(seq, b"") for seq in self.seqs)

    def memory(self, made: Mapping[int, int]) -> int | None:
        """Return the memory's node; ``made``: those of the segments, as far as they were made."""
        return self.node or made.get(self.segment)


@dataclass(frozen=True, slots=True)
class ChangedFacts:
    """Pairs of an older and a newer text, with what of the older one is ended."""

    found: Sequence[tuple[_Text, _Text, EndedFacts]]

    @classmethod
    def find(
        cls,
        reader: ChangeReader,
        cut: Segments,
        near: Sequence[Mapping[int, float]],
        known: Mapping[int, Comparable],
        bits: Mapping[int, bytes],
    ) -> Self:
        """Read the new messages of people with what they may change, or what may change them.

        ``near``: of each segment the memory nodes most similar to it, with cosines; ``known``:
        those of them that can be compared; ``bits``: of the tokens of messages, by seq (E8).
        """
        new = _new_texts(cut)
        pairs = list(dict.fromkeys(_pairs(cut, new, near, known)))
        spans = reader.ended(
            [
                TextPair(older.text, newer.text, older.bits(bits), newer.bits(bits), newer.news)
                for older, newer in pairs
            ]
        )
        found = []
        for (older, newer), ended in zip(pairs, spans, strict=True):
            facts = ended_facts(older.text, ended)
            if facts is not None:
                found.append((older, newer, facts))
        return cls(found)

    def write(self, connection: Connection, agent_id: str, made: Mapping[int, int]) -> int:
        """Write what ended in memories that live; return how many are superseded by that.

        ``made``: the nodes of those segments that became memories, by place.
        """
        named = [
            (older.memory(made), newer.memory(made), older, newer, facts)
            for older, newer, facts in sorted(self.found, key=lambda each: each[1].said_at)
        ]
        ids = {each for older, newer, *_ in named for each in (older, newer) if each is not None}
        living = phrases_of(connection, agent_id, ids)
        count = 0
        for old, new, older, newer, facts in named:
            if old not in living or new not in living or old == new or old is None or new is None:
                continue
            part = EndedPart(old, new, newer.seqs[-1], older.seqs, facts.parts, newer.said_at)
            count += beliefs.end(connection, agent_id, part, whole=facts.whole)
        return count


def _new_texts(cut: Segments) -> list[_Text]:
    """Return the sentences of each message in which people tell facts."""
    parts = ((index, part) for index, own in enumerate(cut.parts) for part in own)
    found = []
    for index, (message, sentences) in parts:
        if not tells(message):
            continue
        told = sorted((each for each in sentences if _worth(each) >= _TOLD), key=_worth)[-_MOST:]
        told.sort(key=lambda each: each.start)
        if told:
            gap = " " if cut.segments[index].language is Language.ENGLISH else ""
            text = gap.join(message.text[each.start : each.stop].strip() for each in told)
            news = max(each.news for each in told)
            found.append(_text(index, message, text, cut)._replace(news=news))
    return found


def _worth(sentence: ReadSentence) -> float:
    """Return how likely a sentence tells more than a remark."""
    return sum(sentence.worths[name] for name in _TOLD_WORTHS)


def tells(message: Message) -> bool:
    """Return True for messages of people, and notes of the agent."""
    if not message.text.strip() or message.role in {Role.SYSTEM, Role.TOOL}:
        return False
    return message.role is Role.USER or bool(message.name) or message.is_note


def _text(index: int, message: Message, text: str, cut: Segments) -> _Text:
    label = f"{speaker_name(message, cut.segments[index].language)}: "
    seqs = (message.seq,)
    return _Text(None, index, label + text, message.said_at, message.user_id, seqs)


def _segment_text(index: int, cut: Segments) -> _Text:
    segment = cut.segments[index]
    said = next(part.message for part in cut.parts[index] if tells(part.message))
    text = _labelled(segment.text, speaker_name(None if said.is_note else said, segment.language))
    return _Text(None, index, text, segment.said_at, segment.user_id, segment.seqs)


def _labelled(text: str, name: str) -> str:
    """Return a text with its speaker, unless a label or a quoted question begins it."""
    return text if label_of(text, 0, len(text)) or text.startswith("[") else f"{name}: {text}"


def _pairs(
    cut: Segments,
    new: Sequence[_Text],
    near: Sequence[Mapping[int, float]],
    known: Mapping[int, Comparable],
) -> Iterator[tuple[_Text, _Text]]:
    """Yield (older, newer) texts that one user may know; an older one is a memory of facts."""
    telling = sorted(
        {each.segment for each in new if cut.segments[each.segment].worth >= LEAST_WORTH}
    )
    for text in new:
        index, user = text.segment, text.user_id
        stored = [node for node in near[index] if node in known and known[node].user_id == user]
        current = [node for node in stored if known[node].is_current]
        over = [_stored(known[node]) for node in stored if not known[node].is_current]
        others = [(near[index][node], _stored(known[node])) for node in current[:NEAREST]]
        before = [at for at in telling if at < index and cut.segments[at].user_id == user]
        likeness = cut.vectors[before] @ cut.vectors[index]
        others += [
            (float(likeness[at]), _segment_text(before[at], cut))
            for at in np.argsort(-likeness)[:NEAREST].tolist()
        ]
        others.sort(key=lambda each: -each[0])
        # What is superseded may be so earlier, or again if the other memory is erased.
        for other in [*(each for _, each in others[:NEAREST]), *over[:_OVER]]:
            if (other.said_at, other.seqs) <= (text.said_at, text.seqs):
                yield other, text
            elif index in telling:
                yield _segment_text(index, cut), other


def _stored(memory: Comparable) -> _Text:
    text = _labelled(memory.content, speaker_name(None, memory.language))
    return _Text(memory.id, -1, text, memory.said_at, memory.user_id, memory.seqs)
