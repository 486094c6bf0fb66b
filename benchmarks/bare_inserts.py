"""The rows of an accept by bare psycopg, one transaction a request: ``python -m … CONFIG``.

It uses as many connections as the API, each in a thread of one process. It runs the inserts only,
as superuser, so that no policy is checked. Prints JSON.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any
from uuid import uuid4

import psycopg

from benchmarks.sentences import conversation
from memci.message import NewMessage

_LANE = """
INSERT INTO lane (agent_id, wake_at, written_at, message_seq)
VALUES (%s, clock_timestamp(), now(), %s)
ON CONFLICT (agent_id) DO UPDATE SET message_seq = excluded.message_seq
"""
_MESSAGES = """
INSERT INTO message (agent_id, seq, id, role, content, said_at, remember, memory_state)
SELECT %s, seq, id, role, content, now(), 'now', 'pending'
FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[]) AS new (seq, id, role, content)
"""
_JOB = """
INSERT INTO job (agent_id, id, kind, payload, source, first_seq, last_seq)
VALUES (%s, %s, 'memci.memory.create', '{}', 'http', 1, %s)
"""


def run(
    conninfo: str, connections: int, requests: int, messages: int, prefix: str
) -> dict[str, Any]:
    """Insert everything; return the seconds that it took and each transaction's milliseconds."""
    talk = conversation(seed=messages)
    batches = [list(islice(talk, messages)) for _ in range(200)]
    numbers = iter(range(requests))
    opened = [psycopg.connect(conninfo) for _ in range(connections)]
    latencies_ms: list[float] = []

    def work(connection: psycopg.Connection) -> None:
        for number in numbers:
            began = time.perf_counter()
            with connection.transaction():
                _insert(connection, f"{prefix}-{number}", batches[number % len(batches)])
            latencies_ms.append((time.perf_counter() - began) * 1000)

    began = time.perf_counter()
    with ThreadPoolExecutor(connections) as pool:
        list(pool.map(work, opened))
    seconds = time.perf_counter() - began
    for connection in opened:
        connection.close()
    return {"seconds": seconds, "latencies_ms": latencies_ms}


def _insert(connection: psycopg.Connection, agent_id: str, messages: list[NewMessage]) -> None:
    count = len(messages)
    connection.execute(_LANE, (agent_id, count))
    connection.execute(
        _MESSAGES,
        (
            agent_id,
            list(range(1, count + 1)),
            [uuid4().hex for _ in messages],
            [str(each.role) for each in messages],
            [each.content for each in messages],
        ),
    )
    connection.execute(_JOB, (agent_id, uuid4(), count))


if __name__ == "__main__":
    print(json.dumps(run(**json.loads(sys.argv[1]))))
