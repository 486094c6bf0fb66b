"""Workers that die or freeze (queue.md, "Failure": the first two rows).

Few agents and two workers: with many agents, workers would seldom compete for a lane.
"""

from __future__ import annotations

import random
import signal

import pytest

from memci.broker.names import CREATE_TASK, agent_queue_name, queue
from memci.testing import wait_until

JOBS = 120


@pytest.mark.parametrize("agents", [pytest.param(["one"], marks=pytest.mark.long), ["one", "two"]])
@pytest.mark.timeout(120)
def test_random_kills_lose_double_and_reorder_no_job(producer, fleet, upkeep, agents):
    workers = [fleet.start("memci.lane") for _ in range(2)]
    for n in range(JOBS):
        producer.append(agents[n % len(agents)], wait_ms=10)
    for round_ in range(4):
        victim = workers[round_ % 2]
        done = sum(len(producer.effects(each)) for each in agents)
        goal = min(JOBS, done + random.Random(round_).randint(3, 15))
        wait_until(
            lambda goal=goal: sum(len(producer.effects(each)) for each in agents) >= goal,
            "some effects",
            timeout_s=30,
        )
        victim.kill()
        workers[round_ % 2] = fleet.start("memci.lane", ready=False)
    producer.wait_drained(agents)
    for agent in agents:
        share = JOBS // len(agents)
        assert producer.effects(agent) == list(range(1, share + 1))
        assert producer.states(agent) == ["done"] * share


def test_another_worker_does_the_job_of_a_worker_that_died_in_it(producer, fleet, upkeep):
    fleet.start("memci.lane")
    fleet.start("memci.lane")
    producer.append("a", die="prepare")
    producer.append("a")
    producer.wait_drained(["a"])
    assert producer.effects("a") == [1, 2]
    assert sum(each.process.poll() is not None for each in fleet.workers) == 1


def test_a_job_is_not_repeated_if_its_worker_dies_after_the_commit(producer, fleet, upkeep):
    for _ in range(5):
        producer.append("a")
    fleet.start("memci.lane", ready=False, MEMCI_TEST_DIE="after-effect")
    fleet.start("memci.lane", ready=False, MEMCI_TEST_DIE="after-effect")
    producer.wait_drained(["a"])
    assert (fleet.folder / "after-effect").exists()
    assert producer.effects("a") == [1, 2, 3, 4, 5]


def test_no_message_is_doubled_if_a_worker_dies_before_it_removes_them(producer, fleet, upkeep):
    name = agent_queue_name("a")
    for n in range(30):
        producer.celery.send_task(
            CREATE_TASK,
            kwargs={"agent_id": "a", "messages": [{"role": "user", "content": f"m{n}"}]},
            queue=queue(name),
            ignore_result=True,
        )
    fleet.start("memci.lane", ready=False, MEMCI_TEST_DIE="before-removal")
    fleet.start("memci.lane", ready=False, MEMCI_TEST_DIE="before-removal")
    wait_until(lambda: len(producer.effects("a")) == 30, "all effects", timeout_s=40)
    producer.wait_drained(["a"])
    assert (fleet.folder / "before-removal").exists()
    assert producer.effects("a") == list(range(1, 31))


def test_a_frozen_worker_is_fenced_off(producer, fleet, upkeep):
    frozen = fleet.start("memci.lane")
    job_id = producer.append("a", wait_ms=1000).job_id
    wait_until(lambda: producer.job("a", job_id).started, "it is at work")
    frozen.send(signal.SIGSTOP)
    producer.append("a")
    fleet.start("memci.lane")
    producer.wait_drained(["a"])
    frozen.send(signal.SIGCONT)
    wait_until(lambda: "fenced off" in frozen.log_text, "the thawed worker notices")
    assert producer.effects("a") == [1, 2]
