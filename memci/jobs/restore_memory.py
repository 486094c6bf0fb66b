"""``memci.memory.restore``: makes a forgotten memory anew from its messages (M24)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memci.domain.job import Job, JobKind
from memci.domain.memory.network_edition import ReplayEvent
from memci.domain.memory.node import NodeEvent, NodeKind
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.passage import ALL, Passage, cut_out, passages
from memci.domain.memory.self_contained_text import worded
from memci.jobs import network_growth
from memci.jobs.changed_facts import ChangedFacts
from memci.jobs.create import MemoryCreation
from memci.language.detection import language_of
from memci.language.near_duplicates import reduce_text, same_reduced_content
from memci.message import Message
from memci.queue.runner import Effect
from memci.smallmodel.ports import TopicSegment
from memci.smallmodel.registry import SmallModels
from memci.smallmodel.vector_space import Vectors
from memci.storage.messages import read_messages
from memci.storage.network.beliefs import supersede, superseded_telling, unsuperseded
from memci.storage.network.edits import is_withheld
from memci.storage.network.network_editions import log_event
from memci.storage.network.node_history import append_history, forgotten_telling, memory_telling
from memci.storage.network.passes import position
from memci.storage.pending_messages import lock_messages
from memci.storage.session import Connection, Database


@dataclass(frozen=True, slots=True)
class OriginalText:
    """The text of a memory when it was made, and the parts of messages that it was made of."""

    text: str
    parts: Sequence[Message]  # cut down to the part; ascending seq


def read_original(
    connection: Connection, agent_id: str, passages: Sequence[Passage]
) -> OriginalText | None:
    """Read the original text of a memory by its passages; None if a message is missing."""
    seqs = {seq for passage in passages for seq in passage.messages}
    stored = {each.seq: each for each in read_messages(connection, agent_id, seqs, whole=True)}
    return original_text(stored, passages) if stored and stored.keys() == seqs else None


def original_text(stored: Mapping[int, Message], passages: Sequence[Passage]) -> OriginalText:
    """Return the original text of a memory from its messages, by seq, and its passages.

    For merged memories (R5), the original texts without repetitions.
    """
    texts = _distinct([_cut_out(stored, passage) for passage in passages])
    parts: dict[int, Message] = {}  # each message once, with all its parts
    for part in (part for each in texts for part in each.parts):
        before = parts.get(part.seq)
        content = f"{before.text}\n{part.text}" if before else part.text
        parts[part.seq] = replace(part, content=content)
    text = "\n".join(each.text for each in texts)
    return OriginalText(text, [parts[seq] for seq in sorted(parts)])


def _cut_out(stored: Mapping[int, Message], passage: Passage) -> OriginalText:
    texts = {seq: stored[seq].text for seq in passage.seqs}
    cut = cut_out(texts, passage.span or ALL)
    parts = [replace(stored[seq], content=part, tool_calls=()) for seq, part in cut.parts.items()]
    question = stored[passage.quoted[0]] if passage.quoted else None
    return OriginalText(worded(cut.text, parts, language_of(cut.text), question), parts)


def _distinct(texts: Sequence[OriginalText]) -> list[OriginalText]:
    """Leave out each text that repeats a longer or equal one, by its reduced content."""
    readings = [reduce_text(each.text) for each in texts]
    kept: list[int] = []
    for index in sorted(range(len(texts)), key=lambda at: -readings[at].content_size):
        if not any(same_reduced_content(readings[index], readings[other]) for other in kept):
            kept.append(index)
    return [texts[index] for index in sorted(kept)]


@dataclass(frozen=True, slots=True)
class MemoryRestoring:
    """Makes a forgotten memory anew: a new node, linked to today's focus.

    The payload: ``node`` is the forgotten one, ``seqs`` are its messages, and the rest are the
    parts of them that it was made of (``details_of``). Erased messages make nothing.
    """

    kind = JobKind.RESTORE
    triggers_compression = True

    database: Database
    models: SmallModels
    defaults: MemoryParameters  # of agents that set none

    def prepare(self, job: Job) -> Effect:
        """Cut the memory's text out of its messages, and run the models on it."""
        return self._think(job.agent_id, job.id, job.payload, replays=False)

    def replay(self, agent_id: str, job_id: UUID, payload: Mapping[str, Any]) -> Effect:
        """Repeat an earlier job of this id and payload, for a network that is rebuilt (M24)."""
        return self._think(agent_id, job_id, payload, replays=True)

    def _think(
        self, agent_id: str, job_id: UUID, payload: Mapping[str, Any], *, replays: bool
    ) -> Effect:
        seqs = tuple(int(seq) for seq in payload["seqs"])
        made_of = passages(seqs, payload)
        with self.database.agent_snapshot(agent_id) as connection:
            original = read_original(connection, agent_id, made_of) or OriginalText("", ())
        models = replace(self.models, segmenter=_Whole())
        thought = MemoryCreation(self.database, models, self.defaults).think(
            agent_id, job_id, lambda _: list(original.parts), wanted=seqs, restored=original.text
        )
        memories = [
            replace(each, segment=replace(each.segment, seqs=seqs, quoted=(), passages=made_of))
            for each in thought.memories
        ]
        return _Effect(thought.growth, memories, thought.changed, dict(payload), replays)


@dataclass(frozen=True, slots=True)
class _Effect:
    growth: network_growth.NetworkGrowth
    memories: list[network_growth.NewMemory]
    changed: ChangedFacts
    payload: dict[str, Any]
    replays: bool

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        growth, seqs = self.growth, self.payload["seqs"]
        stored = lock_messages(connection, growth.agent_id, seqs).stored
        # Another job may have restored it meanwhile, as another node of the same messages.
        living = memory_telling(connection, growth.agent_id, seqs, self._span)
        may = living is None and stored.issuperset(seqs)
        if may and not self.replays:
            may = not is_withheld(connection, growth.agent_id, passages(seqs, self.payload))
        memories = self.memories if may else []
        creation = growth.write(connection, memories)
        places = {each.segment: each.id for each in creation.nodes if each.segment is not None}
        self.changed.write(connection, growth.agent_id, places)
        made = [node.id for node in creation.nodes if node.kind is NodeKind.MEMORY]
        self._stay_superseded(connection, made)
        if not self.replays:
            network_growth.note_created(connection, growth.agent_id, creation, growth.parameters)
        if creation.nodes:
            event = ReplayEvent.RESTORED
            log_event(connection, growth.agent_id, event, growth.job_id, seqs, self.payload)
        self._note(connection, made)
        return {"node": max(made, default=living), **network_growth.creation_counts(creation)}

    @property
    def _span(self) -> Sequence[int] | None:
        return self.payload.get("span")

    def _stay_superseded(self, connection: Connection, made: Sequence[int]) -> None:
        """Supersede the new node if the forgotten one was superseded (R6).

        The memory that superseded it may be forgotten, too.
        """
        agent_id, seqs = self.growth.agent_id, self.payload["seqs"]
        was = superseded_telling(connection, agent_id, seqs, self._span)
        if was is not None:
            nodes = unsuperseded(connection, agent_id, made)
            supersede(connection, agent_id, nodes, by=was.by, until=was.until)

    def _note(self, connection: Connection, made: Sequence[int]) -> None:
        """Write the restoring into the history of both nodes, the forgotten one and the new one.

        In a rebuilt network the forgotten one has another id, found by its messages.
        """
        agent_id, job, old = self.growth.agent_id, str(self.growth.job_id), self.payload["node"]
        _, pass_number = position(connection, agent_id)
        for new in made:
            forgotten = {old}
            if self.replays:
                seqs = self.payload["seqs"]
                forgotten.update(forgotten_telling(connection, agent_id, seqs, self._span))
            details = {each: {"as": new, "job": job} for each in forgotten}
            details[new] = {"of": old, "job": job}
            append_history(connection, agent_id, NodeEvent.RESTORED, pass_number, details)


class _Whole:
    """A segmenter that cuts nothing: a restored memory is one segment already."""

    def segment(self, messages: Sequence[Message], vectors: Vectors) -> list[TopicSegment]:
        """Return all texts as one segment."""
        del vectors  # nothing to compare
        text = "\n".join(message.text for message in messages)
        return [TopicSegment(text, tuple(each.seq for each in messages), language_of(text))]
