"""What memories hold no more: superseded ones, and parts of others (R6)."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from memci.domain.memory.node import NodeEvent, VersionReason
from memci.language.detection import Language
from memci.message import NOTE_PATH
from memci.storage.network.node_history import append_history, keep_versions
from memci.storage.network.passes import position

_COMPARABLE = """
SELECT id, content, language, said_at, user_id, message_seqs, superseded_by FROM node
 WHERE agent_id = %s AND id = ANY(%s) AND kind = 'memory' AND worth >= %s
   AND said_at IS NOT NULL AND EXISTS (
       SELECT FROM message m WHERE m.agent_id = node.agent_id AND m.seq = ANY(node.message_seqs)
          AND (m.role = 'user' OR (m.role = 'assistant' AND m.name IS NOT NULL)
               OR m.metadata #>> %s = 'true'))
"""
# What is worth less tells no fact that could end.
LEAST_WORTH = 5.0
_IS_PINNED = "SELECT pinned FROM node WHERE agent_id = %s AND id = %s"
_ADD = """
INSERT INTO ended_fact (agent_id, node_id, replaced_by, told_by, seqs, parts, until)
VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True, slots=True)
class Comparable:
    """A living memory that new messages are compared with."""

    id: int
    content: str
    language: Language
    said_at: datetime
    user_id: str | None
    seqs: tuple[int, ...]
    is_current: bool  # no other memory supersedes it


def comparable(
    connection: Connection, agent_id: str, nodes: Collection[int]
) -> dict[int, Comparable]:
    """Return those of some nodes that are memories of facts that people or notes tell, by id."""
    values = agent_id, list(nodes), LEAST_WORTH, list(NOTE_PATH)
    rows = connection.exec_driver_sql(_COMPARABLE, values)
    found = (
        Comparable(row.id, row.content, Language(row.language), row.said_at, row.user_id,
                   tuple(row.message_seqs), row.superseded_by is None)
        for row in rows
    )  # fmt: skip
    return {each.id: each for each in found}


class EndedPart(NamedTuple):
    """Parts of a memory that hold no more since a time, as another memory's message tells."""

    node_id: int
    replaced_by: int
    told_by: int  # seq of the message
    seqs: Sequence[int]  # the messages of ``node_id``
    parts: Sequence[str]  # word for word
    until: datetime


def end(connection: Connection, agent_id: str, part: EndedPart, *, whole: bool) -> int:
    """Note what ended; ``whole``: the memory is superseded. Return how many are so by that.

    Of a pinned memory nothing ends.
    """
    if connection.exec_driver_sql(_IS_PINNED, (agent_id, part.node_id)).scalar():
        return 0
    values = (agent_id, *part[:3], list(part.seqs), list(part.parts), part.until)
    connection.exec_driver_sql(_ADD, values)
    if not whole:
        return 0
    nodes = [part.node_id]
    superseded = supersede(connection, agent_id, nodes, by=part.replaced_by, until=part.until)
    return len(superseded)


_ENDED = """
SELECT n.id, f.parts FROM node n
  JOIN ended_fact f ON f.agent_id = n.agent_id AND f.seqs && n.message_seqs
 WHERE n.agent_id = %s AND n.id = ANY(%s)
"""


def ended_of(connection: Connection, agent_id: str, nodes: Collection[int]) -> dict[int, list[str]]:
    """Return the parts of the memories of some nodes' messages that hold no more, by node."""
    found: dict[int, list[str]] = {}
    for node, parts in connection.exec_driver_sql(_ENDED, (agent_id, list(nodes))):
        found.setdefault(node, []).extend(parts)
    return found


_SUPERSEDE = """
UPDATE node SET superseded_by = %(by)s, superseded_at = least(superseded_at, %(until)s)
WHERE agent_id = %(agent)s AND id = ANY(%(nodes)s)
  AND (superseded_at IS NULL OR superseded_at > %(until)s OR NOT EXISTS (
       SELECT FROM node newer WHERE newer.agent_id = node.agent_id
          AND newer.id = node.superseded_by))
RETURNING id
"""


def supersede(
    connection: Connection,
    agent_id: str,
    nodes: Sequence[int],
    *,
    by: int,
    until: datetime,
) -> list[int]:
    """Mark memories as superseded by another since a time; return those it is the first for.

    Their present text is added to their history; they decay like all others.
    """
    replaced = dict.fromkeys(nodes, by)
    keep_versions(connection, agent_id, replaced, VersionReason.SUPERSEDED, until)
    values = {"agent": agent_id, "nodes": list(nodes), "by": by, "until": until}
    superseded = list(connection.exec_driver_sql(_SUPERSEDE, values).scalars())
    if superseded:
        _, pass_number = position(connection, agent_id)
        details = {node: {"by": by} for node in superseded}
        append_history(connection, agent_id, NodeEvent.SUPERSEDED, pass_number, details)
    return superseded


# Of memories of the same messages: forgotten ones leave their versions and trails.
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


class Superseded(NamedTuple):
    """The memory that supersedes another, and since when."""

    by: int
    until: datetime


def superseded_telling(
    connection: Connection, agent_id: str, seqs: Iterable[int], span: Sequence[int] | None
) -> Superseded | None:
    """Return what first superseded a memory of the same messages; None if nothing did."""
    values = {"agent": agent_id, "seqs": list(seqs), "span": None if span is None else list(span)}
    row = connection.exec_driver_sql(_SUPERSEDED, values).first()
    return None if row is None else Superseded(*row)


def unsuperseded(connection: Connection, agent_id: str, nodes: Sequence[int]) -> list[int]:
    """Return the nodes that are not superseded."""
    return list(connection.exec_driver_sql(_UNSUPERSEDED, (agent_id, list(nodes))).scalars())
