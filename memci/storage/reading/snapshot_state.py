"""Reads the progress, the parameters and the last list of an agent in one statement (R16)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from memci.domain.search.candidate import KEPT, Source
from memci.storage.agents import IS_THERE
from memci.storage.messages import in_session
from memci.storage.search.vector_index import HAS_INDEX
from memci.storage.session import rows

_PROGRESS = f"""
SELECT l.message_seq, NOT ({IS_THERE}) AS new_agent,
       (SELECT min(j.first_seq) FROM job j
         WHERE j.agent_id = l.agent_id AND j.state = 'queued' AND j.first_seq IS NOT NULL
       ) AS first_queued
"""  # noqa: S608 - a constant of this package
# A lane that a worker holds is skipped: a read never waits for a write.
_TOUCH = """
UPDATE lane SET read_at = now(), receipts_from = coalesce(receipts_from, now())
WHERE agent_id IN (
    SELECT agent_id FROM lane WHERE agent_id = ANY(%s) ORDER BY agent_id
       FOR NO KEY UPDATE SKIP LOCKED)
RETURNING agent_id
"""
_KNOWN = "SELECT agent_id FROM lane WHERE agent_id = ANY(%s)"


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of an agent's memory."""

    seq: int  # memory has caught up with the messages up to here (R18)
    message_seq: int  # the agent's last message
    new_agent: bool = False  # the agent does not exist yet

    @property
    def pending(self) -> int:
        """Messages on their way to memory."""
        return self.message_seq - self.seq


def progress(connection: Connection, agent_id: str) -> Progress:
    """Return how far memory has caught up; an agent without messages is at 0."""
    statement = f"{_PROGRESS} FROM lane l WHERE l.agent_id = %s"
    row = connection.exec_driver_sql(statement, (agent_id,)).first()
    message_seq, new_agent, first_queued = row or (None, True, None)
    return _progress(message_seq, first_queued, new_agent=new_agent)


def touch_read(connection: Connection, agent_ids: Collection[str]) -> set[str]:
    """Store that these agents were read now (M16); return those whose lane was busy.

    The lanes of the others are locked until the transaction ends, which should be at once.
    """
    ids = list(agent_ids)
    touched = {row[0] for row in connection.exec_driver_sql(_TOUCH, (ids,))}
    missed = [each for each in ids if each not in touched]
    if not missed:
        return set()
    return {row[0] for row in connection.exec_driver_sql(_KNOWN, (missed,))}


_READ = """
{progress},
       coalesce(l.indexed_chunks, 0) AS chunks,
       -- Pages are not shown before anyone has worked with them.
       coalesce((SELECT t.last_step > 0 FROM page_tree t WHERE t.agent_id = asked.agent_id), false)
       OR EXISTS (SELECT FROM page p WHERE p.agent_id = asked.agent_id AND p.first_seq IS NULL
                     AND p.parent IS NOT NULL AND NOT p.managed AND NOT p.cold
                     AND p.segment <> 'sys') AS has_pages,
       (SELECT s.parameters FROM agent_setting s WHERE s.agent_id = asked.agent_id) AS parameters,
       -- What there is none of, a read need not look into.
       array_remove(ARRAY[
           -- In order, or those of all agents may be looked through for the first.
           CASE WHEN (SELECT n.id FROM node n WHERE n.agent_id = asked.agent_id
                       ORDER BY n.slot LIMIT 1) IS NOT NULL THEN 'memory' END,
           CASE WHEN EXISTS (SELECT FROM page p WHERE p.agent_id = asked.agent_id
                                AND p.first_seq IS NULL AND p.segment <> 'sys'
                                AND (p.parent IS NOT NULL OR p.cold)) THEN 'page' END,
           CASE WHEN EXISTS (SELECT FROM summary s WHERE s.agent_id = asked.agent_id
                                AND s.text <> '') THEN 'summary' END,
           CASE WHEN EXISTS (SELECT FROM pin p WHERE p.agent_id = asked.agent_id)
                THEN 'pin' END,
           CASE WHEN EXISTS (SELECT FROM plan p WHERE p.agent_id = asked.agent_id)
                THEN 'plan' END], NULL) AS holds,
       EXISTS (SELECT FROM node_version v WHERE v.agent_id = asked.agent_id
                  AND v.reason = 'superseded')
       OR EXISTS (SELECT FROM ended_fact f WHERE f.agent_id = asked.agent_id) AS has_ended,
       EXISTS (SELECT FROM message m WHERE m.agent_id = asked.agent_id
                  AND m.withheld IS NOT NULL) AS has_withheld,
       {has_index} AS has_vector_index,
       {last}
  FROM (VALUES (%(agent)s::text)) AS asked(agent_id)
  LEFT JOIN lane l ON l.agent_id = asked.agent_id
"""
_NO_LIST = "NULL::jsonb AS last"
# Of no session: with the session in the order, only one index has that order. By time alone the
# planner may read all receipts.
_LAST_LIST = """
(SELECT jsonb_build_array(r.body->'prefix', r.body->'recent_begins') FROM receipt r
  WHERE r.agent_id = asked.agent_id AND r.kind = 'context' AND r.session_id {session}
  ORDER BY r.session_id DESC, r.created_at DESC LIMIT 1) AS last
"""


@dataclass(frozen=True, slots=True)
class SnapshotState:
    """The state of an agent, and of the last list of a session, if there is one."""

    progress: Progress
    parameters: Mapping[str, Any]  # that differ from the defaults
    prefix: Sequence[tuple[str, int]]  # pieces of the last list as (hash, bytes)
    recent_begins: int | None  # the first seq of its recent interactions
    has_documents: bool = False
    has_pages: bool = False  # it has a note or a folder, or an operation changed its pages
    holds: frozenset[Source] = frozenset()  # of memories and sources without an index
    has_ended: bool = False  # some memories hold no more, or parts of them (R6)
    has_withheld: bool = False  # reads do not show some messages, or parts of them
    has_vector_index: bool = False  # over the vectors of its messages: there are very many

    @property
    def lacks(self) -> frozenset[Source]:
        """The empty ones of memories and sources without an index."""
        return KEPT.union({Source.MEMORY}) - self.holds


def snapshot_state(connection: Connection, agent_id: str) -> SnapshotState:
    """Return the state for a search, which does not use the last list."""
    return _read(connection, _NO_LIST, {"agent": agent_id})


def last_list_state(connection: Connection, agent_id: str, session_id: str | None) -> SnapshotState:
    """Return the state with the last list of a session (None: of requests without one)."""
    values = {"agent": agent_id, "session": session_id}
    return _read(connection, in_session(_LAST_LIST, session_id), values)


def _read(connection: Connection, last: str, values: Mapping[str, Any]) -> SnapshotState:
    parts = {"progress": _PROGRESS, "has_index": HAS_INDEX, "last": last}
    (row,) = rows(connection, _READ.format_map(parts), values)
    prefix, recent_begins = row.last or (None, None)
    return SnapshotState(
        progress=_progress(row.message_seq, row.first_queued, new_agent=row.new_agent),
        parameters=row.parameters or {},
        prefix=[(digest, length) for digest, length in prefix or ()],
        recent_begins=recent_begins,
        has_documents=row.chunks > 0,
        has_pages=row.has_pages,
        holds=frozenset(map(Source, row.holds)),
        has_ended=row.has_ended,
        has_withheld=row.has_withheld,
        has_vector_index=row.has_vector_index,
    )


def _progress(message_seq: int | None, first_queued: int | None, *, new_agent: bool) -> Progress:
    if message_seq is None:
        return Progress(0, 0, new_agent=True)
    seq = message_seq if first_queued is None else first_queued - 1
    return Progress(seq, message_seq, new_agent)
