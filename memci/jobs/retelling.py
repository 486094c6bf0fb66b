"""The text of a forgotten memory, word for word as it was when it was made (M24)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memci.domain.language import language_of
from memci.domain.memory.passage import Passage
from memci.domain.memory.sameness import read, tells_the_same
from memci.domain.memory.span import Span, cut_out
from memci.domain.memory.wording import worded
from memci.domain.message import Message
from memci.storage.memory_state import taken_messages
from memci.storage.session import Connection

_ALL = 2**62


@dataclass(frozen=True, slots=True)
class Retelling:
    """What was told, and of what: messages cut down to what was taken of them, ascending seq."""

    text: str
    parts: Sequence[Message]


def retold(connection: Connection, agent_id: str, passages: Sequence[Passage]) -> Retelling | None:
    """Return what a memory of these passages told; None: not all their messages are there."""
    seqs = {seq for passage in passages for seq in passage.messages}
    said = {each.seq: each for each in taken_messages(connection, agent_id, sorted(seqs))}
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
    readings = [read(each.text) for each in told]
    kept: list[int] = []
    for place in sorted(range(len(told)), key=lambda at: -readings[at].says):
        if not any(tells_the_same(readings[place], readings[other]) for other in kept):
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
