"""Messages are erased while a worker works on them (M25)."""

from __future__ import annotations

import signal

import pytest

from memci.testing import wait_until
from tests.support.erasing import Eraser


@pytest.fixture
def eraser(producer, client):
    return Eraser(producer.database, producer.wakeups, client, "a")


def test_a_frozen_worker_writes_nothing_after_its_agent_was_erased(producer, fleet, upkeep, eraser):
    frozen = fleet.start("memci.lane")
    job_id = producer.append("a", "a secret", wait_ms=1000).job_id
    wait_until(lambda: producer.job("a", job_id).started, "it is at work")
    frozen.send(signal.SIGSTOP)
    eraser.erase_agent()
    producer.append("a", "another life")
    fleet.start("memci.lane")
    producer.wait_drained(["a"])
    frozen.send(signal.SIGCONT)
    wait_until(lambda: "fenced off" in frozen.log_text, "the thawed worker notices")
    assert producer.effects("a") == [2]
    assert producer.states("a") == ["done"]


def test_a_running_job_is_repeated_without_erased_messages(producer, fleet, upkeep, eraser):
    worker = fleet.start("memci.lane")
    job_id = producer.append("a", "a secret", wait_ms=1000).job_id
    producer.append("a", "no secret")
    wait_until(lambda: producer.job("a", job_id).started, "it is at work")
    with producer.database.agent_snapshot("a") as connection:
        (secret,) = connection.exec_driver_sql("SELECT id FROM message WHERE seq = 1").one()
    eraser.erase(secret)
    producer.wait_drained(["a"])
    wait_until(lambda: "fenced off" in worker.log_text, "who was at it notices")
    assert producer.effects("a") == [2]
    assert producer.states("a") == ["done", "done"]
