"""The client against the real API, on threads and on asyncio."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from uuid import UUID, uuid4

import pytest

from memci import Memci
from memci.client import Retries
from memci.domain.job import JobState
from memci.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    ReadTimeoutError,
    UnavailableError,
)
from memci.message import Remember
from memci.schemas.messages import MessageIn
from tests.integration.http.serving import Served

ONCE = Retries(attempts=1)


def test_remembered_messages_can_be_listed(server: Served) -> None:
    with Memci(server.url) as memci:
        memory = memci.agent("alice")
        answer = memory.remember([{"role": "user", "content": "hi"}], session_id="s")
        assert (answer.accepted, answer.seq) == (1, 1)
        assert answer.job_id
        assert memory.job(answer.job_id).state is JobState.QUEUED
        assert [job.id for job in memory.jobs(state=JobState.QUEUED).jobs] == [answer.job_id]
        recorded = memory.record([MessageIn.model_validate({"role": "user", "content": "aside"})],
                                 remember=Remember.NEVER)  # fmt: skip
        assert recorded.job_id is None
        (first,) = memory.messages(session_id="s").messages
        assert first.content == "hi"
        assert memory.about().messages == 2
        assert [each.agent_id for each in memci.agents().agents] == ["alice"]
        assert memci.ready().ready


@pytest.mark.parametrize("blank", ["", " \n", ["hi", "　"]])
def test_a_blank_text_is_refused(server: Served, blank: str | list[str]) -> None:
    with Memci(server.url) as memci:
        with pytest.raises(InvalidInputError, match="must say something"):
            memci.add(blank)
        assert server.count("message") == 0


def test_the_async_client_remembers_and_reads(server: Served) -> None:
    async def work() -> None:
        async with Memci(server.url).aio as memci:
            memory = memci.agent("alice")
            answers = await asyncio.gather(
                *(memory.remember([{"role": "user", "content": str(n)}]) for n in range(5))
            )
            assert sorted(answer.seq for answer in answers) == [1, 2, 3, 4, 5]
            assert (await memory.about()).messages == 5
            with pytest.raises(NotFoundError):
                await memory.node(1)

    asyncio.run(work())


def test_commands_answer(server: Served) -> None:
    with Memci(server.url) as memci:
        memory = memci.agent("alice")
        job_id = memory.remember([{"role": "user", "content": "hi"}]).job_id
        assert job_id
        assert not memory.compress(reason="test").coalesced
        assert memory.pause().paused
        assert not memory.resume().paused
        assert memory.cancel(job_id).state is JobState.CANCELLED
        with pytest.raises(ConflictError):
            memory.replay(job_id)
        with pytest.raises(NotFoundError):
            memory.discard(uuid4())
        assert memory.wait(job_id).state is JobState.CANCELLED
        assert memory.nodes().nodes == []
        assert memory.links().links == []
        assert memory.focus().focus == []


def test_settings_are_replaced_as_a_whole(server: Served) -> None:
    with Memci(server.url) as memci:
        memory = memci.agent("alice")
        memory.configure({"decay_rate": 0.5, "focus_limit": 3})
        changed = memory.configure({"decay_rate": 0.9})
        assert changed == memory.settings()
        assert changed.changed == ["decay_rate"]
        assert changed.parameters["decay_rate"] == 0.9
        assert changed.parameters["focus_limit"] == 5
        with pytest.raises(InvalidInputError) as refused:
            memory.configure({"decay_rate": 2})
        assert refused.value.field == "decay_rate"
        assert memory.settings() == changed


def test_errors_are_exceptions_of_memci(server: Served) -> None:
    with Memci(server.url, retries=ONCE) as memci:
        memory = memci.agent("alice")
        with pytest.raises(InvalidInputError) as refused:
            memory.remember([{"role": "robot", "content": "x"}])
        assert refused.value.field == "messages[0].role"
        with pytest.raises(InvalidInputError, match="JSON"):
            memory.remember([{"role": "user", "content": "\ud800"}])
        with pytest.raises(InvalidInputError, match="JSON"):
            memory.remember([{"role": "user", "content": object()}])
        with pytest.raises(InvalidInputError):
            memci.agent("..")
        with pytest.raises(ReadTimeoutError):
            memory.search("x")
        with pytest.raises(UnavailableError, match="still queued"):
            memory.wait(_job(server), timeout_s=0)
    nobody = Memci("http://127.0.0.1:9", retries=ONCE)
    with nobody, pytest.raises(UnavailableError, match="is it running"):
        nobody.agents()


def test_a_wait_that_times_out_reports_a_paused_or_halted_agent(server: Served) -> None:
    job_id = _job(server)
    with Memci(server.url, retries=ONCE) as memci:
        memory = memci.agent("alice")

        def reasons_of_timeouts() -> set[str]:
            reasons = set()
            for wait in (
                lambda: memory.wait(job_id, timeout_s=0),
                lambda: memory.wait_idle(timeout_s=0),
            ):
                with pytest.raises(UnavailableError) as late:
                    wait()
                reasons.add(str(late.value).partition("; ")[2])
            return reasons

        assert reasons_of_timeouts() == {"do workers run?"}
        memory.pause()
        assert reasons_of_timeouts() == {"agent alice is paused: resume it, and workers go on"}
        memory.resume()
        with server.runtime.database.lane_transaction() as connection:
            connection.exec_driver_sql("UPDATE lane SET halted_by = %s", (job_id,))
        (halted,) = reasons_of_timeouts()
        assert halted.startswith(f"agent alice is halted by dead job {job_id}: replay that job")


def _job(server: Served) -> UUID:
    with Memci(server.url) as memci:
        job_id = memci.agent("alice").remember([{"role": "user", "content": "x"}]).job_id
        assert job_id
        return job_id


def test_the_repr_of_a_client_has_no_key() -> None:
    memci = Memci("http://127.0.0.1:1", api_key="memci_secret")
    assert "secret" not in repr(memci) + repr(memci.agent("a"))
    memci.close()


def test_importing_memci_imports_no_server_package() -> None:
    servers = ["fastapi", "uvicorn", "sqlalchemy", "psycopg", "celery", "kombu", "redis",
               "torch", "pydantic_settings", "structlog", "numpy", "memci.config.settings",
               "memci.runtime"]  # fmt: skip
    code = f"import sys; from memci import Memci; print([m for m in {servers} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
