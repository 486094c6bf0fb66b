"""Tools of models over HTTP, in the client and on the command line."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

import memci
from memci import AsyncMemci, Memci
from memci.api_keys import new_key
from memci.errors import (
    ForbiddenError,
    InvalidInputError,
    MemciError,
    NotFoundError,
    RefusedError,
)
from memci.schemas.tools.format_names import ToolFormat
from memci.schemas.tools.table import tools, tools_of_agents
from tests.support.command_line import run


@pytest.fixture
def alice(server):
    with Memci(server.url) as memory:
        agent = memory.agent("alice")
        agent.record([{"role": "user", "content": "Hello"}], session_id="s1")
        yield agent


@pytest.mark.parametrize("form", list(ToolFormat))
def test_tools_are_listed_in_every_format(server, http, form):
    assert http.get("/v1/tools", params={"format": form}).json() == tools(form)
    with Memci(server.url) as client:
        assert client.tools(format=form) == memci.tools(format=form)
    printed = run("tools", "--format", form)
    assert json.loads(printed.stdout) == tools(form)


def test_an_unknown_format_is_refused(http):
    refused = http.get("/v1/tools", params={"format": "yaml"})
    assert (refused.status_code, refused.json()["field"]) == (422, "format")
    assert run("tools", "--format", "yaml").returncode == 2
    with Memci(str(http.base_url)) as client, pytest.raises(InvalidInputError, match="responses"):
        client.tools("yaml")


def test_a_call_runs_as_the_agent_and_gets_a_short_answer(alice):
    note = alice.call_tool(
        "create_detail_page", {"name": "A", "detail": "All of it.", "parent": "usr-0"}
    )
    assert note == {
        "index": "usr-2", "state": "hidden", "parent": "usr-0",
        "tokens_before": note["tokens_before"], "tokens_after": note["tokens_after"],
    }  # fmt: skip
    assert note["tokens_after"] > note["tokens_before"] > 0
    assert alice.call_tool("undo")["operations"] == ["create_detail_page"]
    with pytest.raises(RefusedError):
        alice.call_tool("create_detail_page", {"name": "A", "detail": "x", "parent": "sys-0"})


def test_arguments_may_be_json_text(alice):
    assert alice.call_tool("get_page", '{"index": "usr-1"}')["page"]["name"] == "Hello"
    for nothing in ("", "{}", None):
        with pytest.raises(RefusedError, match="nothing to undo"):
            alice.call_tool("undo", nothing)
    for broken in ("{", "[]", "null", '"usr-1"', "[" * 100_000):
        with pytest.raises(InvalidInputError, match="JSON object"):
            alice.call_tool("get_page", broken)


def test_errors_tell_the_model_what_is_wrong(alice):
    with pytest.raises(InvalidInputError, match="index: required") as wrong:
        alice.call_tool("expand_details", {})
    assert wrong.value.field == "index"
    with pytest.raises(NotFoundError, match="usr-9"):
        alice.call_tool("expand_details", {"index": "usr-9"})
    for name in ("create_segment", "rm -rf", "../pages/undo", "..", "", "x" * 99):
        with pytest.raises(NotFoundError, match="no tool"):
            alice.call_tool(name, {})
    with pytest.raises(
        NotFoundError, match=r"no tool 'expand_detail': did you mean expand_details\?"
    ):
        alice.call_tool("expand_detail", {"index": "usr-1"})


def test_errors_name_no_path_and_no_command(alice, server):
    errors = []
    for name, arguments in (
        ("rm", {}), ("hide_details", {"idx": "usr-1"}), ("undo", {"steps": 2}),
    ):  # fmt: skip
        with pytest.raises((NotFoundError, InvalidInputError)) as wrong:
            alice.call_tool(name, arguments)
        errors.append(str(wrong.value))
    with Memci(server.url) as client, pytest.raises(NotFoundError, match="no agent bob") as wrong:
        client.agent("bob").call_tool("hide_details", {"index": "usr-1"})
    errors.append(str(wrong.value))
    assert not [each for each in errors if "/v1" in each or "/docs" in each or "memci" in each]


def test_a_call_changes_the_window_of_its_session(alice):
    alice.record([{"role": "user", "content": "word " * 300}], session_id="s2")
    arguments = {"index": "usr-0"}
    first = alice.call_tool("expand_details", arguments, session_id="s1")["tokens_after"]
    last = alice.call_tool("expand_details", arguments)["tokens_after"]
    assert last - first > 200


def test_tools_are_called_on_asyncio(server, alice):
    async def go():
        async with AsyncMemci(server.url) as client:
            assert await client.tools() == tools()
            return await client.agent("alice").call_tool("get_page", {"index": "usr-1"})

    assert asyncio.run(go())["page"]["index"] == "usr-1"


def test_the_client_runs_an_answer_in_attp(server, alice):
    pin = "[tool_call]\nstatus = 'success'\ncode = '__result__ = pin_page(index=\"usr-1\")'"
    done = alice.attp(pin)
    assert (done.status, done.changes.pages) == ("success", ["usr-1"])
    assert "tokens_after" in done.text
    failed = alice.attp("no TOML at all", session_id="s1")
    assert failed.status == "fail"
    assert failed.error

    async def go():
        async with AsyncMemci(server.url) as client:
            return await client.agent("alice").attp(pin.replace("pin_page", "unpin_page"))

    assert asyncio.run(go()).changes.pages == ["usr-1"]


def test_a_closed_client_refuses_calls(server):
    client = Memci(server.url)
    agent = client.agent("alice")
    client.close()
    for ask in (agent.about, client.ready):
        with pytest.raises(MemciError, match="this client is closed"):
            ask()

    async def go():
        async with AsyncMemci(server.url) as client:
            agent = client.agent("alice")
        await agent.window()

    with pytest.raises(MemciError, match="this client is closed"):
        asyncio.run(go())


def serve_with_keys(serve):
    made = {scope: new_key(scope, scope=scope) for scope in ("read", "write", "admin")}
    server = serve(api_keys=tuple(entry for _, entry in made.values()))
    return server, {scope: key for scope, (key, _) in made.items()}


def test_reading_needs_scope_read_and_changing_scope_write(serve):
    server, keys = serve_with_keys(serve)
    with (
        Memci(server.url, api_key=keys["read"]) as reading,
        Memci(server.url, api_key=keys["write"]) as writing,
    ):
        reader, writer = reading.agent("alice"), writing.agent("alice")
        messages = [("user", "Hello"), ("assistant", "Hi"), ("user", "And now?")]
        writer.record([{"role": role, "content": content} for role, content in messages])
        assert reader.call_tool("get_page", {"index": "usr-1"})["text"]
        with pytest.raises(ForbiddenError, match="scope write"):
            reader.call_tool("hide_details", {"index": "usr-1"})
        assert writer.call_tool("hide_details", {"index": "usr-1"})["state"] == "hidden"
    assert httpx.get(f"{server.url}/v1/tools").status_code == 401


def test_erasing_needs_scope_admin(serve):
    server, keys = serve_with_keys(serve)
    with (
        Memci(server.url, api_key=keys["write"]) as writing,
        Memci(server.url, api_key=keys["admin"]) as administering,
    ):
        writing.agent("alice").record([{"role": "user", "content": "Hello", "id": "m1"}])
        arguments = {"messages": ["m1"]}
        with pytest.raises(ForbiddenError, match="scope admin"):
            writing.agent("alice").call_tool("erase", arguments)
        assert writing.agent("alice").call_tool("filter_memory", {"what": "messages"})["found"]
        assert administering.agent("alice").call_tool("erase", arguments)["messages"] == 1


@pytest.mark.parametrize("form", list(ToolFormat))
def test_a_key_is_offered_only_the_tools_that_it_may_use(serve, form):
    server, keys = serve_with_keys(serve)
    every = {each.name: each for each in tools_of_agents()}

    def names(scope: str) -> set[str]:
        with Memci(server.url, api_key=keys[scope]) as client:
            return {each.get("name") or each["function"]["name"] for each in client.tools(form)}

    assert names("admin") == set(every)
    assert names("write") == {name for name, tool in every.items() if not tool.erases}
    assert names("read") == {name for name, tool in every.items() if not tool.changes}


@pytest.mark.parametrize("content", ["[]", "5", '"usr-1"', "null"])
def test_a_body_that_is_no_object_is_refused(alice, http, content):
    refused = http.post(
        "/v1/agents/alice/tools/undo", content=content, headers={"content-type": "application/json"}
    )
    assert refused.status_code == 422


def test_a_note_may_create_an_agent(server):
    with Memci(server.url) as client:
        eve = client.agent("eve")
        made = eve.call_tool("create_detail_page", {"name": "A", "detail": "x", "parent": "usr-0"})
        assert made["index"] == "usr-1"
        assert eve.call_tool("get_page", {"index": "usr-1"})["text"] == "x"


def test_a_remembered_text_is_found(alice):
    noted = alice.call_tool("remember", {"text": "Ada lives in Lisbon."})
    found = alice.call_tool("filter_memory", {"what": "messages", "limit": None})
    assert noted["message"] in found["found"][0]["messages"]
