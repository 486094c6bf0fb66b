"""The laws of the soak: which messages are lost, doubled, reordered, changed or unfinished."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from tests.soak.ledger import NOW, Ledger, Stream, message_id
from tests.soak.stack import Stack

# How many effects of jobs made each message into memory.
_CREATIONS = """
SELECT seq, count(*) FROM replay_log, unnest(seqs) AS seq
 WHERE agent_id = %(agent)s AND event = 'created' GROUP BY seq
"""
_STORED = """
SELECT seq, id, role, content, indexed, memory_state, position FROM message
 WHERE agent_id = %(agent)s ORDER BY seq
"""
_COUNTERS = "SELECT message_seq, indexed_messages FROM lane WHERE agent_id = %(agent)s"
OPEN_LANES = """
SELECT agent_id, (SELECT count(*) FROM job WHERE job.agent_id = lane.agent_id AND state = 'queued'),
       compress_req - compress_done, lease_until
  FROM lane WHERE lease_until IS NOT NULL OR compress_req > compress_done
     OR EXISTS (SELECT FROM job WHERE job.agent_id = lane.agent_id AND state = 'queued')
"""
_DEAD = "SELECT agent_id, kind, last_error, count(*) FROM job WHERE state = 'dead' GROUP BY 1, 2, 3"


class Row(NamedTuple):
    """A stored message, and how many effects of jobs made it into memory."""

    seq: int
    id: str
    role: str
    content: str | None
    indexed: bool
    memory_state: str
    position: int | None
    creations: int


@dataclass
class Found:
    """What one agent's rows show."""

    broken: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    stored: int = 0
    through_memory: Counter[str] = field(default_factory=Counter)  # by their state at the end

    def note(self, law: str, example: str) -> None:
        """Note one message that breaks a law."""
        self.broken[law] += 1
        self.examples.setdefault(law, example)

    def add(self, other: Found) -> None:
        """Add what another agent's rows show."""
        self.broken.update(other.broken)
        self.examples = {**other.examples, **self.examples}
        self.stored += other.stored
        self.through_memory.update(other.through_memory)


def check_agent(streams: Sequence[Stream], rows: Iterable[Row]) -> Found:
    """Compare the rows of one agent, in the order of seq, with what was sent and acknowledged."""
    found = Found()
    by_stream: defaultdict[str, list[Row]] = defaultdict(list)
    positions: Counter[int | None] = Counter()
    for row in rows:
        found.stored += 1
        by_stream[row.id.rpartition("-")[0]].append(row)
        positions[row.position] += 1
    for position, times in positions.items():
        if position is not None and times > 1:
            found.note("doubled", f"position {position} is that of {times} messages")
    for name in by_stream.keys() - {each.name for each in streams}:
        found.note("doubled", f"stored and never sent: {by_stream[name][0].id}")
    for stream in streams:
        _check_stream(stream, by_stream[stream.name], found)
    return found


def _check_stream(stream: Stream, rows: Sequence[Row], found: Found) -> None:
    by_id: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_id[row.id].append(row)
    expected = zip(range(stream.sent), stream.contents(), strict=False)
    for number, (role, content) in expected:
        its = by_id.pop(message_id(stream.name, number), [])
        where = f"{stream.agent}: {stream.name}-{number}"
        if not its:
            found.note("lost", where)
        if len(its) > 1:
            found.note("doubled", f"{where}, {len(its)} times")
        for row in its:
            _check_row(stream, row, (role, content), where, found)
    for stored in by_id:
        found.note("doubled", f"{stream.agent}: stored and never sent: {stored}")
    numbers = [int(row.id.rpartition("-")[2]) for row in rows]
    in_order = [each for each in numbers if each not in stream.lost_by_broker]
    for before, after in pairwise(in_order):
        if before > after:
            found.note("reordered", f"{stream.agent}: {stream.name}-{after} behind {before}")


def _check_row(stream: Stream, row: Row, said: tuple[str, str], where: str, found: Found) -> None:
    if (row.role, row.content) != said:
        found.note("changed", where)
    wanted = {"made", "filtered"} if stream.remember == NOW else {"none"}
    if not row.indexed or row.memory_state not in wanted:
        found.note("unfinished", f"{where}: indexed {row.indexed}, {row.memory_state}")
    if row.creations != int(stream.remember == NOW):
        law = "doubled" if row.creations > 1 else "unfinished"
        found.note(law, f"{where}: {row.creations} effects of creation")
    if stream.remember == NOW:
        found.through_memory[row.memory_state] += 1


def check_stored(stack: Stack, ledger: Ledger) -> Found:
    """Check all messages of all agents, and the counters of their lanes."""
    agents: defaultdict[str, list[Stream]] = defaultdict(list)
    for stream in ledger.streams:
        if stream.sent:
            agents[stream.agent].append(stream)
    found = Found()
    for agent, streams in agents.items():
        values = {"agent": agent}
        creations = dict(stack.rows(_CREATIONS, values))
        rows = [Row._make((*row, creations.get(row[0], 0))) for row in stack.rows(_STORED, values)]
        its = check_agent(streams, rows)
        for counters in stack.rows(_COUNTERS, values):
            actual = (len(rows), sum(row.indexed for row in rows))
            if counters != actual:
                its.note("doubled", f"{agent}: {actual} messages are counted as {counters}")
        found.add(its)
    (strangers,) = stack.rows(
        "SELECT count(*) FROM message WHERE NOT agent_id = ANY(%(agents)s)",
        {"agents": list(agents)},
    )[0]
    if strangers:
        found.note("doubled", f"{strangers} messages of agents to which nothing was sent")
    for agent, kind, error, count in stack.rows(_DEAD):
        found.note("dead jobs", f"{agent}: {count} × {kind}: {error}")
    return found
