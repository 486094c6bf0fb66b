"""The broker or the database crashes, loses its data or restarts (queue.md, "Failure")."""

from __future__ import annotations

import re
import signal
from functools import partial

import pytest

from memci.errors import DatabaseUnavailableError
from memci.testing import wait_until


@pytest.fixture
def database_url(own_servers):
    return own_servers.postgres.url


@pytest.fixture
def broker_url(own_servers):
    return own_servers.redis.url


def start_all(fleet):
    fleet.start("memci.upkeep", ready=False)
    fleet.start_beat()
    fleet.start("memci.lane", ready=False)
    return fleet.start("memci.lane")


def test_flushall_loses_no_job(producer, fleet, client):
    start_all(fleet)
    for _ in range(60):
        producer.append("a", wait_ms=20)
        producer.append("b", wait_ms=20)
    wait_until(lambda: len(producer.effects("a")) > 3, "work has begun")
    client.flushall()
    producer.append("c")
    producer.wait_drained(["a", "b", "c"])
    assert producer.effects("a") == producer.effects("b") == list(range(1, 61))


@pytest.mark.timeout(120)
def test_messages_sent_while_the_broker_is_down_are_processed_later(producer, fleet, own_servers):
    worker = start_all(fleet)
    for _ in range(20):
        producer.append("a", wait_ms=20)
    wait_until(lambda: producer.effects("a"), "work has begun")
    own_servers.redis.kill()
    answers = [producer.append("a") for _ in range(10)] + [producer.append("b")]
    assert [answer.seq for answer in answers] == [*range(21, 31), 1]
    pauses = wait_until(lambda: pauses_of(worker, 5), "it tries again and again", timeout_s=30)
    assert max(pauses) <= 2
    own_servers.redis.start()
    producer.wait_drained(["a", "b"], timeout_s=100)
    assert producer.effects("a") == list(range(1, 31))
    assert producer.effects("b") == [1]


@pytest.mark.timeout(120)
def test_a_worker_with_a_job_survives_a_crash_of_the_broker(
    producer, fleet, own_servers, client, tmp_path
):
    prepared, waits = tmp_path / "prepared", tmp_path / "prepared.waits"
    worker = fleet.start("memci.lane")
    producer.append("a", until=prepared.name)
    wait_until(waits.exists, "it runs", timeout_s=20)
    # The worker first finds its connection for remote control closed, then the one for tasks.
    worker.send(signal.SIGSTOP)
    client.client_kill_filter(_type="pubsub")
    own_servers.redis.kill()
    worker.send(signal.SIGCONT)
    wait_until(lambda: "Connection to broker lost" in worker.log_text, "it has noticed")
    own_servers.redis.start()
    prepared.touch()
    producer.append("b")
    producer.wait_drained(["a", "b"])
    assert producer.effects("a") == producer.effects("b") == [1]


@pytest.mark.timeout(120)
def test_jobs_go_on_after_a_restart_of_postgres(producer, fleet, own_servers):
    start_all(fleet)
    for _ in range(60):
        producer.append("a", wait_ms=20)
    wait_until(lambda: len(producer.effects("a")) > 3, "work has begun")
    own_servers.postgres.kill()
    with pytest.raises(DatabaseUnavailableError):
        producer.append("b")
    own_servers.postgres.start()
    producer.append("b")
    producer.wait_drained(["a", "b"], timeout_s=100)
    assert producer.effects("a") == list(range(1, 61))
    assert producer.effects("b") == [1]


@pytest.mark.timeout(120)
def test_a_job_survives_outages_of_postgres_while_it_runs(producer, fleet, own_servers, tmp_path):
    fleet.start("memci.upkeep", ready=False)
    fleet.start_beat()
    worker = fleet.start("memci.lane", MEMCI_TEST_MAX_STARTED="2")
    prepared, waits = tmp_path / "prepared", tmp_path / "prepared.waits"
    producer.append("a", until=prepared.name)
    for _ in range(3):
        wait_until(waits.exists, "it runs", timeout_s=20)
        own_servers.postgres.stop()
        failures = failed_tasks(worker)  # counts also wakeups that found the lane taken
        prepared.touch()  # if touched earlier, the job would be done before the server stops
        wait_until(lambda: not waits.exists(), "it goes on", timeout_s=20)
        wait_until(partial(has_failed, worker, failures + 1), "it had no outcome", timeout_s=20)
        own_servers.postgres.start()
    prepared.touch()
    producer.wait_drained(["a"])
    assert producer.states("a") == ["done"]
    assert producer.effects("a") == [1]


def pauses_of(worker, tries):
    """Return the pauses in seconds between tries to reach the broker, if there were that many."""
    pauses = re.findall(r"Trying again in ([\d.]+) second", worker.log_text)
    return [float(each) for each in pauses] if len(pauses) >= tries else []


def failed_tasks(worker):
    return worker.log_text.count("task failed")


def has_failed(worker, times):
    return failed_tasks(worker) >= times
