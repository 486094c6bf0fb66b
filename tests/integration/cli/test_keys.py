"""`memci keys` works on the database, with or without a running API."""

from __future__ import annotations

import httpx

from memci.testing import wait_until
from tests.integration.http.serving import Served
from tests.support.command_line import run, run_json


def test_a_key_is_made_rotated_listed_and_revoked(server: Served, database_url: str):
    settings = {"MEMCI_DATABASE_URL": database_url}

    def answers(key: str) -> int:
        headers = {"Authorization": f"Bearer {key}"}
        return httpx.get(f"{server.url}/v1/agents", headers=headers).status_code

    made = run("keys", "new", "app", "--agents", "shop-*", "--days", "9", settings=settings)
    (first,) = made.stdout.splitlines()
    assert first not in made.stderr
    wait_until(lambda: httpx.get(f"{server.url}/v1/agents").status_code == 401, "a key is needed")
    assert answers(first) == 200
    (second,) = run("keys", "rotate", "app", "--grace", "0", settings=settings).stdout.splitlines()
    wait_until(lambda: answers(second) == 200, "the API knows the new key")
    assert answers(first) == 401
    (listed,) = run_json("keys", "list", settings=settings)["keys"]
    assert (listed["agents"], listed["scope"], listed["state"]) == ("shop-*", "read", "active")
    assert run("keys", "revoke", "app", settings=settings).returncode == 0
    wait_until(lambda: answers(second) == 401, "the API refuses the key")
    refused = run("keys", "new", "app", settings=settings)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "choose another name" in refused.stderr
