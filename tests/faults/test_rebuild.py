"""Workers die while a network is rebuilt; messages that come meanwhile are kept (M22, M24)."""

from __future__ import annotations

import random

import pytest

from memci.broker.wakeup import Wakeups
from memci.commands import rebuild
from memci.domain.job import JobState
from memci.domain.memory.network_edition import compare
from memci.storage.reading.network_history import compared_network
from memci.storage.session import use_edition
from memci.testing import wait_until
from tests.support.rebuilding import is_same

MESSAGES = 40


@pytest.fixture
def workers(fleet, upkeep):
    """Starts two workers for lanes and one for compression."""
    fleet.app = "tests.support.network_worker_app"
    for queue in ("memci.lane", "memci.lane", "memci.compress"):
        fleet.start(queue)
    return fleet


def memory_texts(producer) -> list[str]:
    query = "SELECT content FROM node WHERE agent_id = %s AND kind = 'memory' ORDER BY id"
    return producer.column("a", query)


def is_idle(producer) -> bool:
    lane = producer.lane("a")
    return (
        "queued" not in producer.column("a", "SELECT state FROM job WHERE agent_id = %s")
        and lane.compress_req == lane.compress_done
    )


@pytest.mark.timeout(180)
def test_kills_during_a_rebuild_and_a_switch_lose_and_double_nothing(producer, workers):
    wakeups = Wakeups(producer.celery)
    for n in range(MESSAGES):
        producer.append("a", f"n{n} said of [P{n % 7}]")
    wait_until(lambda: is_idle(producer), "all is remembered", timeout_s=60)
    before = memory_texts(producer)
    assert len(before) == MESSAGES

    def kill_at(goal: int) -> None:
        wait_until(
            lambda: show().job is None or (show().replayed or 0) >= goal, "so far", timeout_s=40
        )
        victim = workers.workers[to_kill.pop(0)]
        victim.kill()
        to_kill.append(len(workers.workers))
        workers.start("memci.lane", ready=False)

    def show():
        return rebuild.show(producer.database, "a")

    lane_workers = [at for at, each in enumerate(workers.workers) if "memci.lane" in _queues(each)]
    to_kill = lane_workers[:2]
    events = rebuild.begin(producer.database, wakeups, "a", up_to_seq=None).events
    for goal in sorted(random.Random(4).sample(range(events), 2)):
        producer.append("a", f"m{goal} said while it was rebuilt")
        kill_at(goal)
    wait_until(lambda: show().state == "ready", "it is made", timeout_s=60)
    rebuild.switch(producer.database, wakeups, "a")
    producer.append("a", "last said while it was switched to")
    kill_at(0)
    wait_until(lambda: show().state == "switched", "it is switched to", timeout_s=60)
    wait_until(lambda: is_idle(producer), "all is remembered", timeout_s=60)
    assert sorted(memory_texts(producer)) == sorted(
        [*before, *(text for text in _message_texts(producer) if text not in before)]
    )
    assert not producer.column(
        "a", "SELECT id FROM job WHERE agent_id = %s AND state = %s", JobState.DEAD
    )
    rebuild.begin(producer.database, wakeups, "a", up_to_seq=None)
    wait_until(lambda: show().state == "ready", "it is made once more", timeout_s=60)
    with producer.database.agent_snapshot("a") as connection:
        current = compared_network(connection, "a")
        with use_edition(connection):
            assert is_same(compare(current, compared_network(connection, "a")))


def _message_texts(producer) -> list[str]:
    return producer.column("a", "SELECT content FROM message WHERE agent_id = %s ORDER BY seq")


def _queues(worker) -> list[str]:
    return list(worker.process.args)
