"""MCP over HTTP: access and invalid requests."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import httpx
import pytest
from mcp.shared.exceptions import MCPError

import memci.http.agent_tools
from memci.api_keys import new_key
from memci.config.groups import KeyLimits
from memci.schemas.tools.table import tools_of_agents
from memci.testing import wait_until
from tests.integration.http.serving import Served
from tests.support.command_line import environment
from tests.support.mcp_clients import over_http, talk

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


def post(server: Served, path: str = "/mcp/alice", **more: Any) -> httpx.Response:
    headers = HEADERS | more.pop("headers", {})
    return httpx.post(server.url + path, headers=headers, **({"json": LIST} | more))


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return LIST | {"method": "tools/call", "params": params}


@pytest.fixture
def server_and_keys(serve) -> tuple[Served, dict[str, str]]:
    """A server with keys, and a key of each scope, for agents of a team."""
    made = {
        scope: new_key(scope, agents="team-*", scope=scope)  # type: ignore[arg-type]
        for scope in ("read", "write")
    }
    server = serve(
        api_keys=tuple(entry for _, entry in made.values()),
        key_limits=KeyLimits(requests_per_minute=40),
    )
    return server, {scope: key for scope, (key, _) in made.items()}


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_a_request_needs_no_earlier_request(server):
    listed = post(server)
    assert listed.status_code == 200
    assert listed.headers["content-type"] == "application/json"
    assert "mcp-session-id" not in listed.headers
    assert len(listed.json()["result"]["tools"]) == len(tools_of_agents())


def test_a_key_gives_access_to_its_own_agents_only(server_and_keys):
    server, keys = server_and_keys
    assert post(server, "/mcp/team-1").status_code == 401
    assert post(server, "/mcp/team-1", headers=bearer("memci_x")).status_code == 401
    assert post(server, "/mcp/other", headers=bearer(keys["write"])).status_code == 403
    refused = post(server, "/mcp/other", headers=bearer(keys["write"]))
    assert refused.json()["detail"] == "the key 'write' is not for this agent"
    assert post(server, "/mcp/team-1", headers=bearer(keys["write"])).status_code == 200


def test_a_client_with_a_key_of_another_agent_is_refused(server_and_keys):
    server, keys = server_and_keys

    async def go() -> None:
        async with over_http(server.url, "other", key=keys["write"]) as client:
            await client.list_tools()

    with pytest.raises((MCPError, httpx.HTTPError, OSError, ConnectionError)):
        talk(go)


def test_a_key_of_scope_read_has_only_reading_tools(server_and_keys):
    server, keys = server_and_keys
    body = {"messages": [{"role": "user", "content": "Hello"}], "remember": "never"}
    sent = httpx.post(
        f"{server.url}/v1/agents/team-1/messages", json=body, headers=bearer(keys["write"])
    )
    assert sent.status_code == 202

    async def go() -> None:
        async with over_http(server.url, "team-1", key=keys["read"]) as client:
            listed = (await client.list_tools()).tools
            assert [each.name for each in listed] == [
                tool.name for tool in tools_of_agents() if not tool.changes
            ]
            page = await client.call_tool("get_page", {"index": "usr-1"})
            assert "Hello" in page.structured_content["text"]
            with pytest.raises(MCPError, match="Unknown tool: hide_details"):
                await client.call_tool("hide_details", {"index": "usr-1"})

    talk(go)


def test_a_key_of_scope_write_has_no_erasing_tool(server_and_keys):
    server, keys = server_and_keys
    headers = bearer(keys["write"])
    httpx.post(
        f"{server.url}/v1/agents/team-1/messages",
        json={"messages": [{"role": "user", "content": "Hello", "id": "m1"}], "remember": "never"},
        headers=headers,
    )

    async def go() -> None:
        async with over_http(server.url, "team-1", key=keys["write"]) as client:
            listed = [each.name for each in (await client.list_tools()).tools]
            assert listed == [tool.name for tool in tools_of_agents() if not tool.erases]
            with pytest.raises(MCPError, match="Unknown tool: erase"):
                await client.call_tool("erase", {"messages": ["m1"]})

    talk(go)
    kept = httpx.get(f"{server.url}/v1/agents/team-1/messages", headers=headers).json()
    assert len(kept["messages"]) == 1


def test_a_session_shows_no_page_of_another_user(server, alice):
    for session, user, text in (("a", "ann", "The safe opens with swordfish"),
                                ("b", "bob", "Hello")):  # fmt: skip
        body = {
            "messages": [{"role": "user", "content": text}],
            "session_id": session, "user_id": user, "remember": "never",
        }  # fmt: skip
        sent = httpx.post(f"{server.url}/v1/agents/{alice}/messages", json=body)
        assert sent.status_code == 202

    async def go() -> None:
        async with over_http(server.url, alice, session="b") as client:
            found = await client.call_tool("find_pages", {"query": "swordfish"})
            assert found.structured_content["pages"] == []
            page = await client.call_tool("get_page", {"index": "usr-1"})
            assert page.is_error
            assert "there is no page" in page.content[0].text
            (window,) = (await client.read_resource(f"memci://agents/{alice}/window")).contents
            assert "Hello" in window.text
            assert "swordfish" not in window.text

    talk(go)


def test_the_rate_limit_of_a_key_applies(server_and_keys):
    server, keys = server_and_keys
    statuses = {post(server, "/mcp/team-1", headers=bearer(keys["read"])).status_code
                for _ in range(60)}  # fmt: skip
    assert statuses == {200, 429}


@pytest.mark.parametrize(
    ("name", "value"),
    [("origin", "http://evil.example"), ("origin", "http://localhost:3000"), ("host", "evil.org")],
)
def test_requests_from_other_sites_are_refused(server, name, value):
    refused = post(server, headers={name: value})
    assert refused.status_code == 403
    assert name in refused.json()["detail"]


def test_other_origins_are_refused_with_keys_too(server_and_keys):
    server, keys = server_and_keys
    foreign = bearer(keys["read"]) | {"origin": "https://evil.example"}
    assert post(server, "/mcp/team-1", headers=foreign).status_code == 403
    for near in (server.url, "http://localhost:3000"):
        own = bearer(keys["read"]) | {"origin": near}
        assert post(server, "/mcp/team-1", headers=own).status_code == 200


def test_requests_are_counted_by_path_and_not_by_agent(server, alice):
    post(server, f"/mcp/{alice}")
    counted: list[str] = []

    def is_counted() -> bool:
        counted.append(httpx.get(f"{server.url}/metrics").text)
        return 'route="/mcp/{agent}"' in counted[-1]

    # A request is counted once it is over, which the caller may see before.
    wait_until(is_counted, "the request was counted")
    assert alice not in counted[-1]


def test_only_post_is_allowed(server):
    for method in ("GET", "DELETE", "PUT"):
        refused = httpx.request(method, f"{server.url}/mcp/alice", headers=HEADERS)
        assert refused.status_code == 405
        assert refused.headers["allow"] == "POST"


@pytest.mark.parametrize("path", ["/mcp/", "/mcp/..", "/mcp/a%20b", "/mcp/a%2fb", "/mcp/alice?x=1"])
def test_invalid_paths_and_parameters_are_refused(server, path):
    assert post(server, path).status_code in {404, 405, 422}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"jsonrpc":"2.0"}',
     b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}',
     b'{"jsonrpc":"2.0","id":1,"method":"no/such"}'],
)  # fmt: skip
def test_invalid_requests_get_an_error(server, content):
    answer = post(server, json=None, content=content)
    assert answer.status_code < 500
    assert "Traceback" not in answer.text
    assert "error" in answer.json()


def test_a_body_over_the_limit_is_refused(serve):
    server = serve(http_max_request_bytes=10_000)
    big = call("create_detail_page", name="a", detail="x" * 20_000, parent="usr-0")
    assert post(server, json=big).status_code == 413


def test_an_internal_error_reveals_nothing(server, alice, say, monkeypatch):
    say(alice, "Hello")

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret of the machine")

    monkeypatch.setattr(server.runtime.page_commands.__class__, "run", broken)
    result = post(server, f"/mcp/{alice}", json=call("get_page", index="usr-1")).json()["result"]
    assert result["isError"] is True
    assert result["content"][0]["text"] == "internal error; the server's log says more"


def test_many_calls_at_once_are_all_answered(server, alice, say):
    say(alice, "Hello")

    async def go() -> None:
        async with httpx.AsyncClient(headers=HEADERS, timeout=30) as client:
            requests = [
                client.post(
                    f"{server.url}/mcp/{alice}", json=call("get_page", index="usr-1") | {"id": n}
                )
                for n in range(40)
            ]
            answers = await asyncio.gather(*requests)
        assert [each.json()["id"] for each in answers] == list(range(40))
        texts = {each.json()["result"]["content"][0]["text"] for each in answers}
        assert [json.loads(each)["page"]["index"] for each in texts] == ["usr-1"]

    talk(go)


def test_the_sdk_is_imported_when_it_is_first_needed():
    code = (
        "import sys, memci.http.app, memci.cli.app, memci.client\n"
        "print({'mcp', 'mcp_types', 'httpx2'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


def test_without_the_sdk_the_path_is_not_found(server, monkeypatch):
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name="mcp.server")

    monkeypatch.setattr(memci.mcp.connection, "import_module", missing)
    refused = post(server)
    assert refused.status_code == 404
    assert 'pip install "memci[mcp]"' in refused.json()["detail"]
