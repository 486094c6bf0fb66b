"""Erases inside one transaction with the lane locked; tombstones; locks against reads (M25).

The database itself refuses a message with a tombstone, whoever inserts it. Who wants to say which
one it was, or to leave it out beforehand (a rebuild, an import), asks ``erased_among``.

A context that was assembled just before an erasure leaves its receipt just after it; and an
erasure does not see a receipt that is being written. So both pass here, in the transaction in
which they write, before they look. Reads do not wait for each other, nor for the lane.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256

from sqlalchemy import Connection

from memci.storage.agents import is_there
from memci.storage.erasure.deletion_set import DeletionSet
from memci.storage.erasure.pages import reword
from memci.storage.erasure.tables import REGISTRY, Entry
from memci.storage.network.beliefs import believe_anew, superseded_by_any
from memci.storage.network.editions import clear_edition, drop_edition, open_edition
from memci.storage.network.node_history import TrailEvent, append_history
from memci.storage.network.passes import position
from memci.storage.pages.tree import lock_tree
from memci.storage.session import rows

_KEY = "hashtextextended(%s, 25)"
_BESIDE = f"SELECT pg_advisory_xact_lock_shared({_KEY})"
_TRY_BESIDE = f"SELECT pg_try_advisory_xact_lock_shared({_KEY})"
_TRY_ALL = """
SELECT agent_id, pg_try_advisory_xact_lock_shared(hashtextextended(agent_id, 25))
FROM unnest(%s::text[]) AS wanted(agent_id)
"""
_ALONE = f"SELECT pg_advisory_xact_lock({_KEY})"
_STORED = "SELECT seq FROM message WHERE agent_id = %s AND seq = ANY(%s)"


def stand_beside(connection: Connection, agent_id: str) -> None:
    """Wait for an erasure of this agent that is under way; none begins before this commits."""
    rows(connection, _BESIDE, (agent_id,))


def try_beside(connection: Connection, agent_id: str) -> bool:
    """Do so without waiting: False while an erasure is under way, or waits to begin."""
    return bool(connection.exec_driver_sql(_TRY_BESIDE, (agent_id,)).scalar_one())


def all_beside(connection: Connection, agent_ids: Collection[str]) -> frozenset[str]:
    """Do so for many agents at once, without waiting; return those of which nothing is erased."""
    tried = connection.exec_driver_sql(_TRY_ALL, (list(agent_ids),))
    return frozenset(agent_id for agent_id, beside in tried if beside)


def stand_alone(connection: Connection, agent_id: str) -> None:
    """Wait for receipts that are being written; none is written before this commits."""
    connection.exec_driver_sql(_ALONE, (agent_id,))


def stored_among(connection: Connection, agent_id: str, seqs: Collection[int]) -> frozenset[int]:
    """Return those of these messages that were not erased."""
    return frozenset(connection.exec_driver_sql(_STORED, (agent_id, list(seqs))).scalars())


# By the same hash as ``tombstones.digest_of``; a test holds both together.
_BURY = """
INSERT INTO erased_message (agent_id, digest)
SELECT agent_id, sha256(convert_to(id, 'UTF8')) FROM message
 WHERE agent_id = %(agent)s AND seq = ANY(%(seqs)s::bigint[])
ON CONFLICT DO NOTHING
"""
_SAID = """
SELECT encode(sha256(convert_to(content, 'UTF8')), 'hex') FROM message
 WHERE agent_id = %(agent)s AND seq = ANY(%(seqs)s::bigint[]) AND content IS NOT NULL
"""
_COUNT = "UPDATE lane SET erased_messages = erased_messages + %s WHERE agent_id = %s"
_AGAIN = """
UPDATE message SET memory_state = 'pending', memory_reason = NULL
 WHERE agent_id = %s AND seq = ANY(%s::bigint[])
"""
# Rows at once of a whole agent: no statement may last for a minute.
_BITE = 20_000
_DELETE_BITE = """
DELETE FROM {table} WHERE agent_id = %(agent)s AND ctid = ANY(ARRAY(
    SELECT ctid FROM {table} WHERE agent_id = %(agent)s AND {condition} LIMIT %(bite)s))
"""
_DELETE_MESSAGES = """
WITH gone AS (
    DELETE FROM message WHERE agent_id = %(agent)s AND ctid = ANY(ARRAY(
        SELECT ctid FROM message WHERE agent_id = %(agent)s LIMIT %(bite)s))
    RETURNING id),
buried AS (
    INSERT INTO erased_message (agent_id, digest)
    SELECT %(agent)s, sha256(convert_to(id, 'UTF8')) FROM gone ON CONFLICT DO NOTHING)
SELECT FROM gone
"""
# Ids go on where they were: none comes back. What producers wish from now on is another life.
_BEGIN_ANEW = """
UPDATE lane SET epoch = epoch + 1, erased_messages = message_seq, compress_done = compress_req,
                compress_cursor = NULL, pass_number = 0, mentions = 0, indexed_messages = 0,
                indexed_terms = 0, documents = 0, indexed_chunks = 0, chunk_terms = 0,
                paused = false, halted_by = NULL, not_before = NULL,
                written_at = NULL, read_at = NULL, beat_at = NULL, receipts_from = NULL,
                new_memories = 0, expire_at = NULL
WHERE agent_id = %s
"""

# What is asked and set before an agent's first message leaves these: they make nobody an agent.
_BEFOREHAND = frozenset({"agent_setting", "receipt", "model_usage"})


def erase_messages(connection: Connection, agent_id: str, condemned: DeletionSet) -> dict[str, int]:
    """Remove messages and all that was made of them; return how many rows went, by table.

    The tree of pages must be locked. The messages to be remembered ``again`` are only marked so:
    a job for them is the caller's, and so are texts in another page store than Postgres.
    """
    stand_alone(connection, agent_id)
    edition = open_edition(connection, agent_id)
    if edition is not None:
        drop_edition(connection, agent_id, edition)
    values = {
        "agent": agent_id,
        "seqs": list(condemned.seqs),
        "nodes": condemned.nodes,
        "gone": list(condemned.gone),
        "again": list(condemned.again),
        "names": list(condemned.names),
        "named": list(condemned.named_by),
        "named_by": list(condemned.named_by.values()),
        "session": condemned.session_id,
        "pages": list(condemned.pages.going),
        "reworded": list(condemned.pages.reworded),
        "pins": list(condemned.pins),
    }
    going = [*condemned.nodes, *condemned.gone]
    doubted = superseded_by_any(connection, agent_id, going)
    said = list(connection.exec_driver_sql(_SAID, values).scalars())
    connection.exec_driver_sql(_BURY, values)
    reword(connection, agent_id, condemned.pages.reworded, condemned.seqs)
    removed = {
        entry.table: _run(connection, entry.of_messages, {**values, "said": said})
        for entry in REGISTRY
        if entry.of_messages
    }
    believe_anew(connection, agent_id, doubted)
    connection.exec_driver_sql(_COUNT, (removed["message"], agent_id))
    connection.exec_driver_sql(_AGAIN, (agent_id, list(condemned.again)))
    _, pass_number = position(connection, agent_id)
    notes: dict[int, dict[str, object]] = {node: {} for node in going}
    append_history(connection, agent_id, TrailEvent.ERASED, pass_number, notes)
    return {table: count for table, count in removed.items() if count}


def erase_agent(connection: Connection, agent_id: str) -> dict[str, int]:
    """Remove all that an agent holds; return how many rows went, by table.

    What is left says that there was something, and refuses it should it come again.
    """
    lock_tree(connection, agent_id)
    stand_alone(connection, agent_id)
    clear_edition(connection, agent_id)
    removed = {each.table: _clear(connection, agent_id, each) for each in REGISTRY if each.of_agent}
    connection.exec_driver_sql(_BEGIN_ANEW, (agent_id,))
    return {table: count for table, count in removed.items() if count}


def is_left_of(connection: Connection, agent_id: str) -> bool:
    """Tell whether an agent that is not there has rows all the same."""
    if is_there(connection, agent_id):
        return False
    kept = [each for each in REGISTRY if each.of_agent and each.table not in _BEFOREHAND]
    look = " UNION ALL ".join(
        f"SELECT FROM {each.table} WHERE agent_id = %(agent)s AND ({each.of_agent})"
        for each in kept
    )
    found = connection.exec_driver_sql(f"SELECT EXISTS ({look})", {"agent": agent_id})
    return bool(found.scalar_one())


def _run(connection: Connection, statements: Collection[str], values: dict[str, object]) -> int:
    """Run statements; return how many rows those that delete have removed."""
    counts = [
        (statement, connection.exec_driver_sql(statement, values).rowcount)
        for statement in statements
    ]
    return sum(count for statement, count in counts if "DELETE FROM" in statement)


def _clear(connection: Connection, agent_id: str, entry: Entry) -> int:
    statement = _DELETE_MESSAGES
    if entry.table != "message":
        statement = _DELETE_BITE.format(table=entry.table, condition=entry.of_agent)
    values = {"agent": agent_id, "bite": _BITE}
    removed, bite = 0, _BITE
    while bite == _BITE:
        bite = connection.exec_driver_sql(statement, values).rowcount
        removed += bite
    return removed


_AMONG = """
SELECT digest FROM erased_message WHERE agent_id = %s AND digest = ANY(%s)
"""


def digest_of(message_id: str) -> bytes:
    """Return what is kept of a message id: its SHA-256, the same on every server."""
    return sha256(message_id.encode()).digest()


def erased_among(connection: Connection, agent_id: str, ids: Collection[str]) -> frozenset[str]:
    """Return those of these message ids that were erased and are refused for good."""
    by_digest = {digest_of(each): each for each in ids}
    found = connection.exec_driver_sql(_AMONG, (agent_id, list(by_digest)))
    return frozenset(by_digest[bytes(row.digest)] for row in found)
