"""``memci.memory.restore``: a forgotten memory is made anew from its raw messages (M24)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memci.domain.lane.job import Job
from memci.domain.language import language_of
from memci.domain.memory.node import NodeKind
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.passage import Passage, passages
from memci.domain.memory.replay import ReplayEvent
from memci.domain.message import Message
from memci.jobs.beliefs import Beliefs
from memci.jobs.create import MemoryCreation
from memci.jobs.growth import Growth, Thought, numbers_of
from memci.jobs.retelling import Retelling, retold
from memci.jobs.short_terms import note_created
from memci.queue.handler import Effect
from memci.queue.steps import RESTORE_KIND
from memci.smallmodel.ports import TopicSegment, Vectors
from memci.smallmodel.registry import SmallModels
from memci.storage.beliefs import superseded_telling, unsuperseded
from memci.storage.memory_state import lock_messages
from memci.storage.origins import forgotten_telling, memory_telling
from memci.storage.passes import position
from memci.storage.replay_log import log_event
from memci.storage.session import Connection, Database
from memci.storage.trail import TrailEvent, append_trail
from memci.storage.versions import supersede


class MemoryRestoring:
    """Makes the memory that the payload tells of anew: a new node, linked to today's focus.

    ``node`` is the forgotten one, ``seqs`` its messages, and the rest what of them it was made of
    (``details_of``; absent: all of it). Erased messages make nothing.
    """

    kind = RESTORE_KIND
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
            append_trail(connection, agent_id, TrailEvent.RESTORED, pass_number, told)


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
