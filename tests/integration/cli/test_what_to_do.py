"""What stands in the way is said together with the command or setting that removes it."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from memci import access
from memci.config import Settings
from tests.integration.http.serving import Served, served
from tests.support.command_line import run


@pytest.mark.parametrize(("key", "told"), [(None, "wants an API key"), ("x", "does not know")])
def test_a_key_is_asked_for_by_its_setting(
    database_url: str, broker_url: str, key: str | None, told: str
):
    _, entry = access.new_key("ann")
    settings = Settings(
        database_url=SecretStr(database_url), broker_url=SecretStr(broker_url), api_keys=(entry,)
    )
    given = {"MEMCI_API_KEY": key} if key else {}
    with served(settings) as server:
        done = run("agents", settings={"MEMCI_API_URL": server.url, **given})
    assert done.returncode == 1
    assert told in done.stderr
    assert "set MEMCI_API_KEY" in done.stderr


def test_a_read_without_a_context_worker_names_what_runs_one(server: Served):
    done = run("recall", "cats", "--agent", "ann", settings={"MEMCI_API_URL": server.url})
    assert done.returncode == 1
    assert "`memci up` runs one" in done.stderr
    assert "`memci doctor`" in done.stderr


def test_nobody_waits_for_an_agent_that_is_paused(server: Served):
    settings = {"MEMCI_API_URL": server.url}
    run("remember", "-", "--agent", "ann", settings=settings, standard_input="Ann: Hi\n")
    assert run("pause", "--agent", "ann", settings=settings).returncode == 0
    said = run(
        "remember", "-", "--agent", "ann", "--wait", settings=settings, standard_input="Ann: Bye\n"
    )
    asked = run("compress", "--agent", "ann", "--wait", settings=settings)
    assert said.stdout.startswith("1 messages stored")
    for done in (said, asked):
        assert done.returncode == 1
        assert "agent ann is paused: `memci resume --agent ann`" in done.stderr
