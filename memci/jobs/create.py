"""``memci.memory.create``: messages become memories (M2 to M10)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any
from uuid import UUID

from memci.domain.job import Job, JobKind
from memci.domain.memory import node as node_rules
from memci.domain.memory.creation import (
    AnnotatedSegment,
    Creation,
    Focus,
    focus_after,
    linked_entities,
)
from memci.domain.memory.message_filter import FilterReason, MemoryState, context_size
from memci.domain.memory.network_edition import ReplayEvent
from memci.domain.memory.node import NodeType
from memci.domain.memory.parameters import MemoryParameters
from memci.errors import SmallModelAnswerError
from memci.jobs import network_growth
from memci.jobs.changed_facts import CONSIDERED, ChangedFacts
from memci.jobs.index import MessageTexts, check_embedder, terms_of
from memci.jobs.network_growth import NetworkGrowth, NewMemory
from memci.jobs.segments import (
    Background,
    Segments,
    annotated_segments,
    can_be_memory,
    find_echoes,
    read_sentences,
    refusals,
)
from memci.jobs.track import is_to_track
from memci.language.detection import Language
from memci.message import Message, Remember, Role
from memci.queue import mailbox
from memci.queue.job_requests import request_naming
from memci.queue.runner import Effect
from memci.smallmodel.ports import Judgement
from memci.smallmodel.registry import SmallModels
from memci.storage import pending_messages
from memci.storage.agents import parameters_of
from memci.storage.messages import read_messages, receipt_times
from memci.storage.network.beliefs import comparable
from memci.storage.network.edits import is_withheld
from memci.storage.network.links import focus_of
from memci.storage.network.network_editions import log_event
from memci.storage.search.index import Embedded, message_vectors, nearest_nodes, token_bits
from memci.storage.session import Connection, Database

_MAX_WORTH = 10.0
_LONGEST_RELATION = 32


def with_tiers(
    segments: Sequence[AnnotatedSegment],
    judgements: Sequence[Judgement],
    received: Mapping[int, datetime],
    parameters: MemoryParameters,
    notes: Collection[int] = (),
    fleeting: Collection[int] = (),
) -> list[AnnotatedSegment]:
    """Return the segments with their tier, and their worth cut to its limits.

    ``received``: when messages came in, by seq. Whatever the judge says, a segment of a
    ``fleeting`` note is short-term, and one of other ``notes`` alone is long-term.
    """
    result = []
    for segment, judgement in zip(segments, judgements, strict=True):
        is_fleeting = not set(segment.seqs).isdisjoint(fleeting)
        newest = max(received[seq] for seq in segment.seqs)
        # In this order NaN becomes 0.
        worth = min(max(0.0, judgement.worth), _MAX_WORTH)
        tier, expires_at = node_rules.tier_of(
            worth, newest, parameters, eligible=judgement.eligible and not is_fleeting
        )
        if not is_fleeting and set(segment.seqs).issubset(notes):
            tier, expires_at = node_rules.NodeTier.LONG, None
        result.append(replace(segment, worth=worth, tier=tier, expires_at=expires_at))
    return result


def with_stated(
    segments: Sequence[AnnotatedSegment], messages: Sequence[Message]
) -> list[AnnotatedSegment]:
    """Return the segments as people stated them; a restored one is no longer pinned."""
    stated = {message.seq: message.stated for message in messages}
    return [
        segment
        if own is None
        else replace(
            segment,
            pinned=own.pinned and not segment.restored,
            type=NodeType(own.type) if own.type in list(NodeType) else segment.type,
            worth=segment.worth if own.worth is None else min(max(0.0, own.worth), _MAX_WORTH),
        )
        for segment in segments
        for own in (stated.get(segment.seqs[0]),)
    ]


@dataclass(frozen=True, slots=True)
class MemoryCreation:
    """Makes memories of the messages from the job's first to its last seq.

    The payload may restrict them by ``remember``, as they were appended, or by ``seqs``. Messages
    in ``wanted`` pass every filter (R2). Messages with ``never`` are left out, as are those that
    have memories already.
    """

    kind = JobKind.CREATE
    triggers_compression = True

    database: Database
    models: SmallModels
    defaults: MemoryParameters  # of agents that set none

    def prepare(self, job: Job) -> Effect:
        """Read the messages and think about them; the effect writes the memories."""
        payload, seqs = job.payload, (job.first_seq or 0, job.last_seq or 0)
        remember = [Remember.NOW, Remember.AUTO]
        if payload.get("remember"):
            remember = [Remember(payload["remember"])]

        def read(connection: Connection) -> list[Message]:
            only = payload.get("seqs")
            return pending_messages.handed_messages(connection, job.agent_id, seqs, remember, only)

        wanted = payload.get("wanted", ())
        effect = self.think(job.agent_id, job.id, read, wanted=wanted)
        tracks = is_to_track(effect.texts.messages, self.models.sentences)
        return replace(effect, wanted=wanted, tracks=tracks)

    def replay(
        self, agent_id: str, job_id: UUID, seqs: Sequence[int], details: Mapping[str, Any]
    ) -> Effect:
        """Repeat an earlier job by its logged ``details``, for a network that is rebuilt (M24).

        The same messages are refused; the state of the messages stays.
        """
        read = partial(read_messages, agent_id=agent_id, seqs=seqs, whole=True)
        refused = {int(seq): FilterReason(why) for seq, why in details.get("refused", {}).items()}
        effect = self.think(agent_id, job_id, read, refused=refused)
        return replace(effect, wanted=details.get("wanted", ()), replays=True)

    def think(
        self,
        agent_id: str,
        job_id: UUID,
        read: Callable[[Connection], list[Message]],
        *,
        wanted: Collection[int] = (),
        restored: str | None = None,
        refused: Mapping[int, FilterReason] | None = None,
    ) -> CreationEffect:
        """Run the models on the messages that ``read`` returns; write nothing.

        ``wanted`` messages pass every filter; ``refused`` replaces the filter. ``restored`` is the
        original text of one memory of these parts of messages, which are embedded again.
        """
        models = self.models
        with self.database.agent_snapshot(agent_id) as connection:
            check_embedder(connection, self.database, self.models.embedder)
            parameters = parameters_of(connection, agent_id, self.defaults)
            messages = read(connection)
            focus = focus_of(connection, agent_id)
            known = [message.seq for message in messages] if restored is None else []
            model = models.embedder.model
            embedded = Embedded(*message_vectors(connection, agent_id, known, model), model)
            background = Background.read(
                connection, agent_id, messages, context_size(parameters), model,
                together=restored is not None,
            )  # fmt: skip
            echoes = frozenset[int]()
            if refused is None:
                echoes = find_echoes(connection, agent_id, messages)
            received = receipt_times(connection, agent_id, [each.seq for each in messages])
        # Notes of the agent pass every filter, and are long-term, but for some corrections.
        notes = {message.seq for message in messages if message.is_note}
        fleeting = {each.seq for each in messages if each.stated and each.stated.fleeting}
        wanted = notes.union(wanted)
        texts = MessageTexts.read(messages, embedded, models.embedder, models.lexicon)
        sentences = read_sentences(models, messages)
        if refused is None:
            refused = refusals(texts, sentences, background, parameters, wanted)
            refused |= dict.fromkeys(echoes.difference(wanted), FilterReason.ECHO)
        cut = annotated_segments(models, texts, sentences, background, refused)
        segments = cut.segments
        if restored is not None:
            segments = [replace(each, text=restored, restored=True) for each in segments]
        segments = with_tiers(segments, cut.judgements, received, parameters, notes, fleeting)
        segments = with_stated(segments, messages)
        cut = replace(cut, segments=segments)
        relations = self._relations(segments, focus, parameters.focus_limit)
        with self.database.agent_snapshot(agent_id) as connection:
            links = parameters.related_links + 1
            near = nearest_nodes(connection, agent_id, cut.vectors, model, max(links, CONSIDERED))
            others = comparable(connection, agent_id, {node for each in near for node in each})
            bits: dict[int, bytes] = {}
            if models.changes.bits_of == model:
                seqs = {seq for each in others.values() for seq in each.seqs}.union(sentences)
                bits = token_bits(connection, agent_id, seqs.difference(texts.tokens), model)
                bits |= texts.tokens
        changed = ChangedFacts.find(models.changes, cut, near, others, bits)
        memories = self._memories(
            cut, relations, [dict(islice(each.items(), links)) for each in near]
        )
        growth = NetworkGrowth(agent_id, job_id, parameters, texts.model, texts.space)
        return CreationEffect(growth, texts, memories, refused, changed)

    def _relations(
        self, segments: Sequence[AnnotatedSegment], focus: Focus, limit: int
    ) -> list[dict[str, str]]:
        """Name the relation of each segment to each entity that it will be linked with (M6)."""
        relations = []
        for segment in segments:
            focus = focus_after(focus, segment, limit)
            relations.append(self._relation_names(segment, linked_entities(focus, segment)))
        return relations

    def _relation_names(self, segment: AnnotatedSegment, entities: Focus) -> dict[str, str]:
        names = [each.name for each in entities]
        namer = self.models.relation_namer
        try:
            answers = namer.names(segment.text, names, segment.language) if names else []
        except SmallModelAnswerError:
            answers = []
        if len(answers) != len(names):
            answers = [""] * len(names)
        return {
            each.key: _relation(answer, segment.language)
            for each, answer in zip(entities, answers, strict=True)
        }

    def _memories(
        self,
        cut: Segments,
        relations: Sequence[Mapping[str, str]],
        near: Sequence[Mapping[int, float]],
    ) -> list[NewMemory]:
        space = self.models.embedder.space
        older = [{node: space.likeness(found[node]) for node in found} for found in near]
        terms = [terms_of(self.models.lexicon, segment.text) for segment in cut.segments]
        parts = zip(cut.segments, cut.vectors, terms, relations, older, strict=True)
        return [NewMemory(*each) for each in parts]


def _relation(answer: str, language: Language) -> str:
    name = " ".join(answer.replace("\x00", "").split())
    is_usable = 0 < len(name) <= _LONGEST_RELATION
    return name if is_usable else node_rules.relation_names(language).related


@dataclass(frozen=True, slots=True)
class CreationEffect:
    """The results of the models: writes memories of messages that are stored and have none."""

    growth: NetworkGrowth
    texts: MessageTexts
    memories: list[NewMemory]
    refused: Mapping[int, FilterReason]  # reasons of refused messages (R2)
    changed: ChangedFacts
    wanted: Sequence[int] = ()
    replays: bool = False
    tracks: bool = False

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        """Write the memories, and the states of the messages; return numbers and ids."""
        agent_id, messages = self.growth.agent_id, self.texts.messages
        quoted = {seq for memory in self.memories for seq in memory.segment.quoted}
        seqs = sorted(quoted.union(message.seq for message in messages))
        locked = pending_messages.lock_messages(connection, agent_id, seqs)
        taken = locked.stored if self.replays else locked.unmade
        taken = taken.intersection(message.seq for message in messages)
        indexed = self.texts.write(connection, agent_id, locked.unindexed)
        kept = [
            place
            for place, memory in enumerate(self.memories)
            if taken.issuperset(memory.segment.seqs)
            and locked.stored.issuperset(memory.segment.quoted)
            and (self.replays or not is_withheld(connection, agent_id, memory.segment.passages))
        ]
        memories = [self.memories[place] for place in kept]
        creation = self.growth.write(connection, memories)
        superseded = network_growth.supersede_corrected(connection, agent_id, messages, creation)
        made = {kept[each.segment]: each.id for each in creation.nodes if each.segment is not None}
        superseded += self.changed.write(connection, agent_id, made)
        if taken:
            self._log(connection, taken)
        states = self._states(creation, memories, taken)
        if not self.replays:
            network_growth.note_created(connection, agent_id, creation, self.growth.parameters)
            pending_messages.mark_memory(connection, agent_id, states)
            if seqs:
                request_naming(connection, agent_id, seqs[0], seqs[-1])
            if self.tracks:
                mailbox.submit_once(connection, agent_id, JobKind.TRACK_MESSAGES)
        return {
            "messages": len(states),
            "filtered": sum(state is MemoryState.FILTERED for state, _ in states.values()),
            "indexed": indexed,
            "segments": len(memories),
            **network_growth.creation_counts(creation),
            "superseded": superseded,
        }

    def _log(self, connection: Connection, taken: Collection[int]) -> None:
        details: dict[str, Any] = {"wanted": list(self.wanted)} if self.wanted else {}
        refused = {seq: why for seq, why in self.refused.items() if seq in taken}
        if refused:
            details["refused"] = refused
        growth, event = self.growth, ReplayEvent.CREATED
        log_event(connection, growth.agent_id, event, growth.job_id, list(taken), details)

    def _states(
        self, creation: Creation, memories: Collection[NewMemory], taken: Collection[int]
    ) -> dict[int, tuple[MemoryState, FilterReason | None]]:
        """Return the new state of each message that was taken, by seq."""
        planned = {seq for memory in memories for seq in memory.segment.seqs}
        made = {seq for node in creation.nodes if node.segment is not None for seq in node.seqs}
        states: dict[int, tuple[MemoryState, FilterReason | None]] = {}
        for message in self.texts.messages:
            seq, reason = message.seq, self.refused.get(message.seq)
            if seq not in taken:
                continue
            if reason is None and seq in made:
                states[seq] = MemoryState.MADE, None
                continue
            if reason is None and message.role is Role.SYSTEM:
                reason = FilterReason.SYSTEM
            elif reason is None and not can_be_memory(message):
                reason = FilterReason.EMPTY
            elif reason is None:
                reason = FilterReason.CAPACITY if seq in planned else FilterReason.ERASED
            states[seq] = MemoryState.FILTERED, reason
        return states
