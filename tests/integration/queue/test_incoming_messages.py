"""Messages of an agent's queue are stored or buried with a clear error."""

from __future__ import annotations

import base64
import json

import pytest

from memci.broker.message_decoding import encode, job_id_of
from memci.broker.names import CREATE_TASK
from memci.commands import jobs
from memci.errors import ConflictError
from memci.message import AppendLimits, NewMessage, Remember, Role
from memci.queue import mailbox
from memci.queue.broker_intake import take_in
from memci.queue.intake import Append

LIMITS = AppendLimits(1_000_000, 100_000, 50)
MESSAGE = {"role": "user", "content": "hello"}


def deliver(producer, raw):
    with producer.database.agent_transaction("a") as connection:
        mailbox.lock_lane(connection, "a")
        take_in(connection, "a", raw, LIMITS)


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": [MESSAGE], "x\x00": 1},
        {"messages": [{**MESSAGE, "x\x00": 1}]},
        {"messages": [MESSAGE], "\ud800": 1},
        {"messages": [{**MESSAGE, "metadata": {"\x00": "\x00"}}]},
        {"messages": [{**MESSAGE, "metadata": {"s\x00": json.loads("[" * 400 + "]" * 400)}}]},
        {"messages": [MESSAGE], "what was said": 1, "y" * 100_000: 2},
    ],
)
def test_a_message_with_unknown_names_is_buried_and_not_quoted(producer, fields):
    arguments = {"agent_id": "a", **fields}
    deliver(producer, encode(CREATE_TASK, "11111111-1111-4111-8111-111111111111", arguments))
    deliver(producer, encode(CREATE_TASK, "2", {"agent_id": "a", "messages": [MESSAGE]}))
    assert producer.states("a") == ["dead", "queued"]
    error = producer.job("a", "11111111-1111-4111-8111-111111111111").last_error
    assert "was said" not in error
    assert len(error) < 2_000


def dead_letters(producer):
    with producer.database.agent_snapshot("a") as connection:
        return connection.exec_driver_sql("SELECT count(*) FROM dead_letter").scalar_one()


def test_a_dead_letter_is_kept_until_a_decision(producer):
    raw = encode(CREATE_TASK, "1", {"agent_id": "a", "messages": []})
    deliver(producer, raw)
    deliver(producer, raw)
    assert (producer.states("a"), dead_letters(producer)) == (["dead"], 1)
    jobs.discard(producer.database, producer.wakeups, "a", job_id_of("1", raw))
    assert (producer.states("a"), dead_letters(producer)) == (["cancelled"], 0)


def store(producer, *ids):
    messages = [NewMessage(Role.USER, f"said {each}", id=each) for each in ids]
    producer.intake.append(Append("a", messages, remember=Remember.NEVER))


def test_stored_messages_can_be_requested_by_their_ids(producer):
    store(producer, "x", "y")
    request = {"v": 1, "agent_id": "a", "message_ids": ["y"]}
    for task_id in ("1", "1", "2"):
        deliver(producer, encode(CREATE_TASK, task_id, request))
    assert producer.states("a") == ["queued", "queued"]  # one to index, one to remember
    with producer.database.lane_transaction() as connection:
        job = connection.exec_driver_sql("SELECT * FROM job ORDER BY ordinal DESC LIMIT 1").one()
    assert (job.kind, job.source, job.payload) == (CREATE_TASK, "celery", {"seqs": [2]})
    assert (job.first_seq, job.last_seq) == (2, 2)


def test_ids_that_are_not_stored_make_a_dead_letter_until_they_are(producer):
    raw = encode(CREATE_TASK, "1", {"agent_id": "a", "message_ids": ["chat-7\x1b"]})
    deliver(producer, raw)
    dead = producer.job("a", job_id_of("1", raw))
    assert dead.state == "dead"
    assert "1 of 1 messages are not stored, such as message_ids[0], 'chat-7?';" in dead.last_error
    replay = (producer.database, producer.wakeups, "a", dead.id)
    with pytest.raises(ConflictError, match="not stored"):
        jobs.replay(*replay, at_tail=False, limits=LIMITS)
    store(producer, "chat-7\x1b")
    replayed = jobs.replay(*replay, at_tail=False, limits=LIMITS)
    assert producer.job("a", replayed).payload == {"seqs": [1]}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"message_ids": []}, "message_ids"),
        ({"message_ids": [""]}, "message_ids[0]"),
        ({"message_ids": ["x"] * 51}, "at most 50 messages"),
        ({"message_ids": {}}, "message_ids"),
        ({"message_ids": ["x"], "messages": [MESSAGE]}, "give either messages or message_ids"),
        ({"message_ids": ["x"], "remember": "now"}, "remember"),
        ({"message_ids": ["x"], "v": 2}, "v"),
    ],
)
def test_invalid_requests_are_buried_with_the_reason(producer, fields, field):
    store(producer, "x")
    raw = encode(CREATE_TASK, "1", {"agent_id": "a", **fields})
    deliver(producer, raw)
    dead = producer.job("a", job_id_of("1", raw))
    assert dead.state == "dead"
    assert field in dead.last_error


def test_positional_arguments_are_reported_as_the_error(producer):
    envelope = json.loads(encode(CREATE_TASK, "1", {}))
    envelope["body"] = base64.b64encode(json.dumps([["a", [MESSAGE]], {}, {}]).encode()).decode()
    raw = json.dumps(envelope).encode()
    deliver(producer, raw)
    assert "by name (kwargs)" in producer.job("a", job_id_of("1", raw)).last_error
