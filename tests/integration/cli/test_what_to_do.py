"""Errors name the command or setting that solves them."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from pydantic import SecretStr

from memci import api_keys
from memci.cli.commands.jobs import tries
from memci.config.settings import Settings
from memci.domain.job import JobState
from memci.domain.memory.node import NodeEvent
from memci.schemas.agents import JobAnswer
from memci.storage.network.node_history import append_history
from tests.integration.http.serving import Served, served
from tests.support.command_line import run


@pytest.mark.parametrize(("key", "text"), [(None, "requires an API key"), ("x", "does not accept")])
def test_a_missing_or_wrong_key_is_reported_with_its_setting(
    database_url: str, broker_url: str, key: str | None, text: str
):
    _, entry = api_keys.new_key("ann")
    settings = Settings(
        database_url=SecretStr(database_url), broker_url=SecretStr(broker_url), api_keys=(entry,)
    )
    given = {"MEMCI_API_KEY": key} if key else {}
    with served(settings) as server:
        done = run("agents", "list", settings={"MEMCI_API_URL": server.url, **given})
    assert done.returncode == 1
    assert text in done.stderr
    assert "set MEMCI_API_KEY" in done.stderr


def test_a_read_without_a_context_worker_names_what_runs_one(server: Served):
    done = run("recall", "cats", "--agent", "ann", settings={"MEMCI_API_URL": server.url})
    assert done.returncode == 1
    assert "`memci up` runs one" in done.stderr
    assert "`memci doctor`" in done.stderr


def test_a_folder_that_cannot_be_made_is_named_with_the_reason():
    done = run("sample", "/proc/nothing")
    assert done.returncode == 1
    assert done.stderr.startswith("memci: /proc/nothing cannot be used: No such file or directory;")


def test_no_command_waits_for_a_paused_agent(server: Served):
    settings = {"MEMCI_API_URL": server.url}
    run("remember", "-", "--agent", "ann", settings=settings, standard_input="Ann: Hi\n")
    assert run("agents", "pause", "--agent", "ann", settings=settings).returncode == 0
    remembered = run(
        "remember", "-", "--agent", "ann", "--wait", settings=settings, standard_input="Ann: Bye\n"
    )
    compressed = run("memory", "compress", "--agent", "ann", "--wait", settings=settings)
    assert remembered.stdout.startswith("1 message stored")
    for done in (remembered, compressed):
        assert done.returncode == 1
        assert "agent ann is paused: `memci agents resume --agent ann`" in done.stderr


def test_an_invalid_cursor_is_wrong_use(server: Served):
    done = run("agents", "list", "--cursor", "zzz", settings={"MEMCI_API_URL": server.url})
    assert (done.returncode, done.stdout) == (2, "")
    assert "not a cursor of this list" in done.stderr


def test_a_forgotten_memory_is_shown_with_its_history(server: Served):
    settings = {"MEMCI_API_URL": server.url}
    run("remember", "-", "--agent", "ann", settings=settings, standard_input="Ann: Hi\n")
    with server.runtime.database.agent_transaction("ann") as connection:
        append_history(connection, "ann", NodeEvent.FORGOTTEN, 3, {7: {"reason": "importance"}})
    done = run("memory", "nodes", "7", "--agent", "ann", settings=settings)
    assert done.returncode == 0
    assert "node 7 no longer exists" in done.stdout
    assert "reason importance" in done.stdout
    never = run("memory", "nodes", "8", "--agent", "ann", settings=settings)
    assert (never.returncode, never.stdout) == (1, "")


def test_a_job_that_succeeded_at_once_was_tried_once():
    at = datetime(2026, 3, 2, tzinfo=UTC)
    job = JobAnswer(
        id=uuid4(), agent_id="ann", kind="k", source="http", state=JobState.DONE, first_seq=1,
        last_seq=2, attempts=0, started=0, not_before=None, error=None, result=None, created_at=at,
        started_at=at, finished_at=at,
    )  # fmt: skip
    assert tries(job) == 1
    assert tries(job.model_copy(update={"state": JobState.QUEUED})) == 0
    assert tries(job.model_copy(update={"state": JobState.DEAD, "attempts": 15})) == 15


def test_an_unknown_agent_is_reported_with_a_command(server: Served):
    settings = {"MEMCI_API_URL": server.url}
    for words in (
        ("memory", "nodes", "--agent", "nobody"),
        ("memory", "watch", "-a", "nobody"),
        ("jobs", "list", "-a", "nobody"),
    ):
        done = run(*words, settings=settings)
        assert done.returncode == 1
        assert "there is no agent nobody" in done.stderr
        assert "`memci agents list` lists all agents" in done.stderr
        assert "/v1/" not in done.stderr


def test_all_commands_report_a_missing_file_alike(server: Served):
    settings = {"MEMCI_API_URL": server.url}
    for words in (("remember", "none.zip", "--agent", "ann"), ("agents", "import", "none.zip")):
        done = run(*words, settings=settings)
        assert (done.returncode, done.stderr) == (2, "memci: none.zip: there is no such file\n")
