"""Which messages only repeat what their agent was just given: they make no memory (M26).

A receipt names what it gave and holds none of its words: these are read from the messages, which
never change, and from the memories as they are now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from memci.domain.memory.echo import Gram, grams, is_echo
from memci.domain.message import Message, Role
from memci.storage.given import (
    GivenBefore,
    GivenThen,
    given_before,
    memories_given,
    messages_given,
)
from memci.storage.session import Connection

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
