"""Streams of events: whose, from where, how many, and how they end."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from memci.api_keys import new_key
from memci.config.settings import Settings
from memci.domain.memory.node import NodeEvent
from memci.http import event_stream
from memci.schemas.keys import KeyRequest
from memci.storage.network.node_history import append_history
from memci.testing import wait_until
from tests.integration.http.serving import Served, served


def tell(server: Served, agent_id: str, node: int) -> None:
    with server.runtime.database.agent_transaction(agent_id, durable=False) as connection:
        append_history(connection, agent_id, NodeEvent.CREATED, 0, {node: {}})


@pytest.fixture
def keys() -> dict[str, tuple[str, Any]]:
    return {
        "all": new_key("all", scope="read"),
        "a": new_key("a", agents="a*", scope="read"),
        **{name: new_key(name, scope="read") for name in ("c", "d", "e")},
    }


@pytest.fixture
def server(database_url: str, broker_url: str, keys, monkeypatch) -> Iterator[Served]:
    monkeypatch.setattr(event_stream, "_POLL_S", 0.05)
    monkeypatch.setattr(event_stream, "_HEARTBEAT_S", 0.2)
    settings = Settings(
        database_url=SecretStr(database_url),
        broker_url=SecretStr(broker_url),
        api_keys=tuple(entry for _, entry in keys.values()),
        http_max_streams=8,
    )
    with served(settings) as running:
        yield running


@contextmanager
def stream(server: Served, key: str, last: str | None = None, **params: str) -> Iterator[Any]:
    headers = {"Authorization": f"Bearer {key}"} | ({"Last-Event-ID": last} if last else {})
    with (
        httpx.Client(base_url=server.url, headers=headers, timeout=20) as client,
        client.stream("GET", "/v1/events", params=params) as response,
    ):
        yield response


def blocks(response: httpx.Response) -> Iterator[dict[str, str]]:
    """Yield the fields of each block."""
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.strip()
        else:
            yield fields
            fields = {}


def is_event(block: dict[str, str]) -> bool:
    return "data" in block


def test_a_stream_has_the_events_of_the_agents_of_its_key(server, keys):
    with stream(server, keys["a"][0], types="memory.created,job.dead") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        come = blocks(response)
        assert next(come).keys() == {"", "id"}, "a comment, with a position"
        for node, agent_id in enumerate(("a1", "b", "a2")):
            tell(server, agent_id, node)
        first, second = (next(filter(is_event, come)) for _ in range(2))
    assert first["event"] == "memory.created"
    data = json.loads(first["data"])
    assert data.pop("timestamp")
    assert data == {
        "id": first["id"], "type": "memory.created", "agent": "a1", "data": {"node_id": 0},
    }  # fmt: skip
    assert json.loads(second["data"])["agent"] == "a2"
    with stream(server, keys["all"][0], last=first["id"], after="0.0", agents="a*,c") as response:
        assert next(filter(is_event, blocks(response)))["id"] == second["id"], "the header wins"


def test_a_client_that_is_cut_off_again_and_again_gets_each_event_once(server, keys):
    """While four writers commit, it connects again with the last id."""
    writers, of_each = 4, 30
    threads = [
        threading.Thread(
            target=lambda n=n: [tell(server, f"a{n}", each) for each in range(of_each)]
        )
        for n in range(writers)
    ]
    seen: list[tuple[str, int]] = []
    last = "0.0"
    for each in threads:
        each.start()
    while len(seen) < writers * of_each:
        with stream(server, keys["a"][0], last=last) as response:
            for _, each in zip(range(9), blocks(response), strict=False):
                last = each["id"]
                if is_event(each):
                    event = json.loads(each["data"])
                    seen.append((event["agent"], event["data"]["node_id"]))
    for n in range(writers):
        assert [node for agent, node in seen if agent == f"a{n}"] == list(range(of_each))
    with stream(server, keys["a"][0], last=last) as response:
        assert not is_event(next(blocks(response))), "nothing comes twice"


def test_too_many_streams_are_refused_until_one_ends(server, keys):
    """One key may have a quarter of all."""
    *first, almost, last = [key for key, _ in keys.values()]

    def status(key: str) -> int:
        with stream(server, key) as response:
            assert response.status_code == 200 or "retry-after" in response.headers
            return response.status_code

    with ExitStack() as opened:
        for key in first:
            for _ in range(2):
                assert opened.enter_context(stream(server, key)).status_code == 200
            assert status(key) == 429, "others have room"
        for key in (almost, last):
            assert opened.enter_context(stream(server, key)).status_code == 200
        assert status(last) == 429, "all are open"
    wait_until(lambda: status(last) == 200, "a stream that has ended counts no more")


def test_a_stream_ends_with_its_key(server):
    made = server.runtime.keys.new(KeyRequest(name="b", agents="b*"))

    def accepted() -> bool:
        with stream(server, made.key) as response:
            return response.status_code == 200

    wait_until(accepted, "the API knows the key")
    with stream(server, made.key) as response:
        server.runtime.keys.revoke("b")
        for _ in blocks(response):
            pass  # it ends
    wait_until(lambda: not accepted(), "the API knows that it is revoked")


@pytest.mark.parametrize("wrong", [{"types": "memory.lost"}, {"after": "x"}, {"agent": "a"}])
def test_wrong_parameters_are_named(server, keys, wrong):
    with stream(server, keys["all"][0], **wrong) as response:
        assert response.status_code == 422
        assert [json.loads(response.read())["field"]] == list(wrong)


def test_a_wrong_id_of_an_event_is_explained(server, keys):
    with stream(server, keys["all"][0], last="x", after="0.0") as response:
        problem = json.loads(response.read())
    assert problem["field"] == "Last-Event-ID"
    assert "the id of an event" in problem["detail"]


def test_streams_end_when_the_server_stops(database_url, broker_url):
    settings = Settings(database_url=SecretStr(database_url), broker_url=SecretStr(broker_url))
    ended = threading.Event()

    def read(response: httpx.Response) -> None:
        for _ in blocks(response):
            pass
        ended.set()

    with ExitStack() as opened:
        with served(settings) as server:
            response = opened.enter_context(stream(server, "none"))
            reader = threading.Thread(target=read, args=(response,))
            reader.start()
        # The server has stopped within its 20 seconds.
        assert ended.wait(5), "the answer is complete"
        reader.join()


def test_events_of_an_agent_are_listed_page_by_page(server, keys):
    for node in range(3):
        tell(server, "a", node)
        tell(server, "b", node)
    with httpx.Client(
        base_url=server.url, headers={"Authorization": f"Bearer {keys['a'][0]}"}
    ) as client:
        wait_until(
            lambda: len(client.get("/v1/agents/a/events").json()["events"]) == 3, "all are complete"
        )
        first = client.get("/v1/agents/a/events", params={"limit": 2}).json()
        assert [each["data"]["node_id"] for each in first["events"]] == [0, 1]
        assert first["next_cursor"] == first["events"][-1]["id"]
        rest = client.get("/v1/agents/a/events", params={"cursor": first["next_cursor"]}).json()
        assert [each["data"]["node_id"] for each in rest["events"]] == [2]
        assert client.get("/v1/agents/b/events").status_code == 403
