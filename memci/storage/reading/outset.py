"""What a read begins with, in one statement: progress, parameters and the last list (R16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from memci.domain.context.candidate import KEPT, Source
from memci.storage.erasure.gone import IS_THERE
from memci.storage.reading.state import Progress
from memci.storage.session import rows

_READ = """
SELECT l.message_seq, NOT ({is_there}) AS gone,
       (SELECT min(j.first_seq) FROM job j
         WHERE j.agent_id = l.agent_id AND j.state = 'queued' AND j.first_seq IS NOT NULL
       ) AS first_queued,
       coalesce(l.indexed_chunks, 0) AS chunks,
       -- Nobody is shown pages that nobody has ever worked with.
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
                  AND v.reason = 'superseded') AS has_ended,
       {last}
  FROM (VALUES (%(agent)s::text)) AS asked(agent_id)
  LEFT JOIN lane l ON l.agent_id = asked.agent_id
"""
_NO_LIST = "NULL::jsonb AS last"
# Of no session: ordered by the session, too, there is but one index that has the order. By time
# alone the planner may look through all that was ever read.
_LAST_LIST = """
(SELECT jsonb_build_array(r.body->'prefix', r.body->'recent_begins') FROM receipt r
  WHERE r.agent_id = asked.agent_id AND r.kind = 'context' AND {of_session}
  ORDER BY r.session_id DESC, r.created_at DESC LIMIT 1) AS last
"""
# In its pieces, so that the planner sees only what is asked.
_OF_SESSION = "r.session_id = %(session)s"
_OF_NONE = "r.session_id IS NULL"


@dataclass(frozen=True, slots=True)
class Outset:
    """How far memory is, what the agent has of its own, and the session's last list.

    ``parameters``: what differs from the defaults. ``prefix``: the list's pieces as (hash, bytes);
    ``recent_begins``: the seq that its recent interactions began with. Empty and None without one.
    ``has_pages``: somebody has worked with its pages, by a note, a folder or an operation.
    ``holds``: of memories and of the kept sources those that there is anything of; ``has_ended``:
    there are memories that no longer hold (R6).
    """

    progress: Progress
    parameters: Mapping[str, Any]
    prefix: Sequence[tuple[str, int]]
    recent_begins: int | None
    has_documents: bool = False
    has_pages: bool = False
    holds: frozenset[Source] = frozenset()
    has_ended: bool = False

    @property
    def lacks(self) -> frozenset[Source]:
        """Those of memories and of the kept sources that there is nothing of."""
        return KEPT.union({Source.MEMORY}) - self.holds


def outset_of(connection: Connection, agent_id: str) -> Outset:
    """Return what a search begins with, which follows no list."""
    return _outset(connection, _NO_LIST, {"agent": agent_id})


def outset_behind(connection: Connection, agent_id: str, session_id: str | None) -> Outset:
    """Return what an assembly begins with: behind the last list of a session, or (None) of none."""
    last = _LAST_LIST.format_map({"of_session": _OF_NONE if session_id is None else _OF_SESSION})
    return _outset(connection, last, {"agent": agent_id, "session": session_id})


def _outset(connection: Connection, last: str, values: Mapping[str, Any]) -> Outset:
    (row,) = rows(connection, _READ.format_map({"is_there": IS_THERE, "last": last}), values)
    prefix, recent_begins = row.last or (None, None)
    return Outset(
        progress=_progress(row.message_seq, row.first_queued, gone=row.gone),
        parameters=row.parameters or {},
        prefix=[(digest, length) for digest, length in prefix or ()],
        recent_begins=recent_begins,
        has_documents=row.chunks > 0,
        has_pages=row.has_pages,
        holds=frozenset(map(Source, row.holds)),
        has_ended=row.has_ended,
    )


def _progress(message_seq: int | None, first_queued: int | None, *, gone: bool) -> Progress:
    if message_seq is None:
        return Progress(0, 0, new_agent=True)
    seq = message_seq if first_queued is None else first_queued - 1
    return Progress(seq, message_seq, gone)
