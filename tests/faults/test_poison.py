"""Jobs that always fail become dead letters, and the lane goes on (queue.md)."""

from __future__ import annotations

import base64
import json
from contextlib import closing
from uuid import uuid4

import pytest
import redis

from memci.broker.app import make_app
from memci.broker.names import agent_queue_name
from memci.commands import jobs
from memci.errors import ConflictError, NotFoundError
from memci.message import AppendLimits
from memci.testing import wait_until
from tests.support.fleet import fleet as fleet_of
from tests.support.lanes import producer as producer_of


def replay(producer, agent, job_id, *, at_tail=False):
    return jobs.replay(
        producer.database, producer.wakeups, agent, job_id,
        at_tail=at_tail, limits=AppendLimits(1_000_000, 1_000, 10),
    )  # fmt: skip


def test_a_bug_makes_a_dead_job_whose_error_quotes_no_data(producer, fleet):
    fleet.start("memci.lane")
    first = producer.append("a", **{"raise": "bug"})
    producer.append("a")
    producer.wait_drained(["a"])
    assert producer.states("a") == ["dead", "done"]
    dead = producer.job("a", first.job_id)
    assert dead.last_error == "ZeroDivisionError; the worker's log says more"


@pytest.mark.timeout(120)
def test_a_job_that_kills_its_process_is_dead_after_five_starts(producer, fleet, upkeep):
    poison = producer.append("a", die="always")
    producer.append("a")
    for _ in range(5):
        worker = fleet.start("memci.lane", ready=False)
        worker.process.wait(20)
        assert producer.states("a") == ["queued", "queued"]
    fleet.start("memci.lane")
    producer.wait_drained(["a"])
    assert producer.states("a") == ["dead", "done"]
    assert producer.job("a", poison.job_id).last_error.startswith("worker_lost")
    assert producer.effects("a") == [2]


@pytest.mark.timeout(180)
def test_a_job_that_kills_its_process_harms_no_job_beside_it(producer, fleet, upkeep):
    others = {agent: producer.append(agent, wait_ms=3_000).job_id for agent in ("b", "c", "d")}
    producer.append("a", die="always", wait_ms=1_500)
    fleet.start("memci.lane", ready=False).process.wait(30)
    lost = [agent for agent, job_id in others.items() if producer.job(agent, job_id).started]
    assert lost, "one of them ran beside it"
    while producer.states("a") == ["queued"]:
        worker = fleet.start("memci.lane", ready=False)
        wait_until(
            lambda ran=worker: ran.process.poll() is not None or producer.states("a") == ["dead"],
            "it has died, or the job is given up",
            timeout_s=60,
        )
        # Lost twice beside it; the third start is alone.
        assert max(producer.job(each, others[each]).started for each in others) <= 3
    producer.wait_drained(list(others))
    assert [producer.states(each) for each in others] == [["done"]] * 3


def test_a_job_without_its_model_backs_off_in_order_and_dies(producer, fleet, upkeep):
    fleet.start("memci.lane", MEMCI_QUEUE_MAX_ATTEMPTS="4")
    unavailable = producer.append("a", **{"raise": "transient"})
    producer.append("a")
    wait_until(
        lambda: producer.job("a", unavailable.job_id).not_before, "the head backs off", timeout_s=20
    )
    assert producer.states("a") == ["queued", "queued"], "nobody overtakes a head that backs off"
    producer.wait_drained(["a"])
    dead = producer.job("a", unavailable.job_id)
    assert (dead.state, producer.states("a")) == ("dead", ["dead", "done"])
    assert dead.last_error.startswith("gave up after 4 tries: SmallModelUnavailableError")


def test_dead_jobs_can_be_replayed_or_discarded(producer, fleet):
    bad = producer.append("a", **{"raise": "bug"})
    worse = producer.append("a", **{"raise": "bug"})
    fleet.start("memci.lane")
    producer.wait_drained(["a"])
    jobs.discard(producer.database, producer.wakeups, "a", worse.job_id)
    assert producer.states("a") == ["dead", "cancelled"]
    with pytest.raises(ConflictError):
        jobs.discard(producer.database, producer.wakeups, "a", worse.job_id)
    with pytest.raises(NotFoundError):
        jobs.discard(producer.database, producer.wakeups, "b", bad.job_id)
    with producer.database.agent_transaction("a") as connection:
        connection.exec_driver_sql("UPDATE message SET metadata = NULL WHERE agent_id = 'a'")
    assert replay(producer, "a", bad.job_id) == bad.job_id
    producer.wait_drained(["a"])
    assert producer.states("a") == ["done", "cancelled"]
    assert producer.effects("a") == [1]


def test_a_replay_at_the_tail_is_a_new_job(producer, fleet):
    bad = producer.append("a", **{"raise": "bug"})
    fleet.start("memci.lane")
    producer.wait_drained(["a"])
    new_id = replay(producer, "a", bad.job_id, at_tail=True)
    assert new_id != bad.job_id
    producer.wait_drained(["a"])
    assert producer.states("a") == ["cancelled", "dead"]


def test_with_on_dead_halt_a_lane_stops_at_its_dead_job(producer, fleet, upkeep):
    fleet.start("memci.lane", MEMCI_QUEUE_ON_DEAD="halt")
    bad = producer.append("a", **{"raise": "bug"})
    producer.append("a")
    producer.append("b")
    producer.wait_drained(["b"])
    wait_until(lambda: producer.lane("a").halted_by == bad.job_id, "the lane has halted")
    assert producer.states("a") == ["dead", "queued"]
    jobs.resume(producer.database, producer.wakeups, "a")
    producer.wait_drained(["a"])
    assert producer.states("a") == ["dead", "done"]


def test_a_cancelled_job_has_no_effect(producer, fleet):
    producer.append("a", wait_ms=300)
    second = producer.append("a", wait_ms=300)
    third = producer.append("a")
    fleet.start("memci.lane")
    wait_until(lambda: producer.job("a", second.job_id).started, "the second one runs")
    jobs.cancel(producer.database, producer.wakeups, "a", second.job_id)
    jobs.cancel(producer.database, producer.wakeups, "a", third.job_id)
    producer.wait_drained(["a"])
    wait_until(lambda: producer.lane("a").lease_owner is None, "the lane is free")
    assert producer.effects("a") == [1]
    assert producer.states("a") == ["done", "cancelled", "cancelled"]


def test_invalid_messages_are_kept_as_dead_letters(producer, fleet, upkeep, broker_url):
    def envelope(body, headers, content_type="application/json"):
        encoded = base64.b64encode(json.dumps(body).encode()).decode()
        return json.dumps(
            {"body": encoded, "content-type": content_type, "headers": headers,
             "properties": {"body_encoding": "base64"}}
        )  # fmt: skip

    create = {"task": "memci.memory.create", "id": "11111111-1111-4111-8111-111111111111"}
    wrong_role = {"agent_id": "a", "messages": [{"role": "wizard", "content": "x"}]}
    valid = {"agent_id": "a", "messages": [{"role": "user", "content": "fine"}]}
    letters = [
        "not json at all",
        envelope([[], {"agent_id": "a"}, {}], {"task": "os.system", "id": "x"}),
        envelope([[], wrong_role, {}], create),
        envelope([[], {**valid, "agent_id": "b"}, {}], {**create, "id": "y"}),
        envelope("x", create, "application/x-python-serialize"),
        envelope([[], valid, {}], {**create, "id": "z"}),
    ]
    with closing(redis.Redis.from_url(broker_url)) as client:
        client.lpush(agent_queue_name("a"), *letters)
        fleet.start("memci.lane")
        wait_until(lambda: len(producer.states("a")) == 6, "all are taken in", timeout_s=20)
        producer.wait_drained(["a"])
        assert sorted(producer.states("a")) == ["dead"] * 5 + ["done"]
        assert not client.exists(agent_queue_name("a"))
    with producer.database.agent_snapshot("a") as connection:
        kept = connection.exec_driver_sql("SELECT body FROM dead_letter").all()
    assert sorted(bytes(row[0]).decode() for row in kept) == sorted(letters[:5])
    with pytest.raises(ConflictError, match="role"):
        replay(producer, "a", create["id"])


@pytest.mark.parametrize("queue", ["memci.lane", "memci.compress", "memci.read", "memci.upkeep"])
def test_a_worker_survives_what_is_no_message(fleet, broker_url, queue):
    worker = fleet.start(queue)
    envelope = {"body": "!", "headers": {}, "properties": {"body_encoding": "base64"}}
    items = [
        b"no JSON", b"\xff\xfe", b"", b"null", b"1", b'"text"', b"[]", b"{}", b'{"properties": {}}',
        json.dumps(envelope).encode(), b"[" * 100_000,
    ]  # fmt: skip
    with closing(redis.Redis.from_url(broker_url)) as client:
        for each in items:
            client.lpush(queue, each)
        wait_until(lambda: not client.exists(queue), "all items are taken", timeout_s=20)
        with make_app(broker_url) as app:
            wait_until(lambda: app.control.ping(timeout=1.0), "the worker answers", timeout_s=20)
    assert worker.process.poll() is None
    assert "dropped an item" in worker.log_text
    assert "no JSON" not in worker.log_text


def test_a_worker_of_one_agent_keeps_what_celery_would_drop(producer, fleet, broker_url):
    """Whatever it is becomes a dead letter with its bytes; what can be read becomes a job."""
    queue = agent_queue_name("a")
    valid = {"agent_id": "a", "messages": [{"role": "user", "content": "hush-hush"}]}

    def envelope(body=None, /, kind="application/json", **headers):
        body = body or json.dumps([[], valid, {}])
        at = {"exchange": "", "routing_key": queue}
        return json.dumps(
            {"body": base64.b64encode(body.encode()).decode(), "content-type": kind,
             "headers": {"task": "memci.memory.create", **headers},
             "properties": {"body_encoding": "base64", "delivery_tag": str(uuid4()),
                            "delivery_info": at}}
        ).encode()  # fmt: skip

    def named() -> str:
        return str(uuid4())

    kept = [
        b"hush-hush", b"\xff\xfe", b"null", b"[]", b"{}", b"[" * 100_000,
        envelope("hush-hush", id=named()),
        envelope(kind="application/x-yaml", id=named()),
        envelope(id=named(), task="no.such.task"),
        envelope(id=named(), task="memci.upkeep.sweep"),
    ]  # fmt: skip
    done = [
        envelope(),
        envelope(id=7),
        envelope(id=named(), eta="hush-hush"),
        envelope(id=named()).replace(b"delivery_info", b"info"),
        envelope(id=named()),
    ]
    worker = fleet.start(queue, MEMCI_LOG_LEVEL="debug")
    with closing(redis.Redis.from_url(broker_url)) as client:
        client.lpush(queue, *kept, *done)
        all_in = len(kept) + len(done)
        wait_until(lambda: len(producer.states("a")) == all_in, "all are kept", timeout_s=20)
        producer.wait_drained(["a"])
        wait_until(lambda: not client.exists("unacked"), "all are acknowledged", timeout_s=20)
    assert sorted(producer.states("a")) == ["dead"] * len(kept) + ["done"] * len(done)
    with producer.database.agent_snapshot("a") as connection:
        letters = connection.exec_driver_sql("SELECT body FROM dead_letter").all()
    assert sorted(bytes(row[0]) for row in letters) == sorted(kept)
    assert worker.process.poll() is None
    assert "hush-hush" not in worker.log_text


def test_a_worker_of_one_agent_loses_nothing_while_postgres_is_away(own_servers, tmp_path):
    urls = (own_servers.postgres.url, own_servers.redis.url)
    with fleet_of(*urls, tmp_path) as fleet, producer_of(*urls) as producer:
        worker = fleet.start(agent_queue_name("a"))
        own_servers.postgres.stop()
        with closing(redis.Redis.from_url(own_servers.redis.url)) as client:
            client.lpush(agent_queue_name("a"), "no message")
        wait_until(lambda: "no broker intake" in worker.log_text, "it has tried", timeout_s=20)
        own_servers.postgres.start()
        wait_until(lambda: producer.states("a") == ["dead"], "it is kept", timeout_s=20)


def test_messages_of_no_task_are_dropped_and_never_logged(fleet, broker_url):
    worker = fleet.start("memci.upkeep", MEMCI_LOG_LEVEL="debug")
    said = [[], {"agent_id": "hush-hush"}, {}]
    known = {"task": "memci.upkeep.sweep", "id": "1", "kwargsrepr": "hush-hush"}
    with make_app(broker_url) as app, app.producer_pool.acquire() as raw:

        def publish(body: object, headers: dict[str, object], kind: str = "json") -> None:
            raw.publish(body, routing_key="memci.upkeep", serializer=kind, headers=headers)

        publish(said, {**known, "task": "no.such.task"})
        publish(said, {"task": "memci.upkeep.sweep"})  # without an id
        publish({"text": "hush-hush"}, {})
        publish("hush-hush", known, "yaml")
        publish(["hush-hush"], {**known, "id": {"hush": "hush-hush"}})
        publish(["hush-hush"], {**known, "eta": "hush-hush"})
        wait_until(lambda: app.control.ping(timeout=1.0), "the worker answers", timeout_s=20)
        with closing(redis.Redis.from_url(broker_url)) as client:
            wait_until(lambda: not client.exists("unacked"), "all are acknowledged", timeout_s=20)
    assert worker.process.poll() is None
    assert "unregistered task" in worker.log_text
    assert "rejected a message" in worker.log_text
    assert "lost" not in worker.log_text
    assert "hush-hush" not in worker.log_text
