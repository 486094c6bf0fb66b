"""Settings that leave too little room give a warning when they are set or shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.integration.http.serving import Served
from tests.support.command_line import run

PROMPT = "You plan journeys. " * 40


class Agent:
    """An agent's settings and its window."""

    def __init__(self, client: httpx.Client, name: str) -> None:
        self._client, self._name = client, name

    def post(self, path: str, **body: Any) -> None:
        self._client.post(f"/{self._name}/{path}", json=body).raise_for_status()

    def warned(self, **settings: Any) -> str:
        """Change settings and return the warnings; reading the settings gives the same."""
        put = self._client.put(f"/{self._name}/settings", json=settings).raise_for_status().json()
        got = self._client.get(f"/{self._name}/settings").raise_for_status().json()
        assert got["warnings"] == put["warnings"]
        return "\n".join(put["warnings"])

    @property
    def over(self) -> int:
        answer = self._client.get(f"/{self._name}/window")
        return int(answer.raise_for_status().json()["over"])


@pytest.fixture
def agents(server: Served) -> Iterator[Callable[[str], Agent]]:
    with httpx.Client(base_url=f"{server.url}/v1/agents") as client:
        yield lambda name: Agent(client, name)


@pytest.fixture
def alice(agents: Callable[[str], Agent]) -> Agent:
    made = agents("alice")
    made.post("pages/create_detail_page", parent="sys-0", name="Rules", detail=PROMPT)
    for number in range(4):
        messages = [{"role": "user", "content": f"Question {number}? " * 20}]
        made.post("messages", messages=messages, session_id="s1", remember="never")
    return made


def test_a_limit_that_is_too_low_gives_a_warning_with_advice(alice: Agent):
    assert alice.warned() == ""
    warning = alice.warned(window_max_tokens=100)
    found = re.fullmatch(
        r"what cannot be hidden takes ([\d,]+) tokens, and window_max_tokens is 100: set it to"
        r" (\d+) or more, or shorten system prompts, take down pins, unpin pages",
        warning,
    )
    assert found is not None, warning
    least = int(found[2])
    assert int(found[1].replace(",", "")) == least
    assert alice.over > 0
    assert alice.warned(window_max_tokens=least) == ""
    assert alice.over == 0, "what it says holds"
    assert f"takes {least:,} tokens" in alice.warned(window_max_tokens=least - 1)
    assert alice.over > 0


def test_warnings_before_the_first_message(agents: Callable[[str], Agent]):
    bob = agents("bob")
    assert bob.warned(window_max_tokens=100) == ""
    assert bob.warned(window_max_tokens=100, attp=True).endswith(
        "unpin pages, turn attp off, whose page of sys is long"
    )
    assert bob.warned(attp=True) == ""


def test_the_command_line_shows_the_warning(alice: Agent, server: Served):
    settings = {"MEMCI_API_URL": server.url}
    done = run("agents", "settings", "window_max_tokens=100", "--agent", "alice", settings=settings)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[1].split() == ["window_max_tokens", "100", "changed"]
    assert lines[2].startswith("what cannot be hidden takes ")
    assert " tokens, and window_max_tokens is 100: set it to " in lines[2]
    assert run("agents", "settings", "--agent", "alice", settings=settings).stdout.endswith(
        f"\n{lines[2]}\n"
    )
    printed = run("agents", "settings", "--reset", "--agent", "alice", settings=settings).stdout
    assert "cannot be hidden" not in printed
