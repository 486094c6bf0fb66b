"""Webhooks: real workers deliver to a real receiver, which verifies what it gets."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from uuid import UUID

import httpx
import pytest
from pydantic import SecretStr

from memci.api_keys import new_key
from memci.config.settings import Settings
from memci.domain.memory.node import NodeEvent
from memci.storage.network.node_history import append_history
from memci.storage.webhooks import read_webhook
from memci.testing import wait_until
from memci.webhooks.send import Sender, is_public, new_secret
from tests.integration.http.serving import Served, served
from tests.support.fleet import Fleet, fleet
from tests.support.receiver import CLOSE, OK, Receiver, receiver

SETTINGS = {
    "MEMCI_WEBHOOKS_ALLOW_PRIVATE": "true",
    "MEMCI_WEBHOOKS_RETRIES_S": "[0, 0.1, 0.1]",
    "MEMCI_WEBHOOKS_TIMEOUT_S": "1",
}
ADMIN = new_key("all", scope="admin")
OF_A = new_key("a", agents="a*", scope="admin")


@pytest.fixture
def hooked() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


@pytest.fixture
def server(database_url: str, broker_url: str) -> Iterator[Served]:
    settings = Settings(
        database_url=SecretStr(database_url),
        broker_url=SecretStr(broker_url),
        api_keys=(ADMIN[1], OF_A[1]),
        webhooks_allow_private=True,
    )
    with served(settings) as running:
        yield running


@pytest.fixture
def http(server: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{server.url}/v1", headers=auth(ADMIN)) as client:
        yield client


@pytest.fixture
def workers(server, database_url, broker_url, tmp_path) -> Iterator[Fleet]:
    """An upkeep worker, which starts when the test has prepared what it needs."""
    with fleet(database_url, broker_url, tmp_path, **SETTINGS) as made:
        made.app = "workers"
        made.start("memci.upkeep", ready=False)
        yield made


def auth(key: tuple[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {key[0]}"}


def tell(server: Served, agent_id: str, *nodes: int) -> None:
    for node in nodes:
        with server.runtime.database.agent_transaction(agent_id) as connection:
            append_history(connection, agent_id, NodeEvent.CREATED, 0, {node: {}})


def add(http: httpx.Client, url: str, **more: Any) -> dict[str, Any]:
    answer = http.post("/webhooks", json={"url": url, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def state(http: httpx.Client, hook: dict[str, Any]) -> dict[str, Any]:
    return http.get(f"/webhooks/{hook['id']}").json()


def test_events_arrive_signed_and_in_order(server, http, workers, hooked):
    tell(server, "a", 0)
    hook = add(http, hooked.url, agents="a", types=["memory.created"])
    tell(server, "b", 9)
    tell(server, "a", *range(1, 30))
    wait_until(lambda: len(hooked.requests) == 29, "all arrive", timeout_s=60)
    events = hooked.events(hook["secret"])
    assert [each["data"]["node_id"] for each in events] == list(range(1, 30))
    assert {each["agent"] for each in events} == {"a"}
    assert hooked.ids == [each["id"] for each in events]
    with pytest.raises(Exception, match="No matching signature"):
        hooked.events(new_secret())
    # Again from an event, with the same ids.
    http.post(f"/webhooks/{hook['id']}/replay", json={"after": events[26]["id"]})
    wait_until(lambda: len(hooked.requests) == 31, "the last two arrive again", timeout_s=20)
    assert hooked.ids[29:] == hooked.ids[27:29]
    never = http.post(f"/webhooks/{hook['id']}/replay", json={"after": f"{10**17}.1"})
    assert (never.status_code, "after the newest event" in never.text) == (422, True)


def test_failures_are_tried_again_with_the_same_id_before_later_events(
    server, http, workers, hooked
):
    """An error, a closed connection, and no answer in time."""
    hang = threading.Event()

    def answer(number: int) -> int:
        if number == 3:
            hang.wait(20)
        return {1: 500, 2: CLOSE}.get(number, OK)

    hooked.answer = answer
    hook = add(http, hooked.url)
    tell(server, "a", 1, 2)
    wait_until(lambda: len(hooked.requests) == 5, "all arrive", timeout_s=60)
    hang.set()
    first, *_, last = hooked.ids
    assert hooked.ids == [first] * 4 + [last]
    wait_until(lambda: state(http, hook)["position"] == last, "the last is noted")
    now = state(http, hook)
    assert (now["enabled"], now["attempts"]) == (True, 0)
    tries = [(each["attempt"], each["status"], each["error"]) for each in now["deliveries"]]
    assert tries == [
        (1, 204, None),
        (4, 204, None),
        (3, None, "no answer within 1 s"),
        (2, None, "the answer is not HTTP (RemoteProtocolError)"),
        (1, 500, "answered 500"),
    ]


@pytest.mark.parametrize(
    ("status", "reason", "requests"),
    [
        (410, "the receiver answered 410: it is gone", 1),
        (302, "4 attempts failed: answered 302: redirects are not followed", 4),
    ],
)
def test_a_webhook_without_success_is_disabled(
    server, http, workers, hooked, status, reason, requests
):
    with receiver() as elsewhere:
        hooked.answer = lambda _number: status
        hooked.headers = {"location": elsewhere.url}
        hook = add(http, hooked.url)
        tell(server, "a", 1)
        wait_until(lambda: not state(http, hook)["enabled"], "it is disabled", timeout_s=60)
        assert state(http, hook)["disabled_reason"] == reason
        assert (len(hooked.requests), elsewhere.requests) == (requests, [])
        # Enabled again, it goes on with the same event.
        hooked.answer = lambda _number: OK
        changed = http.patch(f"/webhooks/{hook['id']}", json={"enabled": True}).json()
        assert (changed["enabled"], changed["disabled_reason"]) == (True, None)
        wait_until(lambda: len(hooked.requests) > requests, "it arrives", timeout_s=20)
        assert len(set(hooked.ids)) == 1


def test_a_task_that_waited_does_not_shorten_the_pause(server, http, hooked):
    hooked.answer = lambda _number: 500
    hook = add(http, hooked.url)
    tell(server, "a", 1)

    def deliver() -> int:
        server.runtime.courier.deliver(UUID(hook["id"]))
        return len(hooked.requests)

    wait_until(deliver, "the first attempt")
    assert deliver() == 1
    assert state(http, hook)["attempts"] == 1


def test_dead_receivers_do_not_delay_others(server, http, workers, hooked):
    """More of them than threads; each attempt takes all its time."""
    silent = socket.create_server(("127.0.0.1", 0), backlog=64)
    with silent:
        for _ in range(6):
            add(http, f"http://127.0.0.1:{silent.getsockname()[1]}/")
        add(http, hooked.url)
        tell(server, "a", 1)
        wait_until(lambda: len(hooked.requests) == 1, "it arrives", timeout_s=30)


@pytest.mark.timeout(120)
def test_an_event_whose_worker_was_killed_arrives_again(server, http, workers, hooked):
    hang = threading.Event()

    def answer(number: int) -> int:
        if number == 1:
            hang.wait(20)
        return OK

    hooked.answer = answer
    add(http, hooked.url)
    tell(server, "a", 1)
    wait_until(lambda: hooked.requests, "the delivery is under way", timeout_s=60)
    workers.workers[0].kill()
    hang.set()
    workers.start("memci.upkeep", ready=False)
    wait_until(lambda: len(hooked.requests) == 2, "it arrives again", timeout_s=60)
    assert len(set(hooked.ids)) == 1


def test_what_is_rolled_back_is_not_told(server, http, workers, hooked):
    hook = add(http, hooked.url)
    with (
        pytest.raises(ZeroDivisionError),
        server.runtime.database.agent_transaction("a") as connection,
    ):
        append_history(connection, "a", NodeEvent.CREATED, 0, {1: {}})
        raise ZeroDivisionError
    tell(server, "a", 2)
    wait_until(lambda: hooked.requests, "an event arrives", timeout_s=60)
    assert [each["data"]["node_id"] for each in hooked.events(hook["secret"])] == [2]


def test_a_rotated_secret_and_the_one_before_sign(server, http, hooked):
    hook = add(http, hooked.url)
    new = http.post(f"/webhooks/{hook['id']}/rotate").json()["secret"]
    assert "secret" not in state(http, hook)
    with server.runtime.database.upkeep_transaction() as connection:
        told = repr(read_webhook(connection, UUID(hook["id"])))
    assert hook["id"] in told
    assert not any(each in told for each in (hook["secret"], new, hooked.url))
    tested = http.post(f"/webhooks/{hook['id']}/test").json()
    assert (tested["status"], tested["error"]) == (204, None)
    for secret in (hook["secret"], new):
        assert [each["type"] for each in hooked.events(secret)] == ["webhook.test"]
    assert state(http, hook)["deliveries"] == []


def test_a_key_manages_webhooks_of_its_agents_alone(server, http, hooked):
    other = add(http, hooked.url)
    with httpx.Client(base_url=f"{server.url}/v1", headers=auth(OF_A)) as own:
        for wrong in ("*", "b", "a,b", "?"):
            assert (
                own.post("/webhooks", json={"url": hooked.url, "agents": wrong}).status_code == 403
            )
        made = add(own, hooked.url, agents="a1,ab*")
        assert [each["id"] for each in own.get("/webhooks").json()["webhooks"]] == [made["id"]]
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/rotate"), ("POST", "/test")):
            assert own.request(method, f"/webhooks/{other['id']}{path}").status_code == 404
        assert own.patch(f"/webhooks/{made['id']}", json={"agents": "b"}).status_code == 403
        assert own.delete(f"/webhooks/{made['id']}").status_code == 200
    done = [(each["action"], each["subject"]) for each in http.get("/audit").json()["records"]]
    assert done[0] == ("remove_webhook", made["id"])
    assert ("add_webhook", made["id"]) in done
    assert [each["id"] for each in http.get("/webhooks").json()["webhooks"]] == [other["id"]]


@pytest.mark.parametrize(
    "url",
    ["ftp://example.org", "http://user:word@example.org/", "http://", "no address", "file:///etc"],
)
def test_other_addresses_are_refused(http, url):
    answer = http.post("/webhooks", json={"url": url})
    assert (answer.status_code, answer.json()["field"]) == (422, "url")


def post(url: str, *, allow_private: bool) -> str | None:
    async def send() -> str | None:
        secrets = [new_secret()]
        async with Sender(url, secrets, timeout_s=5, allow_private=allow_private) as sender:
            return (await sender.send("1.1", b"{}")).error

    return asyncio.run(send())


class TestPrivateAddresses:
    @pytest.mark.parametrize(
        "address",
        ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200",
         "168.63.129.16", "0.0.0.0",  # noqa: S104 - it is refused
         "224.0.0.1", "255.255.255.255", "240.0.0.1", "::1", "::",
         "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1",
         "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1"],
    )  # fmt: skip
    def test_special_addresses_are_not_public(self, address):
        assert not is_public(address)

    @pytest.mark.parametrize("address", ["93.184.215.14", "::ffff:8.8.8.8", "2606:4700::1111"])
    def test_others_are(self, address):
        assert is_public(address)

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"])
    def test_none_is_connected_to(self, hooked, host):
        error = post(hooked.url.replace("127.0.0.1", host), allow_private=False)
        assert error is not None
        assert "private address" in error
        assert hooked.requests == []
        assert post(hooked.url, allow_private=True) is None

    def test_a_name_is_resolved_once_so_it_cannot_change(self, hooked, monkeypatch):
        """DNS rebinding: public when it is checked, private when it would be connected to."""
        asked: list[str] = []
        port = int(hooked.url.split(":")[2].split("/")[0])

        def resolve(host: str, *_: Any, **__: Any) -> list[Any]:
            asked.append(host)
            address = "198.41.0.4" if len(asked) == 1 else "127.0.0.1"
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

        connected: list[str] = []

        async def connect(_self: object, host: str, *_: Any) -> None:
            connected.append(host)
            raise OSError

        monkeypatch.setattr("httpcore.AnyIOBackend.connect_tcp", connect)
        monkeypatch.setattr("socket.getaddrinfo", resolve)
        assert post(f"http://rebound.example:{port}/", allow_private=False)
        assert (asked, connected) == (["rebound.example"], ["198.41.0.4"])
        assert hooked.requests == []

    def test_they_are_refused_when_a_webhook_is_made(self, database_url, broker_url):
        settings = Settings(database_url=SecretStr(database_url), broker_url=SecretStr(broker_url))
        with ExitStack() as opened:
            server = opened.enter_context(served(settings))
            http = opened.enter_context(httpx.Client(base_url=f"{server.url}/v1"))
            for url in ("http://127.0.0.1/", "http://0x7f.1/", "http://[fd00::1]/"):
                answer = http.post("/webhooks", json={"url": url})
                assert (answer.status_code, answer.json()["field"]) == (422, "url")

    def test_proxies_of_the_environment_are_not_used(self, hooked, monkeypatch):
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        assert post(hooked.url, allow_private=True) is None
        assert len(hooked.requests) == 1

    def test_of_an_answer_only_the_beginning_is_read(self, hooked):
        hooked.body = b"x" * 100_000_000
        assert post(hooked.url, allow_private=True) is None
