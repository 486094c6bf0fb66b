"""Flower shows each job under its own name, with agent, runtime and state (queue.md)."""

from __future__ import annotations

import os
from pathlib import Path

import httpx
import pytest

from memci.embedded.files import free_port
from memci.testing import wait_until
from tests.support import fleet as fleets
from tests.support.fork_server import fork_server

LOGIN = ("memci", "a password of this test")


@pytest.fixture
def flower(fleet):
    port = free_port()
    process = fork_server().start(
        ["python", "-m", "workers.flower"],
        {
            **os.environ, **fleet.environment,
            "MEMCI_FLOWER_PORT": str(port), "MEMCI_FLOWER_PASSWORD": LOGIN[1],
        },
        fleets.ROOT,
        *[Path(os.devnull)] * 3,
    )  # fmt: skip
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", auth=LOGIN) as client:
        try:
            wait_until(lambda: _answers(client), "Flower answers", timeout_s=40)
            yield client
        finally:
            process.kill()  # test_parts.py tests how it stops
            process.wait(20)


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/healthcheck").status_code == 200
    except httpx.TransportError:
        return False


def test_compression_is_listed_by_name_and_agent(producer, fleet, flower):
    producer.append("alice")
    producer.intake.request_compress("alice")
    fleet.start("memci.lane,memci.compress")  # the pass waits for the job

    def slices():
        tasks = flower.get("/api/tasks").json().values()
        found = [task for task in tasks if task["name"] == "memci.memory.compress"]
        return found if found and all(task["state"] == "SUCCESS" for task in found) else None

    found = wait_until(slices, "Flower has heard of the slice", timeout_s=20)
    assert '"agent_id": "alice"' in found[0]["kwargs"]
    assert found[0]["runtime"] > 0


def test_jobs_are_listed_by_name_agent_runtime_and_state(producer, fleet, flower):
    fleet.start("memci.lane")
    good = producer.append("alice", wait_ms=30)
    bad = producer.append("alice", **{"raise": "bug"})
    producer.wait_drained(["alice"])

    def both():
        tasks = flower.get("/api/tasks").json()
        found = [tasks.get(str(each.job_id)) for each in (good, bad)]
        return found if all(each and each["state"] != "STARTED" for each in found) else None

    done, dead = wait_until(both, "Flower has heard of both jobs")
    assert done["name"] == dead["name"] == "memci.memory.create"
    assert (done["state"], dead["state"]) == ("SUCCESS", "FAILURE")
    assert '"agent_id": "alice"' in done["kwargs"]
    assert done["routing_key"] == "memci.agent.alice"
    assert done["runtime"] > 0.02
    assert "ZeroDivisionError" in dead["exception"]
    page = flower.get("/tasks").text
    assert "memci.memory.create" in page or "tasks-table" in page
    text = flower.get("/api/tasks").text
    assert "secret text" not in text, "no message text and no error's own words"
    assert "hello" not in text


def test_flower_needs_its_password_and_controls_no_worker(flower):
    for path in ("/", "/workers", "/tasks", "/broker", "/metrics", "/api/workers", "/api/tasks"):
        assert httpx.get(f"{flower.base_url}{path}").status_code == 401, path
        guess = httpx.get(f"{flower.base_url}{path}", auth=("memci", "guess"))
        assert guess.status_code == 401, path
    answer = flower.post("/api/worker/shutdown/w0@test")
    assert answer.status_code in (403, 404, 405)


def test_flower_does_not_start_without_a_password(fleet):
    done = fork_server().run(
        ["python", "-m", "workers.flower"], {**os.environ, **fleet.environment}, b""
    )
    assert done.returncode == 1
    assert "MEMCI_FLOWER_PASSWORD" in done.stderr
    assert "Traceback" not in done.stderr
