"""Commands that change jobs, against the real API."""

from __future__ import annotations

from uuid import UUID, uuid4

from memci import Memci
from tests.integration.http.serving import Served
from tests.support.command_line import run, run_json


def make_jobs(server: Served, count: int) -> list[str]:
    with Memci(server.url) as memci:
        answers = [
            memci.agent("ann").remember([{"role": "user", "content": f"Hi {number}"}])
            for number in range(count)
        ]
    return [str(each.job_id) for each in answers]


def kill_job(server: Served, job_id: str) -> None:
    with server.runtime.database.lane_transaction() as connection:
        connection.exec_driver_sql(
            "UPDATE job SET state = 'dead', finished_at = now() WHERE id = %s", (UUID(job_id),)
        )


def states(settings: dict[str, str]) -> list[str]:
    jobs = run_json("jobs", "list", "--agent", "ann", settings=settings)["jobs"]
    return [each["state"] for each in jobs]


def test_a_queued_job_can_be_cancelled(server: Served, settings: dict[str, str]):
    first, _ = make_jobs(server, 2)
    (job,) = run_json("jobs", "cancel", first, "--agent", "ann", settings=settings)["jobs"]
    assert job["state"] == "cancelled"
    # The last job lets search find the messages of the first one.
    assert states(settings) == ["cancelled", "queued", "queued"]


def test_dead_jobs_can_be_discarded(server: Served, settings: dict[str, str]):
    first, second, _ = make_jobs(server, 3)
    kill_job(server, first)
    kill_job(server, second)
    assert len(run_json("jobs", "discard", first, "--agent", "ann", settings=settings)["jobs"]) == 1
    assert (
        len(run_json("jobs", "discard", "--all", "--agent", "ann", settings=settings)["jobs"]) == 1
    )
    assert "dead" not in states(settings)


def test_retry_skips_jobs_that_cannot_be_retried(server: Served, settings: dict[str, str]):
    queued, dead = make_jobs(server, 2)
    kill_job(server, dead)
    unknown = str(uuid4())
    done = run("jobs", "retry", unknown, queued, dead, "--agent", "ann", settings=settings)
    assert done.returncode == 1
    assert unknown in done.stderr
    assert queued in done.stderr
    assert "2 of 3 failed" in done.stderr
    assert states(settings) == ["queued", "queued"]
