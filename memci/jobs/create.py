"""``memci.memory.create``: messages become memories (M2 to M10)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, Self
from uuid import UUID

from memci.domain.job import Job, JobKind
from memci.domain.memory.creation import AnnotatedSegment, Creation, Focus, attend, joined_with
from memci.domain.memory.edition import ReplayEvent
from memci.domain.memory.message_filter import FilterReason, MemoryState, reach
from memci.domain.memory.node import NodeTier, relation_names
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.tier import tier_of
from memci.errors import SmallModelAnswerError
from memci.jobs.message_filter import echoes_among, refusals
from memci.jobs.message_texts import MessageTexts, VectorGuard, terms_of
from memci.jobs.network_growth import Growth, Thought, note_created, numbers_of
from memci.jobs.segments import Background, Segments, annotated_segments, is_long, tells
from memci.jobs.supersession import Beliefs
from memci.jobs.track import is_to_track
from memci.language.detection import Language
from memci.language.worth import Judgement
from memci.message import Message, Remember, Role
from memci.queue import mailbox
from memci.queue.job_requests import request_naming
from memci.queue.runner import Effect
from memci.smallmodel.registry import SmallModels
from memci.storage.agents import parameters_of
from memci.storage.memory_state import handed_messages, lock_messages, mark_memory
from memci.storage.messages import read_messages, receipt_times
from memci.storage.network.editions import log_event
from memci.storage.network.links import focus_of
from memci.storage.search_index import Embedded, message_vectors, nearest_nodes
from memci.storage.session import Connection, Database

_HIGHEST = 10.0


def tiered(
    segments: Sequence[AnnotatedSegment],
    judgements: Sequence[Judgement],
    received: Mapping[int, datetime],
    parameters: MemoryParameters,
    lasting: Collection[int] = (),
) -> list[AnnotatedSegment]:
    """Put each segment into its tier, with its worth; what the judge answers is cut to its limits.

    ``received``: when messages came in, by seq. What was made of ``lasting`` ones alone is meant to
    last, whatever the judge says.
    """
    placed = []
    for segment, judgement in zip(segments, judgements, strict=True):
        newest = max(received[seq] for seq in segment.seqs)
        # In this order a worth that is no number is none.
        worth = min(max(0.0, judgement.worth), _HIGHEST)
        tier, expires_at = tier_of(worth, newest, parameters, eligible=judgement.eligible)
        if set(segment.seqs).issubset(lasting):
            tier, expires_at = NodeTier.LONG, None
        placed.append(replace(segment, worth=worth, tier=tier, expires_at=expires_at))
    return placed


JobKind.CREATE = "memci.memory.create"
_LONGEST_RELATION = 32


class Thinking(NamedTuple):
    """What came of thinking about messages, and why some were refused (R2)."""

    growth: Growth
    texts: MessageTexts
    thoughts: list[Thought]
    refused: Mapping[int, FilterReason]
    beliefs: Beliefs


class MemoryCreation:
    """Makes memories of the messages from the job's first to its last seq.

    The payload may hold ``remember``, and only messages that were appended so are taken; or
    ``seqs``, and only these are: those that it calls ``wanted`` pass every filter (R2). Messages
    with ``never`` are not taken in any case, nor are those of which memory was already made.
    """

    kind = JobKind.CREATE
    triggers_compression = True

    def __init__(self, database: Database, models: SmallModels, defaults: MemoryParameters) -> None:
        """Take the parameters of agents that set none."""
        self._database = database
        self._models = models
        self._defaults = defaults
        self._guard = VectorGuard(database, models.embedder)

    def prepare(self, job: Job) -> Effect:
        """Read the messages and think about them; the effect writes what came of it."""

        def handed(connection: Connection) -> list[Message]:
            only = job.payload.get("seqs")
            return handed_messages(connection, job.agent_id, _range(job), _remember(job), only)

        wanted = job.payload.get("wanted", ())
        thinking = self.think(job.agent_id, job.id, handed, wanted=wanted)
        return _Effect(*thinking, wanted=wanted, tells=is_to_track(thinking.texts.messages))

    def again(
        self, agent_id: str, job_id: UUID, seqs: Sequence[int], details: Mapping[str, Any]
    ) -> Effect:
        """Think about messages as an earlier job did, for a network that is rebuilt (M24).

        It makes nothing of those that were refused then, as ``details`` tell. What is noted on
        the messages stays as it is.
        """
        taken = partial(read_messages, agent_id=agent_id, seqs=seqs)
        refused = {int(seq): FilterReason(why) for seq, why in details.get("refused", {}).items()}
        thinking = self.think(agent_id, job_id, taken, refused=refused)
        return _Effect(*thinking, wanted=details.get("wanted", ()), again=True)

    def think(
        self,
        agent_id: str,
        job_id: UUID,
        read: Callable[[Connection], list[Message]],
        *,
        wanted: Collection[int] = (),
        told: str | None = None,
        refused: Mapping[int, FilterReason] | None = None,
    ) -> Thinking:
        """Think about the messages that ``read`` returns; write nothing.

        Those ``wanted`` pass every filter; which do not is known when ``refused`` is given.
        ``told``: they are what a memory with this text was made of, not whole messages, so what
        is known of those that are stored does not hold.
        """
        with self._database.agent_snapshot(agent_id) as connection:
            self._guard.check(connection)
            parameters = parameters_of(connection, agent_id, self._defaults)
            messages = read(connection)
            focus = focus_of(connection, agent_id)
            known = self._known(connection, agent_id, messages if told is None else [])
            model, reached = self._models.embedder.model, reach(parameters)
            background = Background.read(
                connection, agent_id, messages, reached, model, together=told is not None
            )
            echoed = frozenset[int]()
            if refused is None:
                echoed = echoes_among(connection, agent_id, messages)
            seqs = [message.seq for message in messages]
            received = receipt_times(connection, agent_id, seqs)
        # What an agent notes itself is asked for by name, and meant to last.
        noted = {message.seq for message in messages if message.is_note}
        wanted = noted.union(wanted)
        models = self._models
        texts = MessageTexts.read(messages, known, models.embedder, models.lexicon, later=is_long)
        if refused is None:
            refused = refusals(texts, background, parameters, wanted)
            refused |= dict.fromkeys(echoed.difference(wanted), FilterReason.ECHO)
        cut = annotated_segments(models, texts, background, refused)
        if told is not None:
            again = [replace(each, text=told, restored=True) for each in cut.segments]
            cut = replace(cut, segments=again)
        cut = replace(
            cut, segments=tiered(cut.segments, cut.judgements, received, parameters, noted)
        )
        texts = texts.pooled(cut.parts()).completed(models.embedder)
        relations = self._relations(cut.segments, focus, parameters.focus_limit)
        thoughts = self._thoughts(agent_id, cut, relations, parameters)
        growth = Growth(agent_id, job_id, parameters, texts.model)
        return Thinking(growth, texts, thoughts, refused, Beliefs.read(messages))

    def _known(
        self, connection: Connection, agent_id: str, messages: Sequence[Message]
    ) -> Embedded:
        model = self._models.embedder.model
        # Of long ones the parts count, whether a vector of the whole is stored by now or not.
        seqs = [message.seq for message in messages if not is_long(message)]
        return Embedded(*message_vectors(connection, agent_id, seqs, model), model)

    def _relations(
        self, segments: Sequence[AnnotatedSegment], focus: Focus, limit: int
    ) -> list[dict[str, str]]:
        """Name the relation of each segment to each entity that it will be joined with (M6)."""
        relations = []
        for segment in segments:
            focus = attend(focus, segment, limit)
            relations.append(self._named(segment, joined_with(focus, segment)))
        return relations

    def _named(self, segment: AnnotatedSegment, focus: Focus) -> dict[str, str]:
        names = [each.name for each in focus]
        namer = self._models.relation_namer
        try:
            answers = namer.names(segment.text, names, segment.language) if names else []
        except SmallModelAnswerError:
            answers = []
        if len(answers) != len(names):
            answers = [""] * len(names)
        return {
            each.key: _relation(answer, segment.language)
            for each, answer in zip(focus, answers, strict=True)
        }

    def _thoughts(
        self,
        agent_id: str,
        cut: Segments,
        relations: Sequence[Mapping[str, str]],
        parameters: MemoryParameters,
    ) -> list[Thought]:
        # One more than there may be links: the nearest may be the neighbour of M7.
        limit = parameters.related_links and parameters.related_links + 1
        with self._database.agent_snapshot(agent_id) as connection:
            older = nearest_nodes(
                connection, agent_id, cut.vectors, self._models.embedder.model, limit
            )
        terms = [terms_of(self._models.lexicon, segment.text) for segment in cut.segments]
        parts = zip(cut.segments, cut.vectors, terms, relations, older, strict=True)
        return [Thought(*each) for each in parts]


@dataclass(frozen=True, slots=True)
class _Effect:
    """Writes what was thought about messages that are still there and of which nothing was made."""

    growth: Growth
    texts: MessageTexts
    thoughts: list[Thought]
    refused: Mapping[int, FilterReason]
    beliefs: Beliefs
    wanted: Sequence[int] = ()
    again: bool = False
    tells: bool = False

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        agent_id = self.growth.agent_id
        messages = self.texts.messages
        quoted = {seq for thought in self.thoughts for seq in thought.segment.quoted}
        seqs = sorted(quoted.union(message.seq for message in messages))
        locked = lock_messages(connection, agent_id, seqs)
        taken = locked.stored if self.again else locked.unmade
        taken = taken.intersection(message.seq for message in messages)
        indexed = self.texts.write(connection, agent_id, locked.unindexed)
        thoughts = [
            thought
            for thought in self.thoughts
            if taken.issuperset(thought.segment.seqs)
            and locked.stored.issuperset(thought.segment.quoted)
        ]
        creation = self.growth.write(connection, thoughts)
        superseded = self.beliefs.write(connection, agent_id, creation)
        if taken:
            self._log(connection, taken)
        if not self.again:
            note_created(connection, agent_id, creation, self.growth.parameters)
        fates = _Fates.of(thoughts, creation, self.refused)
        states = {m.seq: fates.state(m) for m in messages if m.seq in taken}
        if not self.again:
            mark_memory(connection, agent_id, states)
            if seqs:
                request_naming(connection, agent_id, seqs[0], seqs[-1])
            if self.tells:
                mailbox.submit_once(connection, agent_id, JobKind.TRACK_MESSAGES)
        numbers = {
            "messages": len(states),
            "filtered": sum(state is MemoryState.FILTERED for state, _ in states.values()),
            "indexed": indexed,
            "segments": len(thoughts),
        }
        return {**numbers, **numbers_of(creation), "superseded": superseded}

    def _log(self, connection: Connection, taken: Collection[int]) -> None:
        details: dict[str, Any] = {"wanted": list(self.wanted)} if self.wanted else {}
        refused = {seq: why for seq, why in self.refused.items() if seq in taken}
        if refused:
            details["refused"] = refused
        growth, event = self.growth, ReplayEvent.CREATED
        log_event(connection, growth.agent_id, event, growth.job_id, list(taken), details)


@dataclass(frozen=True, slots=True)
class _Fates:
    """What became of messages: in a node, thought about but without room for a node, or neither."""

    made: frozenset[int]
    thought: frozenset[int]
    refused: Mapping[int, FilterReason]

    @classmethod
    def of(
        cls,
        thoughts: Collection[Thought],
        creation: Creation,
        refused: Mapping[int, FilterReason],
    ) -> Self:
        memories = [node for node in creation.nodes if node.segment is not None]
        return cls(
            made=frozenset(seq for node in memories for seq in node.seqs),
            thought=frozenset(seq for thought in thoughts for seq in thought.segment.seqs),
            refused=refused,
        )

    def state(self, message: Message) -> tuple[MemoryState, FilterReason | None]:
        if message.seq in self.refused:
            return MemoryState.FILTERED, self.refused[message.seq]
        if message.seq in self.made:
            return MemoryState.MADE, None
        if message.role is Role.SYSTEM:
            return MemoryState.FILTERED, FilterReason.SYSTEM
        if not tells(message):
            return MemoryState.FILTERED, FilterReason.EMPTY
        full = message.seq in self.thought
        return MemoryState.FILTERED, FilterReason.CAPACITY if full else FilterReason.ERASED


def _relation(answer: str, language: Language) -> str:
    name = " ".join(answer.replace("\x00", "").split())
    return name if 0 < len(name) <= _LONGEST_RELATION else relation_names(language).related


def _range(job: Job) -> tuple[int, int]:
    return job.first_seq or 0, job.last_seq or 0


def _remember(job: Job) -> list[Remember]:
    asked = job.payload.get("remember")
    return [Remember(asked)] if asked else [Remember.NOW, Remember.AUTO]
