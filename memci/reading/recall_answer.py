"""What a recall found, and its two forms: text for a model, structure for a program (M20)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from memci.domain.context.token_budget import Count, fitting
from memci.domain.memory import recall
from memci.domain.memory.recall import Forgotten, Miss, Reached
from memci.language.detection import Language
from memci.schemas.reads import ForgottenMemory, RecallAnswer, RecalledMemory, RecallText
from memci.storage.reading.recall import Memory
from memci.storage.reading.snapshot_state import Progress


@dataclass(frozen=True, slots=True)
class Found:
    """A memory in reach; ``match`` is 1 for a token that matches, else the best cosine."""

    reached: Reached
    memory: Memory
    match: float


@dataclass(frozen=True, slots=True)
class Recalled:
    """Memories and forgotten ones, in order; ``ids`` of the messages they came from, by seq.

    ``last``: the last one that stood for a forgotten one, itself if none did; ``restorable`` and
    ``forgotten_at`` are of those. ``knew``: forgotten memories that told of what was asked for, and
    of which no link tells. ``drops``: links to what is reported as forgotten go then (M15).
    """

    memories: Sequence[Found]
    forgotten: Sequence[Forgotten]
    last: Mapping[int, int]
    restorable: frozenset[int]
    forgotten_at: Mapping[int, datetime]
    ids: Mapping[int, str]
    miss: Miss | None
    knew: Sequence[int]
    now: Progress
    drops: bool


class Told(NamedTuple):
    """An answer, and what it names: forgotten nodes and memories; the rest did not fit."""

    answer: RecallAnswer | RecallText
    forgotten: frozenset[int]
    memories: Sequence[Memory]


def as_structure(recalled: Recalled, budget: int | None, count: Count) -> Told:
    """Return it for a program; the contents together are within the budget."""
    contents = [each.memory.content for each in recalled.memories]
    contents += [f"{each.relation} {each.hint}" for each in recalled.forgotten]
    fit = fitting(contents, budget, count, joint="\n")
    forgotten = _forgotten(recalled, fit)
    answer = RecallAnswer(
        memories=[
            _memory(recalled.memories[place], recalled.ids)
            for place in fit
            if place < len(recalled.memories)
        ],
        forgotten=[
            ForgottenMemory(
                node_id=recalled.last[gone.node_id],
                relation=gone.relation,
                hint=gone.hint,
                restorable=recalled.last[gone.node_id] in recalled.restorable,
                forgotten_at=recalled.forgotten_at.get(recalled.last[gone.node_id]),
            )
            for gone in forgotten
        ],
        miss=recalled.miss,
        knew=list(recalled.knew),
        seq=recalled.now.seq,
        pending=recalled.now.pending,
        new_agent=recalled.now.new_agent,
    )
    gone_ids = frozenset(gone.node_id for gone in forgotten)
    return Told(answer, gone_ids, _memories(recalled, fit))


def as_text(recalled: Recalled, budget: int | None, count: Count, language: Language) -> Told:
    """Return it for a model; the text is within the budget. A miss is said in ``language``."""
    entries = [
        recall.memory_entry(each.memory.content, each.memory.language, each.memory.superseded_at)
        for each in recalled.memories
    ]
    entries += [recall.forgotten_entry(each.relation, each.hint) for each in recalled.forgotten]
    # What is left of forgotten ones says so itself.
    if recalled.miss is not None and not (recalled.miss is Miss.FORGOTTEN and recalled.forgotten):
        entries.append(recall.miss_entry(recalled.miss, language))
    fit = fitting(entries, budget, count, joint=recall.SEPARATOR)
    answer = RecallText(
        text=recall.SEPARATOR.join(entries[place] for place in fit),
        miss=recalled.miss,
        knew=list(recalled.knew),
        seq=recalled.now.seq,
        pending=recalled.now.pending,
        new_agent=recalled.now.new_agent,
    )
    gone_ids = frozenset(gone.node_id for gone in _forgotten(recalled, fit))
    return Told(answer, gone_ids, _memories(recalled, fit))


def _memories(recalled: Recalled, fit: Sequence[int]) -> list[Memory]:
    """Return the memories among the places that fit."""
    return [recalled.memories[each].memory for each in fit if each < len(recalled.memories)]


def _forgotten(recalled: Recalled, fit: Sequence[int]) -> list[Forgotten]:
    """Return the forgotten ones among the places that fit: they come after the memories."""
    places = range(len(recalled.memories), len(recalled.memories) + len(recalled.forgotten))
    return [recalled.forgotten[place - places.start] for place in fit if place in places]


def _memory(found: Found, ids: Mapping[int, str]) -> RecalledMemory:
    memory = found.memory
    return RecalledMemory(
        node_id=memory.node_id,
        content=memory.content,
        phrase=memory.phrase,
        type=memory.type,
        layer=found.reached.layer,
        strength=found.reached.strength,
        match=found.match,
        importance=memory.importance,
        message_ids=[ids[seq] for seq in memory.seqs if seq in ids],
        said_at=memory.said_at,
        superseded_by=memory.superseded_by,
        superseded_at=memory.superseded_at,
    )
