"""Messages that are all new, and their job, in one statement (queue.md, "submit")."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from memci.domain.message import NewMessage
from memci.domain.offset import offset_of
from memci.queue.submit import NewJob

# The lane's row is locked first, since everything else reads what that gives: so seqs and ordinals
# are given out in the order of commits.
SUBMIT = """
WITH locked AS (
    INSERT INTO lane (agent_id, wake_at, written_at, message_seq)
    VALUES (%(agent_id)s, clock_timestamp(), now(), %(count)s)
    ON CONFLICT (agent_id) DO UPDATE
    SET wake_at = coalesce(lane.wake_at, excluded.wake_at), written_at = now(),
        message_seq = lane.message_seq + %(count)s
    RETURNING message_seq AS last_seq, message_seq - %(count)s AS seq_before,
              wake_at >= now() AS woken),
stored AS (
    INSERT INTO message (agent_id, seq, id, role, content, name, tool_calls, tool_call_id,
                         metadata, said_at, said_offset, session_id, user_id, remember,
                         memory_state)
    SELECT %(agent_id)s, seq_before + n, id, role, content, name, tool_calls, tool_call_id,
           metadata, coalesce(said_at, now()), said_offset, %(session_id)s, %(user_id)s,
           %(remember)s, %(memory_state)s
    FROM locked, jsonb_to_recordset(%(messages)s::jsonb)
         AS new (n int, id text, role text, content text, name text, tool_calls jsonb,
                 tool_call_id text, metadata jsonb, said_at timestamptz,
                 said_offset smallint)),
queued AS (
    INSERT INTO job (agent_id, id, kind, payload, source, first_seq, last_seq, traceparent)
    SELECT %(agent_id)s, %(job_id)s, %(kind)s, '{}', %(source)s, seq_before + 1, last_seq,
           %(traceparent)s
    FROM locked)
SELECT last_seq, woken FROM locked
"""


def values_of(
    messages: Sequence[tuple[str, NewMessage]], job: NewJob, fields: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values of ``SUBMIT`` for messages, each with its id, and their job.

    ``fields``: session_id, user_id, remember and memory_state of all of them.
    """
    return {
        **fields,
        "agent_id": job.agent_id,
        "count": len(messages),
        "messages": json.dumps(
            [_record(n, *each) for n, each in enumerate(messages, start=1)], ensure_ascii=False
        ),
        "job_id": job.id,
        "kind": job.kind,
        "source": job.source,
        "traceparent": job.traceparent,
    }


def submit_new(connection: Connection, values: Mapping[str, Any]) -> tuple[int, bool]:
    """Store the messages and queue their job; return the last seq.

    Also tells whether a token is to be published after COMMIT. Raises ``IntegrityError`` when an
    id is not new.
    """
    last_seq, woken = connection.exec_driver_sql(SUBMIT, dict(values)).one()
    return int(last_seq), bool(woken)


def _record(n: int, message_id: str, message: NewMessage) -> dict[str, Any]:
    record: dict[str, Any] = {"n": n, "id": message_id, "role": message.role}
    if message.content is not None:
        record["content"] = message.content
    if message.name is not None:
        record["name"] = message.name
    if message.tool_calls:
        record["tool_calls"] = [dict(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        record["tool_call_id"] = message.tool_call_id
    if message.metadata:
        record["metadata"] = dict(message.metadata)
    if message.said_at is not None:
        record["said_at"] = message.said_at.isoformat()
        record["said_offset"] = offset_of(message.said_at)
    return record
