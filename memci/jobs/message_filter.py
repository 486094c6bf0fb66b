"""Decides which messages of a job make no memory (R1, R2, M26).

A receipt names what it gave and holds none of its words: these are read from the messages, which
never change, and from the memories as they are now.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from memci.domain.memory.message_filter import (
    FilterReason,
    Gram,
    Likeness,
    Standing,
    Utterance,
    grams,
    is_echo,
    judged,
)
from memci.domain.memory.parameters import MemoryParameters
from memci.jobs.message_texts import MessageTexts
from memci.jobs.segments import Background
from memci.message import Message, Role
from memci.smallmodel.ports import Vectors
from memci.storage.messages import Earlier
from memci.storage.receipts import (
    GivenBefore,
    GivenThen,
    given_before,
    memories_given,
    messages_given,
)
from memci.storage.session import Connection


def refusals(
    texts: MessageTexts,
    background: Background,
    parameters: MemoryParameters,
    wanted: Collection[int],
) -> dict[int, FilterReason]:
    """Return why messages make no memory, by seq; those ``wanted`` by name always make one."""
    refused = {}
    for key, messages in background.conversations.items():
        earlier = background.earlier[key]
        utterances = [
            *(_utterance(each.message, _standing_of(each)) for each in earlier),
            *(_utterance(each, _standing(each, wanted)) for each in messages),
        ]
        vectors = np.vstack([_vectors(earlier, background, texts), texts.rows_of(messages)])
        verdicts = judged(utterances, _cosines(vectors), parameters)
        for message, verdict in zip(messages, verdicts[len(earlier) :], strict=True):
            if verdict is not None:
                refused[message.seq] = verdict
    return refused


def _cosines(vectors: Vectors) -> Likeness:
    return lambda one, other: float(vectors[one] @ vectors[other])


def _utterance(message: Message, standing: Standing) -> Utterance:
    speaker = (message.role, message.name or "")
    return Utterance(message.text, speaker, standing, calls=bool(message.tool_calls))


def _standing_of(earlier: Earlier) -> Standing:
    return Standing.MADE if earlier.made else Standing.PASSED


def _standing(message: Message, wanted: Collection[int]) -> Standing:
    return Standing.WANTED if message.seq in wanted else Standing.JUDGED


def _vectors(earlier: Sequence[Earlier], background: Background, texts: MessageTexts) -> Vectors:
    """Return the vectors of what was said before; zero rows where there is none."""
    found = dict(zip(background.embedded.keys, background.embedded.vectors, strict=True))
    none = np.zeros(texts.vectors.shape[1], dtype=np.float32)
    rows = [found.get(each.message.seq, none) for each in earlier]
    return np.array(rows, dtype=np.float32).reshape(len(rows), len(none))


# A user who repeats something makes a copy (M9).
_ECHOING = frozenset({Role.ASSISTANT, Role.TOOL})


def echoes_among(
    connection: Connection, agent_id: str, messages: Sequence[Message]
) -> frozenset[int]:
    """Return the seqs of those messages (ascending) that are echoes."""
    said = {m.seq: grams(m.text) for m in messages if m.role in _ECHOING}
    said = {seq: found for seq, found in said.items() if found}
    if not said:
        return frozenset()
    given = given_before(connection, agent_id, min(said), max(said))
    if not given.receipts:
        return frozenset()
    wanted = frozenset(gram for found in said.values() for gram in found)
    texts = _Texts.read(connection, agent_id, given, wanted)
    return frozenset(
        seq
        for seq, found in said.items()
        if is_echo(found, (texts.of(receipt) for receipt in given.before(seq)))
    )


@dataclass(frozen=True, slots=True)
class _Texts:
    """Of the 5-grams ``wanted``, those in all that was given, each text read once."""

    messages: Mapping[int, frozenset[Gram]]
    nodes: Mapping[int, frozenset[Gram]]

    @classmethod
    def read(
        cls, connection: Connection, agent_id: str, given: GivenBefore, wanted: frozenset[Gram]
    ) -> Self:
        seqs = frozenset[int]().union(*(each.messages for each in given.receipts))
        nodes = frozenset[int]().union(*(each.nodes for each in given.receipts))
        said = messages_given(connection, agent_id, sorted(seqs))
        remembered = memories_given(connection, agent_id, sorted(nodes))
        return cls(
            {seq: wanted.intersection(grams(text)) for seq, text in said},
            {node: wanted.intersection(grams(text)) for node, text in remembered},
        )

    def of(self, receipt: GivenThen) -> list[frozenset[Gram]]:
        messages = (self.messages.get(seq) for seq in receipt.messages)
        nodes = (self.nodes.get(node) for node in receipt.nodes)
        return [each for each in (*messages, *nodes) if each]
