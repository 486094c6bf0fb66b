"""API keys in the database: made, rotated and revoked while several APIs run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import event

from memci.api_keys import new_key
from memci.client import Memci
from memci.config.groups import KeyLimits
from memci.errors import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    UnauthorizedError,
)
from memci.http.key_cache import KeyCache
from memci.storage.session import Database
from memci.testing import wait_until
from tests.integration.http.conftest import Serve
from tests.integration.http.serving import Served

ADMIN, ENTRY = new_key("boss", scope="admin")


@pytest.fixture
def server(serve: Serve) -> Served:
    return serve(api_keys=(ENTRY,))


@pytest.fixture
def memci(server: Served) -> Iterator[Memci]:
    with Memci(server.url, api_key=ADMIN) as client:
        yield client


def agents(url: str, key: str | None) -> int:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx.get(f"{url}/v1/agents", headers=headers).status_code


def test_a_key_works_at_once_here_and_soon_elsewhere_until_it_is_revoked(
    serve: Serve, server: Served, memci: Memci
) -> None:
    other = serve(api_keys=(ENTRY,))
    made = memci.new_key("app", agents="shop-*", scope="write")
    assert agents(server.url, made.key) == 200
    wait_until(lambda: agents(other.url, made.key) == 200, "the other API knows the key")
    memci.revoke_key("app")
    assert agents(server.url, made.key) == 401
    wait_until(lambda: agents(other.url, made.key) == 401, "the other API refuses the key")
    assert [(each.name, each.state) for each in memci.keys().keys] == [
        ("app", "revoked"),
        ("boss", "active"),
    ]
    for forbidden in (memci.revoke_key, memci.rotate_key, memci.new_key):
        with pytest.raises(ConflictError):
            forbidden("app")


def test_only_hashes_are_stored_and_shown(
    server: Served, memci: Memci, logged: Callable[[], list[dict[str, Any]]]
) -> None:
    made = memci.new_key("app")
    rotated = memci.rotate_key("app")
    with server.runtime.database.lane_transaction() as connection:
        row = str(connection.exec_driver_sql("SELECT api_key.*::text FROM api_key").all())
    for key in (made.key, rotated.key):
        for text in (row, memci.keys().model_dump_json(), str(logged())):
            assert key.removeprefix("memci_") not in text
    assert "sha256:" in row


def test_a_rotated_key_is_accepted_for_its_time(server: Served, memci: Memci) -> None:
    first = memci.new_key("app").key
    second = memci.rotate_key("app", grace_s=3600).key
    assert [agents(server.url, each) for each in (first, second)] == [200, 200]
    third = memci.rotate_key("app", grace_s=0).key
    assert [agents(server.url, each) for each in (first, second, third)] == [401, 401, 200]


def test_a_key_expires(server: Served, memci: Memci) -> None:
    ends = datetime.now(UTC) + timedelta(seconds=1)
    key = memci.new_key("app", expires_at=ends).key
    assert agents(server.url, key) == 200
    wait_until(lambda: agents(server.url, key) == 401, "the key has expired")
    assert memci.keys().keys[0].state == "expired"
    for ask in (
        lambda: memci.new_key("late", expires_at=ends),
        lambda: memci.change_key("app", expires_at=ends),
    ):
        with pytest.raises(InvalidInputError, match="future"):
            ask()
    memci.change_key("app", expires_at=datetime.now(UTC) + timedelta(hours=1))
    assert agents(server.url, key) == 200


def test_nobody_gives_or_takes_more_than_they_have(server: Served, memci: Memci) -> None:
    lead = memci.new_key(
        "lead", agents="team-*", scope="admin", limits={"messages_per_day": 10}
    ).key
    within: dict[str, Any] = {"agents": "team-a*", "limits": {"messages_per_day": 5}}
    with Memci(server.url, api_key=lead) as limited:
        for beyond in (
            {"agents": "*"},
            {"agents": "team-1,rival"},
            {"agents": "team-?*,collection/x"},
            {"limits": {}},
            {"limits": {"messages_per_day": 0}},
            {"limits": {"messages_per_day": 11}},
        ):
            with pytest.raises(ForbiddenError):
                limited.new_key("new", **{**within, **beyond})
        limited.new_key("new", **within)
        for beyond in ({"agents": "*"}, {"limits": {"messages_per_day": 11}}):
            with pytest.raises(ForbiddenError):
                limited.change_key("new", **beyond)
        memci.new_key("rival", agents="rival-*")
        assert [each.name for each in limited.keys().keys] == ["lead", "new"]
        for forbidden in (limited.revoke_key, limited.rotate_key):
            with pytest.raises(NotFoundError):
                forbidden("rival")
    with Memci(server.url, api_key=memci.new_key("w", scope="write").key) as writer:
        for attempt in (writer.keys, lambda: writer.new_key("x")):
            with pytest.raises(ForbiddenError, match="scope admin"):
                attempt()


def test_nobody_gives_more_than_the_limits_of_the_server(serve: Serve) -> None:
    server = serve(api_keys=(ENTRY,), key_limits=KeyLimits(messages_per_day=10))
    with Memci(server.url, api_key=ADMIN) as memci:
        memci.new_key("same", limits={})
        for name, limit in (("none", 0), ("more", 11)):
            with pytest.raises(ForbiddenError, match="messages_per_day 10"):
                memci.new_key(name, limits={"messages_per_day": limit})


def test_keys_of_the_environment_are_listed_and_stay(memci: Memci) -> None:
    assert memci.keys().keys[0].source == "environment"
    for attempt in (memci.revoke_key, memci.rotate_key):
        with pytest.raises(ConflictError, match="MEMCI_API_KEYS"):
            attempt("boss")
    with pytest.raises(ConflictError):
        memci.new_key("boss")


def test_the_first_key_is_demanded_everywhere_even_when_it_is_revoked(serve: Serve) -> None:
    one, other = serve(), serve()
    with Memci(one.url) as open_client:
        key = open_client.new_key("first", scope="admin").key
        with pytest.raises(UnauthorizedError):
            open_client.agents()
    wait_until(lambda: agents(other.url, None) == 401, "the other API demands a key")
    with Memci(one.url, api_key=key) as client:
        client.revoke_key("first")
    assert agents(one.url, None) == 401
    assert agents(serve().url, None) == 401


def test_the_last_use_is_written_lazily(server: Served, memci: Memci) -> None:
    key = memci.new_key("app").key
    assert agents(server.url, key) == 200

    def used() -> datetime | None:
        return next(each.last_used_at for each in memci.keys().keys if each.name == "app")

    wait_until(lambda: used() is not None, "the use is noted")
    first = used()
    agents(server.url, key)
    refreshed(server)
    assert used() == first


def test_no_request_asks_the_database_for_its_key(server: Served, memci: Memci) -> None:
    key = memci.new_key("app").key
    asked: list[str] = []
    event.listen(
        server.runtime.database.engine, "before_cursor_execute", lambda *args: asked.append(args[2])
    )
    for _ in range(50):
        assert agents(server.url, "memci_unknown") == 401
        assert httpx.get(f"{server.url}/v1/tools", headers=bearer(key)).status_code == 200
    keys = [each for each in asked if "FROM api_key" in each]
    assert len(keys) < 20  # of the periodic reading
    assert not [each for each in asked if "api_key WHERE name" in each]


def refreshed(server: Served) -> None:
    """Wait until the server has read its keys twice more."""
    read: list[str] = []
    event.listen(
        server.runtime.database.engine, "before_cursor_execute", lambda *args: read.append(args[2])
    )
    wait_until(lambda: sum("FROM api_key ORDER" in each for each in read) > 1, "it has read again")


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_while_the_keys_are_unknown_only_those_of_the_environment_are_accepted() -> None:
    with closing(Database("postgresql://nobody@127.0.0.1:1/x")) as database:
        for environment in ((), (ENTRY,)):
            cache = KeyCache(database, environment)
            cache.refresh()
            assert cache.demanded
            for header in (None, "Bearer memci_unknown"):
                with pytest.raises(Exception, match="database does not answer"):
                    cache.authenticate(header)
        assert cache.authenticate(f"Bearer {ADMIN}") == ENTRY
