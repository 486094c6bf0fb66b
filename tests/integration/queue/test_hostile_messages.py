"""The intake stores or buries every message of an agent's queue, and the lane goes on."""

from __future__ import annotations

import base64
import json
from contextlib import closing
from uuid import UUID, uuid4

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memci.broker.names import COMPRESS_TASK, CREATE_TASK, agent_queue_name
from memci.broker.redis_queues import RedisAgentQueues
from memci.commands import jobs as dead_jobs
from memci.config.settings import Settings
from memci.errors import BrokerUnavailableError, ConflictError
from memci.queue import mailbox
from memci.queue.broker_intake import BrokerIntake, redeliver
from memci.queue.lease import Claims
from memci.storage.session import Database
from tests.support.examples import examples

NUL, SURROGATE = "\0", "\ud800"
DEEP = json.loads("[" * 300 + "]" * 300)
GOOD = {"role": "user", "content": "good"}


@pytest.fixture
def limits():
    return Settings(http_max_request_bytes=100_000).append_limits


@pytest.fixture
def intake(client, limits):
    return BrokerIntake(RedisAgentQueues(client), batch=100, limits=limits)


@pytest.fixture
def lease(database):
    claimed = Claims(database, 60_000).claim_named("a")
    assert claimed is not None
    return claimed.lease


def incoming(arguments, task=CREATE_TASK, **headers):
    body = json.dumps([[], arguments, {}]).encode()
    return json.dumps(
        {
            "body": base64.b64encode(body).decode(),
            "content-type": "application/json",
            "headers": {"task": task, "id": str(uuid4()), **headers},
            "properties": {"body_encoding": "base64"},
        }
    ).encode()


def create(*messages, **more):
    return incoming({"agent_id": "a", "messages": messages, **more})


def message(**fields):
    return create({**GOOD, **fields})


HOSTILE = {
    "not JSON": b"\xff",
    "unknown task": incoming({"agent_id": "a"}, task="os.system"),
    "task with a NUL": incoming({"agent_id": "a"}, task=CREATE_TASK + NUL),
    "another agent": incoming({"agent_id": "b", "messages": [GOOD]}),
    "no agent": incoming({"messages": [GOOD]}),
    "no messages": incoming({"agent_id": "a"}),
    "empty messages": create(),
    "unknown version": create(GOOD, v=2),
    "unknown argument": create(GOOD, **{NUL + SURROGATE: 1}),
    "unknown field": message(**{SURROGATE: 1}),
    "NUL in content": message(content=NUL),
    "surrogate in content": message(content=SURROGATE),
    "NUL in id": message(id=NUL),
    "NUL in name": message(name=NUL),
    "NUL in metadata": message(metadata={"a": NUL}),
    "NUL in a key": message(metadata={NUL: 1}),
    "surrogate in metadata": message(metadata={"a": SURROGATE}),
    "surrogate in a key": message(metadata={SURROGATE: 1}),
    "not a number in metadata": message(metadata={"a": float("nan")}),
    "infinity in metadata": message(metadata={"a": float("inf")}),
    "a huge number in metadata": message(metadata={"a": 10**400}),
    "deep metadata": message(metadata={"a": DEEP}),
    "deep arguments": create(GOOD, deep=DEEP),
    "NUL in session": create(GOOD, session_id=NUL),
    "surrogate in user": create(GOOD, user_id=SURROGATE),
    "far time": message(timestamp=1e300),
    "no time": message(timestamp=float("nan")),
    "year 0": message(timestamp="0000-01-01T00:00:00Z"),
    "year 1, far east": message(timestamp="0001-01-01T00:00:00+14:00"),
    "compress with nonsense": incoming({"agent_id": "a", "reason": 7}, task=COMPRESS_TASK),
    "wrong types": incoming({"agent_id": "a", "messages": "x"}),
    "NUL in a tool call": message(
        role="assistant",
        tool_calls=[{"id": "1", "type": "function", "function": {"name": NUL, "arguments": NUL}}],
    ),
}


def rows(database, statement):
    with database.agent_snapshot("a") as connection:
        return connection.exec_driver_sql(statement).all()


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_message_is_taken_in_or_buried_between_good_ones(
    database, client, intake, lease, hostile
):
    key = agent_queue_name("a")
    client.lpush(key, create({**GOOD, "content": "1"}))
    client.lpush(key, hostile)
    client.lpush(key, create({**GOOD, "content": "2"}))
    assert intake.take_in(lease) == 3
    assert client.llen(key) == 0
    contents = [row.content for row in rows(database, "SELECT content FROM message ORDER BY seq")]
    assert (contents[0], contents[-1]) == ("1", "2")
    jobs = rows(database, "SELECT state, last_error FROM job ORDER BY ordinal")
    assert [jobs[0].state, jobs[-1].state] == ["queued", "queued"]
    if len(contents) == 2:
        (buried,) = rows(database, "SELECT body FROM dead_letter")
        assert bytes(buried.body) == hostile
        assert jobs[1].state == "dead"
        assert jobs[1].last_error
    # A redelivery, as after a crash before the removal, changes nothing.
    client.lpush(key, hostile)
    intake.take_in(lease)
    assert len(rows(database, "SELECT 1 FROM message")) == len(contents)
    assert len(rows(database, "SELECT 1 FROM job")) == len(jobs)


def test_too_large_messages_are_buried_and_only_their_ends_are_kept(
    database, client, intake, lease, limits
):
    large = [b"%d" % n + b"x" * 200_000 for n in (1, 2)]
    client.lpush(agent_queue_name("a"), create(GOOD), *large, create(GOOD))
    while intake.take_in(lease):
        pass
    assert not client.exists(agent_queue_name("a"))
    jobs = rows(database, "SELECT id, state, last_error FROM job ORDER BY ordinal")
    assert [job.state for job in jobs] == ["queued", "dead", "dead", "queued"]
    assert all("200001 bytes" in job.last_error for job in jobs[1:3])
    kept = [bytes(row.body) for row in rows(database, "SELECT body FROM dead_letter")]
    assert all(len(body) < 110_000 for body in kept)
    # The first one is delivered again, as after a crash before its removal.
    client.lpush(agent_queue_name("a"), large[0])
    assert intake.take_in(lease) == 1
    assert len(rows(database, "SELECT 1 FROM dead_letter")) == 2
    with (
        database.agent_transaction("a") as connection,
        pytest.raises(ConflictError, match="only the ends are kept"),
    ):
        redeliver(connection, "a", kept[0], limits)


def test_with_halt_on_dead_a_buried_message_stops_its_agent_until_a_decision(
    producer, database, client, limits, lease
):
    intake = BrokerIntake(RedisAgentQueues(client), batch=100, limits=limits, halt_on_dead=True)
    key = agent_queue_name("a")
    for each in (create(GOOD), b"bad", create(GOOD)):
        client.lpush(key, each)
    assert [intake.take_in(lease) for _ in range(3)] == [1, 1, 0]
    assert client.llen(key) == 1
    (dead,) = rows(database, "SELECT id FROM job WHERE state = 'dead'")
    assert rows(database, "SELECT halted_by FROM lane") == [dead]
    assert mailbox.begin_next(lease) is None
    dead_jobs.discard(database, producer.wakeups, "a", dead.id)
    assert intake.take_in(lease) == 1
    assert mailbox.begin_next(lease) is not None


def test_different_messages_with_one_task_id_are_both_kept(database, client, intake, lease):
    twice = str(uuid4())
    for text in ("one", "two"):
        client.lpush(
            agent_queue_name("a"),
            incoming({"agent_id": "a", "messages": [{**GOOD, "content": text}]}, id=twice),
        )
    intake.take_in(lease)
    assert [row.content for row in rows(database, "SELECT content FROM message")] == ["one"]
    assert len(rows(database, "SELECT 1 FROM dead_letter")) == 1
    states = {row.id: row.state for row in rows(database, "SELECT id, state FROM job")}
    assert states.pop(UUID(twice)) == "queued"
    assert list(states.values()) == ["dead"]


def test_an_unavailable_broker_raises_an_error(own_servers, database_url, limits):
    with closing(redis.Redis.from_url(own_servers.redis.url)) as client:
        intake = BrokerIntake(RedisAgentQueues(client), batch=100, limits=limits)
        database = Database(database_url)
        claimed = Claims(database, 60_000).claim_named("a")
        own_servers.redis.kill()
        with pytest.raises(BrokerUnavailableError):
            intake.occupied(["a"])
        with pytest.raises(BrokerUnavailableError):
            intake.take_in(claimed.lease)
        database.close()


text = st.text(max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text | st.just(SURROGATE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
fields = st.sampled_from(
    ["role", "content", "id", "name", "timestamp", "tool_calls", "tool_call_id", "metadata"]
)
messages = st.dictionaries(fields, values).map(lambda given: {**GOOD, **given})
arguments = st.dictionaries(
    st.sampled_from(["session_id", "user_id", "remember", "v", "other"]), values, max_size=2
)


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(messages, values), max_size=2), arguments)
def test_random_messages_never_stop_the_lane(database, client, intake, lease, given_messages, more):
    client.lpush(agent_queue_name("a"), create(*given_messages, **more))
    assert intake.take_in(lease) == 1
    assert client.llen(agent_queue_name("a")) == 0
