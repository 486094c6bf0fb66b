"""``memci.memory.restore``: makes a forgotten memory anew from its messages (M24)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memci.domain.job import Job, JobKind
from memci.domain.memory.edition import ReplayEvent
from memci.domain.memory.node import NodeEvent, NodeKind
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.passage import Passage, Span, cut_out, passages
from memci.domain.memory.wording import worded
from memci.jobs.create import MemoryCreation
from memci.jobs.network_growth import Growth, Thought, note_created, numbers_of
from memci.jobs.supersession import Beliefs
from memci.language.detection import language_of
from memci.language.near_duplicates import reduce_text, same_reduced_content
from memci.message import Message
from memci.queue.runner import Effect
from memci.smallmodel.ports import TopicSegment, Vectors
from memci.smallmodel.registry import SmallModels
from memci.storage.memory_state import lock_messages
from memci.storage.messages import read_messages
from memci.storage.network.beliefs import supersede, superseded_telling, unsuperseded
from memci.storage.network.editions import log_event
from memci.storage.network.node_history import (
    append_history,
    forgotten_telling,
    memory_telling,
)
from memci.storage.network.passes import position
from memci.storage.session import Connection, Database

_ALL = 2**62


@dataclass(frozen=True, slots=True)
class Retelling:
    """What was told, and of what: messages cut down to what was taken of them, ascending seq."""

    text: str
    parts: Sequence[Message]


def retold(connection: Connection, agent_id: str, passages: Sequence[Passage]) -> Retelling | None:
    """Return what a memory of these passages told; None: not all their messages are there."""
    seqs = {seq for passage in passages for seq in passage.messages}
    said = {each.seq: each for each in read_messages(connection, agent_id, sorted(seqs))}
    return retelling(said, passages) if said and said.keys() == seqs else None


def retelling(said: Mapping[int, Message], passages: Sequence[Passage]) -> Retelling:
    """Return what a memory of these passages told, given their messages by seq.

    Of those that were merged into one, what none of the others says (R5): as they were when they
    were made, not shortened as they may have been when they were merged.
    """
    told = list(_distinct([_retold(said, passage) for passage in passages]))
    return Retelling("\n".join(each.text for each in told), _together(each.parts for each in told))


def _retold(said: Mapping[int, Message], passage: Passage) -> Retelling:
    texts = {seq: said[seq].text for seq in passage.seqs}
    stretch = cut_out(texts, passage.span or Span(0, _ALL))
    parts = [replace(said[seq], content=part, tool_calls=()) for seq, part in stretch.parts.items()]
    question = said[passage.quoted[0]] if passage.quoted else None
    return Retelling(worded(stretch.text, parts, language_of(stretch.text), question), parts)


def _distinct(told: Sequence[Retelling]) -> Iterator[Retelling]:
    """Leave out what another says as well or with more stress; of equals the first stays.

    What was merged by a rule that took more for the same is told all.
    """
    readings = [reduce_text(each.text) for each in told]
    kept: list[int] = []
    for place in sorted(range(len(told)), key=lambda at: -readings[at].content_size):
        if not any(same_reduced_content(readings[place], readings[other]) for other in kept):
            kept.append(place)
    return (told[place] for place in sorted(kept))


def _together(parts: Iterable[Sequence[Message]]) -> list[Message]:
    """Return each message once, with all that was taken of it."""
    taken: dict[int, Message] = {}
    for each in (part for some in parts for part in some):
        before = taken.get(each.seq)
        text = f"{before.text}\n{each.text}" if before else each.text
        taken[each.seq] = replace(each, content=text)
    return [taken[seq] for seq in sorted(taken)]


class MemoryRestoring:
    """Makes the memory that the payload tells of anew: a new node, linked to today's focus.

    ``node`` is the forgotten one, ``seqs`` its messages, and the rest what of them it was made of
    (``details_of``; absent: all of it). Erased messages make nothing.
    """

    kind = JobKind.RESTORE
    triggers_compression = True

    def __init__(self, database: Database, models: SmallModels, defaults: MemoryParameters) -> None:
        """Take the parameters of agents that set none."""
        self._database = database
        self._creation = MemoryCreation(database, replace(models, segmenter=_Whole()), defaults)

    def prepare(self, job: Job) -> Effect:
        """Cut the memory's text out of its messages, and think about it."""
        return self._think(job.agent_id, job.id, job.payload, again=False)

    def again(self, agent_id: str, job_id: UUID, payload: Mapping[str, Any]) -> Effect:
        """Do so as an earlier job of this id and payload did, for a rebuilt network (M24)."""
        return self._think(agent_id, job_id, payload, again=True)

    def _think(
        self, agent_id: str, job_id: UUID, payload: Mapping[str, Any], *, again: bool
    ) -> Effect:
        seqs = tuple(int(seq) for seq in payload["seqs"])
        made_of = passages(seqs, payload)
        with self._database.agent_snapshot(agent_id) as connection:
            telling = retold(connection, agent_id, made_of) or Retelling("", ())
        growth, _, thoughts, _, beliefs = self._creation.think(
            agent_id, job_id, lambda _: list(telling.parts), wanted=seqs, told=telling.text
        )
        thoughts = [_made_of(thought, seqs, made_of) for thought in thoughts]
        return _Effect(growth, thoughts, dict(payload), beliefs, again)


@dataclass(frozen=True, slots=True)
class _Effect:
    growth: Growth
    thoughts: list[Thought]
    payload: dict[str, Any]
    beliefs: Beliefs
    again: bool

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        growth, seqs = self.growth, self.payload["seqs"]
        stored = lock_messages(connection, growth.agent_id, seqs).stored
        # Another job may have restored it meanwhile, asked for by the id of a twin of the node.
        living = memory_telling(connection, growth.agent_id, seqs, self._span)
        thoughts = self.thoughts if living is None and stored.issuperset(seqs) else []
        creation = growth.write(connection, thoughts)
        self.beliefs.write(connection, growth.agent_id, creation)
        made = [node.id for node in creation.nodes if node.kind is NodeKind.MEMORY]
        self._stay_superseded(connection, made)
        if not self.again:
            note_created(connection, growth.agent_id, creation, growth.parameters)
        if creation.nodes:
            event = ReplayEvent.RESTORED
            log_event(connection, growth.agent_id, event, growth.job_id, seqs, self.payload)
        self._note(connection, made)
        return {"node": max(made, default=living), **numbers_of(creation)}

    @property
    def _span(self) -> Sequence[int] | None:
        return self.payload.get("span")

    def _stay_superseded(self, connection: Connection, made: Sequence[int]) -> None:
        """What was no longer believed when it was forgotten is not believed again (R6).

        That goes for what is known to be older: the one that superseded it may be forgotten too,
        and claims nothing any more.
        """
        agent_id, seqs = self.growth.agent_id, self.payload["seqs"]
        was = superseded_telling(connection, agent_id, seqs, self._span)
        if was is not None:
            _, pass_number = position(connection, agent_id)
            supersede(
                connection,
                agent_id,
                unsuperseded(connection, agent_id, made),
                by=was.by,
                until=was.until,
                pass_number=pass_number,
            )

    def _note(self, connection: Connection, made: Sequence[int]) -> None:
        """Note on both nodes, the forgotten one and the new one, which is which.

        In a rebuilt network the forgotten one has another id, of which its links tell.
        """
        agent_id, job, old = self.growth.agent_id, str(self.growth.job_id), self.payload["node"]
        _, pass_number = position(connection, agent_id)
        for new in made:
            gone = {old}
            if self.again:
                seqs = self.payload["seqs"]
                gone.update(forgotten_telling(connection, agent_id, seqs, self._span))
            told = {each: {"as": new, "job": job} for each in gone}
            told[new] = {"of": old, "job": job}
            append_history(connection, agent_id, NodeEvent.RESTORED, pass_number, told)


class _Whole:
    """Cuts nothing: what is restored is one segment already."""

    def segment(self, messages: Sequence[Message], vectors: Vectors) -> list[TopicSegment]:
        """Return all texts as one segment."""
        del vectors  # nothing to compare
        text = "\n".join(message.text for message in messages)
        return [TopicSegment(text, tuple(each.seq for each in messages), language_of(text))]


def _made_of(thought: Thought, seqs: tuple[int, ...], passages: tuple[Passage, ...]) -> Thought:
    """Return it with what it was made of, as it was known when it was made."""
    return replace(
        thought, segment=replace(thought.segment, seqs=seqs, quoted=(), passages=passages)
    )
