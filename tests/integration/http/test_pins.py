"""Pinned texts over HTTP, by the client and on the command line."""

from __future__ import annotations

import httpx
import pytest

from memci import Memci
from memci.domain.pages.permission import Actor
from tests.integration.http.serving import Served
from tests.support.command_line import run, run_json


@pytest.fixture
def pinned(server: Served) -> str:
    """Return the address of an agent's pins."""
    with Memci(server.url) as memci:
        memci.agent("ada").remember([{"role": "user", "content": "写报告", "id": "m/1"}])
    return f"{server.url}/v1/agents/ada/pins"


def test_pins_are_made_listed_and_removed(server: Served, pinned: str) -> None:
    made = httpx.post(pinned, json={"text": "Never fly", "kind": "constraint"})
    assert made.status_code == 200, made.text
    assert made.json()["tokens_after"] > made.json()["tokens_before"]
    assert httpx.post(pinned, json={"message": "m/1"}).json()["pin"] == 2
    server.runtime.tools.run("ada", Actor.AGENT, "pin_page", {"index": "usr-1"})
    listed = httpx.get(pinned).json()
    assert [
        (each["pin"], each["text"], each["by"], each["message"]) for each in listed["pins"]
    ] == [
        (1, "Never fly", "developer", None),
        (2, "写报告", "developer", "m/1"),
    ]
    assert listed["pages"] == ["usr-1"]
    window = httpx.get(pinned.replace("pins", "window")).json()
    assert window["by_segment"]["pins"] == listed["tokens"]
    assert httpx.delete(f"{pinned}/1").status_code == 200
    assert httpx.delete(f"{pinned}/1").status_code == 404
    settings = {"MEMCI_API_URL": server.url}
    printed = run_json("pages", "pins", "--agent", "ada", settings=settings)
    assert [each["pin"] for each in printed["pins"]] == [2]
    assert "写报告" in run("pages", "pins", "--agent", "ada", settings=settings).stdout


def test_invalid_pins_are_refused(pinned: str) -> None:
    assert httpx.post(pinned, json={}).status_code == 422
    assert httpx.post(pinned, json={"text": "a", "message": "m/1"}).status_code == 422
    assert httpx.post(pinned, json={"text": "word " * 3_000}).status_code == 413
    assert httpx.post(pinned, json={"message": "other"}).status_code == 404
    assert httpx.delete(f"{pinned}/0").status_code == 422
    nobody = pinned.replace("ada", "nobody")
    assert httpx.get(nobody).status_code == 404
    assert httpx.get(pinned).json()["pins"] == []
