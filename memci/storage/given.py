"""What reads gave an agent before it said something (M26)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import Connection

from memci.domain.memory.echo import INTERACTIONS
from memci.storage.messages import COLUMNS, to_message

# An interaction begins with a user message.
_BEGINNINGS = """
SELECT seq FROM message WHERE agent_id = %(agent)s AND role = 'user' AND seq < %(last)s
   AND seq >= coalesce((SELECT seq FROM message WHERE agent_id = %(agent)s AND role = 'user'
                           AND seq < %(first)s
                         ORDER BY seq DESC OFFSET %(interactions)s - 1 LIMIT 1), 0)
 ORDER BY seq
"""
# However many reads there were: what one gives again and again is looked at once.
_RECEIPTS = """
SELECT DISTINCT at_seq, given, nodes FROM receipt
 WHERE agent_id = %s AND at_seq >= %s AND at_seq < %s ORDER BY at_seq
"""
_MESSAGES = f"""
SELECT {COLUMNS} FROM message WHERE agent_id = %s AND seq = ANY(%s)
   AND coalesce(length(content), 0) <= %s
"""  # noqa: S608 - a constant of this package
_NODES = "SELECT id, content FROM node WHERE agent_id = %s AND id = ANY(%s) AND kind = 'memory'"
# Texts that are read at once.
_BITE = 100
# Characters: longer messages than this, nobody repeats.
_LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class GivenThen:
    """What one receipt gave: messages by seq, memories by id; ``at_seq`` was the last message."""

    at_seq: int
    messages: frozenset[int]
    nodes: frozenset[int]


@dataclass(frozen=True, slots=True)
class GivenBefore:
    """Receipts by ``at_seq``, and the seqs at which interactions began; both ascending."""

    receipts: list[GivenThen]
    beginnings: list[int]

    def before(self, seq: int) -> list[GivenThen]:
        """Return the receipts of the last 20 interactions before a message."""
        begun = self.beginnings[: bisect_left(self.beginnings, seq)][-INTERACTIONS:]
        since = begun[0] if len(begun) == INTERACTIONS else 0
        first, end = (bisect_left(self.receipts, at, key=_at_seq) for at in (since, seq))
        return self.receipts[first:end]


def given_before(connection: Connection, agent_id: str, first: int, last: int) -> GivenBefore:
    """Return what was given before the messages from the first to the last seq."""
    values = {"agent": agent_id, "first": first, "last": last, "interactions": INTERACTIONS}
    beginnings = list(connection.exec_driver_sql(_BEGINNINGS, values).scalars())
    since = beginnings[0] if len(beginnings) >= INTERACTIONS else 0
    rows = connection.exec_driver_sql(_RECEIPTS, (agent_id, since, last))
    receipts = [GivenThen(row[0], frozenset(row[1]), frozenset(row[2])) for row in rows]
    return GivenBefore(receipts, beginnings)


def messages_given(
    connection: Connection, agent_id: str, seqs: Iterable[int]
) -> Iterator[tuple[int, str]]:
    """Yield messages by seq and what they say, a few at a time."""
    for some in _bites(seqs):
        said = connection.exec_driver_sql(_MESSAGES, (agent_id, some, _LONGEST))
        yield from ((each.seq, each.text) for each in map(to_message, said))


def memories_given(
    connection: Connection, agent_id: str, nodes: Iterable[int]
) -> Iterator[tuple[int, str]]:
    """Yield memories by id and what they say now, as far as they live, likewise."""
    for some in _bites(nodes):
        rows = connection.exec_driver_sql(_NODES, (agent_id, some))
        yield from ((row.id, row.content) for row in rows)


def _bites(ids: Iterable[int]) -> Iterator[list[int]]:
    left = iter(ids)
    while some := list(islice(left, _BITE)):
        yield some


def _at_seq(receipt: GivenThen) -> int:
    return receipt.at_seq
