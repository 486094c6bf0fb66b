"""What docs/frameworks.md shows works as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from memci.embedded import Postgres, Redis
from memci.http.proxy import memory
from memci.testing import wait_until
from tests.integration.http.proxying import stored
from tests.integration.http.serving import Served, served_by_workers
from tests.support.fleet import ROOT
from tests.support.model_server import ModelServer, model_server, says

TEXT = (ROOT / "docs/frameworks.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


@pytest.fixture(scope="module")
def server(
    shared_postgres: Postgres,
    process_redis: Redis,
    model: ModelServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Served]:
    servers, folder = (shared_postgres, process_redis), tmp_path_factory.mktemp("document")
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "MEMORY_TIMEOUT_S", 60)  # the first read loads the models
        running, _ = stack.enter_context(
            served_by_workers(
                servers,
                folder,
                "memci.read,memci.lane",
                app="workers",
                proxy_upstream_url=model.url,
                http_read_timeout_ms=60_000,
            )
        )
        yield running


def run(place: int, server: Served, model: ModelServer) -> None:
    """Run one of the programs, with the addresses of the test."""
    code = BLOCKS[place].replace("http://127.0.0.1:8000", server.url)
    code = code.replace("http://127.0.0.1:11434/v1", model.url)
    made: dict[str, Any] = {"__name__": "shown"}
    try:
        exec(compile(code, "docs/frameworks.md", "exec"), made)  # noqa: S102 - that is the test
    finally:
        for each in made.values():
            if hasattr(each, "_transport"):
                each._transport.close()
            elif type(each).__name__ == "OpenAI":
                each.close()


@pytest.mark.timeout(180)
def test_a_client_of_the_proxy(
    server: Served, model: ModelServer, capsys: pytest.CaptureFixture[str]
):
    model.rest = says("Bees!")
    run(0, server, model)
    assert capsys.readouterr().out == "Bees!\n"
    wait_until(lambda: len(stored(server, "alice")) == 2, "the chat is recorded")


@pytest.mark.timeout(180)
def test_a_graph_with_store_and_saver(
    server: Served, model: ModelServer, capsys: pytest.CaptureFixture[str]
):
    run(1, server, model)
    assert capsys.readouterr().out == "Enjoy your noodles!\n"


@pytest.mark.timeout(180)
def test_a_graph_whose_model_is_shown_what_memci_assembles(
    server: Served, model: ModelServer, capsys: pytest.CaptureFixture[str]
):
    model.rest = says("Mia.")
    run(2, server, model)
    assert capsys.readouterr().out == "Mia.\n"
    shown = model.asked[-1].body["messages"]
    assert shown[0]["content"] == "You are Bob."
    assert "I have a cat named Mia." in [each["content"] for each in shown]
    assert len(stored(server, "bob")) == 4
    assert len(BLOCKS) == 3
