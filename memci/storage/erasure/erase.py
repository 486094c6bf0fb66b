"""Erases inside one transaction with the lane locked; tombstones; locks against reads (M25).

The database itself refuses a message with a tombstone, whoever inserts it. Callers that need to
name the message, or to leave it out beforehand (a rebuild, an import), use ``erased_among``.

A read may write its receipt just after an erasure, and an erasure does not see uncommitted
receipts. So both take a lock here, in the transaction in which they write. Reads wait neither for
each other nor for the lane.
"""

from collections import Counter
from collections.abc import Collection
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection

from memci.domain.memory.node import NodeEvent
from memci.storage.agents import is_there
from memci.storage.erasure.deletion_set import DeletionSet
from memci.storage.erasure.pages import reword_pages
from memci.storage.erasure.statements import statements_of
from memci.storage.key_usage import MESSAGE_BYTES
from memci.storage.network import network_editions, node_history, passes
from memci.storage.pages.tree import lock_tree
from memci.storage.schema import AGENT_TABLES
from memci.storage.schema.messages import message
from memci.storage.session import rows

# Writers of receipts share an agent's lock, which erasures take exclusively.
_LOCK_SHARED = "SELECT pg_advisory_xact_lock_shared(hashtextextended(%s, 25))"
_TRY_SHARED = """
SELECT agent_id FROM unnest(%s::text[]) AS agent(agent_id)
WHERE pg_try_advisory_xact_lock_shared(hashtextextended(agent_id, 25))
"""
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 25))"


def wait_for_erasure(connection: Connection, agent_id: str) -> None:
    """Wait for a running erasure of this agent; none starts before this commits."""
    rows(connection, _LOCK_SHARED, (agent_id,))


def agents_without_erasure(connection: Connection, agent_ids: Collection[str]) -> frozenset[str]:
    """Return the agents of which nothing is being erased, without waiting.

    No erasure of one of these starts before this commits. Of the others, one runs or waits.
    """
    found = connection.exec_driver_sql(_TRY_SHARED, (list(agent_ids),))
    return frozenset(found.scalars())


def lock_for_erasure(connection: Connection, agent_id: str) -> None:
    """Wait for receipts that are being written; none is written before this commits."""
    connection.exec_driver_sql(_LOCK, (agent_id,))


# A test holds ``digest_of`` to the same hash.
_BURY = """
INSERT INTO erased_message (agent_id, digest)
SELECT agent_id, sha256(convert_to(id, 'UTF8')) FROM message
 WHERE agent_id = %(agent)s AND seq = ANY(%(seqs)s::bigint[])
ON CONFLICT DO NOTHING
"""
_HASHES = """
SELECT encode(sha256(convert_to(content, 'UTF8')), 'hex') FROM message
 WHERE agent_id = %(agent)s AND seq = ANY(%(seqs)s::bigint[]) AND content IS NOT NULL
"""
_SIZE = f"""
SELECT coalesce(sum({MESSAGE_BYTES}), 0) FROM message
 WHERE agent_id = %(agent)s AND seq = ANY(%(seqs)s::bigint[])
"""  # noqa: S608 - a constant of another module
_COUNT = """
UPDATE lane SET erased_messages = erased_messages + %s,
                stored_bytes = greatest(stored_bytes - %s, 0) WHERE agent_id = %s
"""
_REPEAT = """
UPDATE message SET memory_state = 'pending', memory_reason = NULL
 WHERE agent_id = %s AND seq = ANY(%s::bigint[])
"""
# Rows of a whole agent that one statement deletes: none may last for a minute.
_MOST_ROWS = 20_000
_DELETE_ROWS = """
DELETE FROM {table} WHERE agent_id = %(agent)s AND ctid = ANY(ARRAY(
    SELECT ctid FROM {table} WHERE agent_id = %(agent)s AND NOT ({outlives}) LIMIT %(most)s))
"""
_DELETE_MESSAGES = f"""
WITH erased AS ({_DELETE_ROWS.format(table="message", outlives="false")} RETURNING id),
buried AS (
    INSERT INTO erased_message (agent_id, digest)
    SELECT %(agent)s, sha256(convert_to(id, 'UTF8')) FROM erased ON CONFLICT DO NOTHING)
SELECT FROM erased
"""  # noqa: S608 - a constant of this module
# Counters of ids stay: no id is reused. Later requests of producers belong to a new agent.
_RESET_LANE = """
UPDATE lane SET epoch = epoch + 1, erased_messages = message_seq, compress_done = compress_req,
                compress_cursor = NULL, pass_number = 0, mentions = 0, indexed_messages = 0,
                indexed_terms = 0, documents = 0, indexed_chunks = 0, chunk_terms = 0,
                paused = false, halted_by = NULL, not_before = NULL,
                written_at = NULL, read_at = NULL, beat_at = NULL, receipts_from = NULL,
                new_memories = 0, expire_at = NULL, stored_bytes = 0
WHERE agent_id = %s
"""
# Requests and settings before an agent's first message leave these: they do not make an agent.
_BEFORE_AGENT = frozenset({"agent_setting", "receipt", "model_usage"})
_ERASED_AMONG = "SELECT digest FROM erased_message WHERE agent_id = %s AND digest = ANY(%s)"


def erase_messages(connection: Connection, agent_id: str, deletion: DeletionSet) -> dict[str, int]:
    """Delete messages and everything derived from them; return the counts of rows by table.

    The tree of pages must be locked. Messages whose memories are made again are only marked: the
    caller adds a job for them, and deletes texts in page stores other than Postgres.
    """
    lock_for_erasure(connection, agent_id)
    edition = network_editions.open_edition(connection, agent_id)
    if edition is not None:
        network_editions.drop_edition(connection, agent_id, edition)
    nodes = [*deletion.nodes, *deletion.former_nodes]
    values: dict[str, Any] = {
        "agent": agent_id,
        "named": list(deletion.named_by),
        "named_by": list(deletion.named_by.values()),
        "session": deletion.session_id,
        "pages": list(deletion.pages.deleted),
        "reworded": list(deletion.pages.reworded),
    }
    for name in ("seqs", "nodes", "former_nodes", "repeated", "names", "pins"):
        values[name] = list(getattr(deletion, name))
    values["hashes"] = list(connection.exec_driver_sql(_HASHES, values).scalars())
    size = connection.exec_driver_sql(_SIZE, values).scalar_one()
    connection.exec_driver_sql(_BURY, values)
    reword_pages(connection, agent_id, deletion.pages.reworded, deletion.seqs)
    removed: Counter[str] = Counter()
    for table in reversed(AGENT_TABLES):
        for statement in statements_of(table):
            count = connection.exec_driver_sql(statement, values).rowcount
            if "DELETE FROM" in statement:
                removed[table.name] += count
    connection.exec_driver_sql(_COUNT, (removed["message"], size, agent_id))
    connection.exec_driver_sql(_REPEAT, (agent_id, list(deletion.repeated)))
    _, pass_number = passes.position(connection, agent_id)
    node_history.append_history(
        connection, agent_id, NodeEvent.ERASED, pass_number, {each: {} for each in nodes}
    )
    return {table: count for table, count in removed.items() if count}


def erase_agent(connection: Connection, agent_id: str) -> dict[str, int]:
    """Delete all rows of an agent; return their counts by table.

    Tombstones remain, which refuse the same messages later.
    """
    lock_tree(connection, agent_id)
    lock_for_erasure(connection, agent_id)
    network_editions.clear_edition(connection, agent_id)
    removed: Counter[str] = Counter()
    values = {"agent": agent_id, "most": _MOST_ROWS}
    for table in reversed(AGENT_TABLES):
        outlives = table.info.get("outlives", "false")
        statement = _DELETE_ROWS.format(table=table.name, outlives=outlives)
        if table is message:
            statement = _DELETE_MESSAGES
        count = 0 if outlives == "true" else _MOST_ROWS
        while count == _MOST_ROWS:
            count = connection.exec_driver_sql(statement, values).rowcount
            removed[table.name] += count
    connection.exec_driver_sql(_RESET_LANE, (agent_id,))
    return {table: count for table, count in removed.items() if count}


def is_left_of(connection: Connection, agent_id: str) -> bool:
    """Return True if an agent that does not exist still has rows."""
    if is_there(connection, agent_id):
        return False
    queries = " UNION ALL ".join(
        f"SELECT FROM {table.name}"
        f" WHERE agent_id = %(agent)s AND NOT ({table.info.get('outlives', 'false')})"
        for table in AGENT_TABLES
        if table.name not in _BEFORE_AGENT
    )
    found = connection.exec_driver_sql(f"SELECT EXISTS ({queries})", {"agent": agent_id})
    return bool(found.scalar_one())


def digest_of(message_id: str) -> bytes:
    """Return the stored digest of a message id: SHA-256, the same on every server."""
    return sha256(message_id.encode()).digest()


def erased_among(connection: Connection, agent_id: str, ids: Collection[str]) -> frozenset[str]:
    """Return the message ids that were erased and are refused for good."""
    by_digest = {digest_of(each): each for each in ids}
    found = connection.exec_driver_sql(_ERASED_AMONG, (agent_id, list(by_digest)))
    return frozenset(by_digest[bytes(row.digest)] for row in found)
