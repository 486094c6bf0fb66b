"""What reads gave an agent before it said something (M26)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

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
_RECEIPTS = """
SELECT at_seq, given, nodes FROM receipt
 WHERE agent_id = %s AND at_seq >= %s AND at_seq < %s
 ORDER BY at_seq DESC, created_at DESC LIMIT %s
"""
_MESSAGES = f"""
SELECT {COLUMNS} FROM message WHERE agent_id = %s AND seq = ANY(%s)
   AND coalesce(length(content), 0) <= %s
"""  # noqa: S608 - a constant of this package
_NODES = "SELECT id, content FROM node WHERE agent_id = %s AND id = ANY(%s) AND kind = 'memory'"
# The newest ones; an agent that reads more often in 20 interactions repeats the last reads.
_MOST_RECEIPTS = 100
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
    """Receipts, the newest first, and the seqs at which interactions began, ascending."""

    receipts: list[GivenThen]
    beginnings: list[int]

    def before(self, seq: int) -> list[GivenThen]:
        """Return the receipts of the last 20 interactions before a message."""
        begun = [each for each in self.beginnings if each < seq][-INTERACTIONS:]
        since = begun[0] if len(begun) == INTERACTIONS else 0
        return [each for each in self.receipts if since <= each.at_seq < seq]


def given_before(connection: Connection, agent_id: str, first: int, last: int) -> GivenBefore:
    """Return what was given before the messages from the first to the last seq."""
    values = {"agent": agent_id, "first": first, "last": last, "interactions": INTERACTIONS}
    beginnings = list(connection.exec_driver_sql(_BEGINNINGS, values).scalars())
    since = beginnings[0] if len(beginnings) >= INTERACTIONS else 0
    rows = connection.exec_driver_sql(_RECEIPTS, (agent_id, since, last, _MOST_RECEIPTS))
    receipts = [GivenThen(row[0], frozenset(row[1]), frozenset(row[2])) for row in rows]
    return GivenBefore(receipts, beginnings)


def words_given(
    connection: Connection, agent_id: str, seqs: Collection[int], nodes: Collection[int]
) -> tuple[dict[int, str], dict[int, str]]:
    """Return what messages say, by seq, and what memories say now, by id, as far as they live."""
    said = connection.exec_driver_sql(_MESSAGES, (agent_id, list(seqs), _LONGEST))
    messages = {each.seq: each.text for each in map(to_message, said)}
    rows = connection.exec_driver_sql(_NODES, (agent_id, list(nodes))).all()
    return messages, {row.id: row.content for row in rows}
