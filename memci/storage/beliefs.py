"""Which memories are believed (R6): by what is claimed now, and by what was claimed before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from memci.domain.memory.claim import Held, supersessions
from memci.storage.claims import claims_about
from memci.storage.passes import position
from memci.storage.versions import supersede

# Of memories that told the same: forgotten, they left their versions and trails.
_SUPERSEDED = """
SELECT v.replaced_by, v.until FROM node_version v
  JOIN trail t ON t.agent_id = v.agent_id AND t.node_id = v.node_id AND t.event = 'created'
 WHERE v.agent_id = %(agent)s AND v.reason = 'superseded' AND v.message_seqs = %(seqs)s::bigint[]
   AND t.details->'span' IS NOT DISTINCT FROM to_jsonb(%(span)s::bigint[])
 ORDER BY v.until, v.replaced_by LIMIT 1
"""
_UNSUPERSEDED = """
SELECT id FROM node WHERE agent_id = %s AND id = ANY(%s) AND superseded_by IS NULL ORDER BY id
"""
_BY_ANY = "SELECT id FROM node WHERE agent_id = %s AND superseded_by = ANY(%s)"
_KEYS = "SELECT DISTINCT subject, attribute FROM claim WHERE agent_id = %s AND node_id = ANY(%s)"


class Superseded(NamedTuple):
    """By which memory, and since when."""

    by: int
    until: datetime


def supersede_older(
    connection: Connection, agent_id: str, keys: Collection[tuple[str, str]]
) -> set[int]:
    """Let the newest claims about each (subject, attribute) hold; return what they supersede now.

    The lane must be locked.
    """
    by_key: defaultdict[tuple[str, str], list[Held]] = defaultdict(list)
    for held in claims_about(connection, agent_id, keys):
        by_key[held.claim.subject, held.claim.attribute].append(held)
    _, pass_number = position(connection, agent_id)
    superseded: set[int] = set()
    for about in sorted(by_key):
        for each in supersessions(by_key[about]):
            superseded.update(
                supersede(
                    connection,
                    agent_id,
                    [each.older.node_id],
                    by=each.newer.node_id,
                    until=each.newer.said_at,
                    pass_number=pass_number,
                )
            )
    return superseded


def superseded_by_any(connection: Connection, agent_id: str, nodes: Collection[int]) -> list[int]:
    """Return the memories that these supersede."""
    return list(connection.exec_driver_sql(_BY_ANY, (agent_id, list(nodes))).scalars())


def believe_anew(connection: Connection, agent_id: str, nodes: Sequence[int]) -> None:
    """Supersede those of these memories again that others contradict as well."""
    rows = connection.exec_driver_sql(_KEYS, (agent_id, list(nodes)))
    supersede_older(connection, agent_id, {(row.subject, row.attribute) for row in rows})


def superseded_telling(
    connection: Connection, agent_id: str, seqs: Iterable[int], span: Sequence[int] | None
) -> Superseded | None:
    """Return what superseded a memory that was made of the same, first of all; None: nothing."""
    values = {"agent": agent_id, "seqs": list(seqs), "span": None if span is None else list(span)}
    row = connection.exec_driver_sql(_SUPERSEDED, values).first()
    return None if row is None else Superseded(*row)


def unsuperseded(connection: Connection, agent_id: str, nodes: Sequence[int]) -> list[int]:
    """Return those of these nodes that hold."""
    return list(connection.exec_driver_sql(_UNSUPERSEDED, (agent_id, list(nodes))).scalars())
