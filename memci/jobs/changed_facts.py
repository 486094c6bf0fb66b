"""Which facts new messages end, and which of their own facts are over already (R6).

Candidates are the memories most like a new message, the last one of its session, and those of
messages before it in the same job. A model reads each with the message. If what people told in a
memory is ended, the other memory supersedes it; if it tells more, the ended parts are noted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Self

from memci.domain.memory.changed_facts import EndedFacts, ended_facts
from memci.domain.memory.creation import Creation
from memci.domain.memory.self_contained_text import speaker_name
from memci.jobs.segments import Segments
from memci.language.clauses import label_of
from memci.message import Message, Role
from memci.smallmodel.ports import ReadSentence
from memci.smallmodel.registry import SmallModels
from memci.storage.network import beliefs, nodes
from memci.storage.network.beliefs import Comparable, EndedPart
from memci.storage.search.index import nearest_nodes
from memci.storage.session import Connection

# Memories, and segments before it in the job, that a new sentence is read with.
_NEAREST = 2
# How likely a sentence must tell more than a remark, so that its message is read.
_TOLD = 0.4
_TOLD_WORTHS = ("fact", "life", "vital")
_MOST = 2  # sentences of a message


class _Text(NamedTuple):
    """A text that may end facts, or whose facts may be ended."""

    node: int | None  # the living memory; None: the segment's, which is made now
    segment: int
    text: str  # with its speaker
    said_at: datetime
    user_id: str | None
    seqs: tuple[int, ...]

    def memory(self, made: Mapping[int, int]) -> int | None:
        """Return the memory's node; ``made``: those of the segments, as far as they were made."""
        return self.node or made.get(self.segment)


@dataclass(frozen=True, slots=True)
class ChangedFacts:
    """Pairs of an older and a newer text, with what of the older one is ended."""

    found: Sequence[tuple[_Text, _Text, EndedFacts]]

    @classmethod
    def find(
        cls, connection: Connection, agent_id: str, models: SmallModels, cut: Segments
    ) -> Self:
        """Read the new messages of people with what they may change, or what may change them."""
        new = _new_texts(models, cut)
        if not new:
            return cls(())
        pairs = list(_pairs(connection, agent_id, models.embedder.model, cut, new))
        spans = models.changes.ended([(older.text, newer.text) for older, newer in pairs])
        found = []
        for (older, newer), ended in zip(pairs, spans, strict=True):
            facts = ended_facts(older.text, ended)
            if facts is not None:
                found.append((older, newer, facts))
        return cls(found)

    def write(self, connection: Connection, agent_id: str, creation: Creation) -> int:
        """Write what ended in memories that live; return how many are superseded by that."""
        made = {node.segment: node.id for node in creation.nodes if node.segment is not None}
        named = [
            (older.memory(made), newer.memory(made), older, newer, facts)
            for older, newer, facts in sorted(self.found, key=lambda each: each[1].said_at)
        ]
        ids = {each for older, newer, *_ in named for each in (older, newer) if each is not None}
        living = beliefs.living(connection, agent_id, ids)
        count = 0
        for old, new, older, newer, facts in named:
            if old not in living or new not in living or old == new or old is None or new is None:
                continue
            part = EndedPart(old, new, newer.seqs[-1], older.seqs, facts.parts, newer.said_at)
            count += beliefs.end(connection, agent_id, part, whole=facts.whole)
        return count


def _new_texts(models: SmallModels, cut: Segments) -> list[_Text]:
    """Return the sentences in which people tell facts, at most two of a message."""
    parts = [
        (index, message) for index, own in enumerate(cut.parts) for message in own if tells(message)
    ]
    read = models.sentences.read([message for _, message in parts])
    found = []
    for (index, message), sentences in zip(parts, read, strict=True):
        told = [each for each in sentences if _worth(each) >= _TOLD]
        for each in sorted(told, key=_worth)[-_MOST:]:
            text = message.text[each.start : each.stop]
            found.append(_text(index, message, text, cut))
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
    said = next(message for message in cut.parts[index] if tells(message))
    text = segment.text
    if not label_of(text, 0, len(text)):
        text = f"{speaker_name(said, segment.language)}: {text}"
    return _Text(None, index, text, segment.said_at, segment.user_id, segment.seqs)


def _pairs(
    connection: Connection, agent_id: str, model: str, cut: Segments, new: Sequence[_Text]
) -> Iterator[tuple[_Text, _Text]]:
    """Yield (older, newer) texts that one user may know; an older one is a whole memory."""
    indexes = sorted({each.segment for each in new})
    vectors = {index: cut.vectors[index] for index in indexes}
    near = dict(
        zip(
            indexes,
            nearest_nodes(connection, agent_id, cut.vectors[indexes], model, _NEAREST),
            strict=True,
        )
    )
    last = nodes.last_memories(
        connection, agent_id, {cut.segments[each].session_id for each in indexes}
    )
    asked = {node for found in near.values() for node in found} | set(last.values())
    known = beliefs.comparable(connection, agent_id, asked)
    for text in new:
        index = text.segment
        ids = dict.fromkeys([*near[index], last.get(cut.segments[index].session_id, 0)])
        before = [each for each in indexes if each < index]
        before.sort(key=lambda each: -float(vectors[each] @ vectors[index]))
        others = [_stored(known[node]) for node in ids if node in known]
        others += [_segment_text(each, cut) for each in before[:1]]
        for other in others:
            if other.user_id != text.user_id:
                continue
            if (other.said_at, other.seqs) <= (text.said_at, text.seqs):
                yield other, text
            else:
                yield _segment_text(index, cut), other


def _stored(memory: Comparable) -> _Text:
    text = memory.content
    if not label_of(text, 0, len(text)):
        text = f"{speaker_name(None, memory.language)}: {text}"
    return _Text(memory.id, -1, text, memory.said_at, memory.user_id, memory.seqs)
