"""Tools and resources over MCP, on both transports, with the SDK's client."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult

from memci.schemas.tools.table import tools, tools_of_agents
from tests.support.mcp_clients import MODES, talk


def text_of(result: CallToolResult) -> str:
    (part,) = result.content
    assert part.type == "text"
    return part.text


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that must work; the client checks the answer against its schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert json.loads(text_of(result)) == result.structured_content
    answer: dict[str, Any] = result.structured_content
    return answer


@pytest.mark.parametrize("mode", MODES)
def test_the_tools_are_those_of_the_table(server, alice, connect, mode):
    async def go() -> None:
        async with connect(server.url, alice, mode=mode) as client:
            listed = (await client.list_tools()).tools
            assert client.server_info.name == "memci"
            assert "usr-0" in (client.instructions or "")
        described = [each.model_dump(by_alias=True, exclude_none=True) for each in listed]
        assert described == tools("mcp")
        assert [each.name for each in listed] == [each.name for each in tools_of_agents()]

    talk(go)


@pytest.mark.parametrize("mode", MODES)
def test_a_page_is_made_opened_moved_and_all_is_undone(server, alice, say, connect, mode):
    say(alice, "How do I sort in Go?", "With slices.")

    async def go() -> None:
        async with connect(server.url, alice, mode=mode) as client:
            folder = await call(client, "create_contents_page", name="Go", parent="usr-0")
            note = await call(
                client, "create_detail_page", name="Sorting", detail="It is stable.", parent="usr-0"
            )
            assert (folder["index"], note["index"]) == ("usr-2", "usr-3")
            assert note["state"] == "hidden"
            opened = await call(client, "expand_details", index="usr-3")
            assert opened["state"] == "expanded"
            assert opened["tokens_after"] > opened["tokens_before"]
            window = (await client.read_resource(f"memci://agents/{alice}/window")).contents[0]
            assert "It is stable." in window.text
            moved = await call(client, "move_page", source="usr-3", target="usr-2")
            assert (moved["parent"], moved["state"]) == ("usr-2", "inside a hidden folder")
            assert (await call(client, "undo"))["operations"] == ["move_page"]
            assert (await call(client, "get_parent", index="usr-3"))["pages"][0]["index"] == "usr-0"
            assert (await call(client, "redo"))["operations"] == ["move_page"]
            (child,) = (await call(client, "get_children", index="usr-2"))["pages"]
            assert child == {
                "index": "usr-3", "name": "Sorting", "state": "inside a hidden folder",
                "parent": "usr-2",
            }  # fmt: skip
            page = await call(client, "get_page", index="usr-3")
            assert page["text"] == "It is stable."
            assert (await call(client, "find_pages", query="zebra"))["pages"] == []

    talk(go)


def test_the_window_is_the_only_resource(server, alice, say, connect):
    say(alice, "First", "Fine.", session="s1")
    say(alice, "Second", "Fine.", session="s2")

    async def go() -> None:
        async with connect(server.url, alice, session="s1") as client:
            (resource,) = (await client.list_resources()).resources
            assert resource.uri == f"memci://agents/{alice}/window"
            (content,) = (await client.read_resource(resource.uri)).contents
            assert content.mime_type == "text/markdown"
            assert "First" in content.text
            assert "Second" not in content.text
            for uri in ("memci://agents/bob/window", "file:///etc/passwd", "memci://agents/"):
                with pytest.raises(MCPError) as refused:
                    await client.read_resource(uri)
                assert refused.value.code == INVALID_PARAMS

    talk(go)


HOSTILE = [
    "../../etc/passwd", "usr-1; DROP TABLE page", "usr-1' OR '1'='1", "usr-" + "9" * 40, "USR-1",
    "usr-1\nusr-2", "\u202eusr-1", "usr-１", "", "x" * 100_000, "usr-1\x00",
    "{{7*7}}", "%2e%2e", "-1",
]  # fmt: skip


def test_hostile_indexes_are_refused_in_words(server, alice, say, connect):
    say(alice, "Hello", "Hi.")

    async def go() -> None:
        async with connect(server.url, alice) as client:
            for index in HOSTILE:
                for tool in ("expand_details", "get_page", "remove_page"):
                    refused = await client.call_tool(tool, {"index": index})
                    assert refused.is_error, index
                    assert "index" in text_of(refused)
                    assert len(text_of(refused)) < 300
            assert (await call(client, "get_page", index="usr-1"))["page"]["state"] == "expanded"

    talk(go)


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("expand_details", {"index": "usr-77"}, "usr-77"),
    ("expand_details", {}, "index: required"),
    ("expand_details", {"index": 12}, "expected text"),
    ("expand_details", {"index": ["usr-1"]}, "expected text"),
    ("expand_details", {"index": "usr-1", "agent": "bob"}, "agent: there is no such"),
    ("move_page", {"source": "usr-0", "target": "usr-0"}, "root"),
    ("hide_details", {"index": "sys-0"}, "sys"),
    ("update_page", {"index": "usr-1", "name": None}, "name"),
    ("auto_collapse", {"max_tokens": "many"}, "max_tokens"),
    ("undo", {"steps": 2}, "steps"),
    ("undo", {}, "nothing to undo"),
]


def test_errors_of_the_model_are_answers_that_say_why(server, alice, say, connect):
    say(alice, "Hello", "Hi.")

    async def go() -> None:
        async with connect(server.url, alice) as client:
            for tool, arguments, says in WRONG:
                refused = await client.call_tool(tool, arguments)
                assert refused.is_error
                assert says in text_of(refused)
                assert refused.structured_content is None

    talk(go)


def test_a_null_argument_is_like_a_missing_one(server, alice, say, connect):
    say(alice, "Hello", "Hi.")

    async def go() -> None:
        async with connect(server.url, alice) as client:
            found = await call(client, "find_pages", query="hello", limit=None)
            assert [each["index"] for each in found["pages"]] == ["usr-1"]

    talk(go)


def test_tools_that_are_not_offered_are_unknown(server, alice, connect):
    async def go() -> None:
        async with connect(server.url, alice) as client:
            for name in ("create_segment", "rm", "", "undo\u202e", "__class__"):
                with pytest.raises(MCPError) as refused:
                    await client.call_tool(name, {})
                assert refused.value.code == INVALID_PARAMS
                assert refused.value.message.startswith("Unknown tool")

    talk(go)


def test_an_unknown_agent_is_named(server, alice, connect):
    async def go() -> None:
        async with connect(server.url, "nobody") as client:
            refused = await client.call_tool("get_children", {"index": "usr-0"})
            assert refused.is_error
            assert "no agent nobody" in text_of(refused)
            with pytest.raises(MCPError, match="no agent nobody"):
                await client.read_resource("memci://agents/nobody/window")

    talk(go)


def test_two_clients_work_at_once_and_see_each_other(server, alice, say, connect):
    say(alice, "Hello", "Hi.")

    async def notes(client: Client, who: str) -> list[str]:
        made = [
            await call(client, "create_detail_page", name=f"{who} {n}", detail="x", parent="usr-0")
            for n in range(5)
        ]
        return [each["index"] for each in made]

    async def go() -> None:
        async with (
            connect(server.url, alice) as one,
            connect(server.url, alice) as other,
        ):
            ours, theirs = await asyncio.gather(notes(one, "one"), notes(other, "other"))
            assert len({*ours, *theirs}) == 10
            pages = (await call(one, "get_children", index="usr-0"))["pages"]
            assert {*ours, *theirs} < {each["index"] for each in pages}

    talk(go)


def test_agents_do_not_see_each_other(server, alice, say, connect):
    say(alice, "Hello", "Hi.")
    say(f"{alice}-b", "Secret plans", "Yes.")

    async def go() -> None:
        async with connect(server.url, alice) as client:
            found = await call(client, "find_pages", query="secret plans")
            assert found["pages"] == []

    talk(go)


def test_memory_is_written_corrected_and_listed(server, alice, connect):
    async def go() -> None:
        async with connect(server.url, alice) as client:
            noted = await call(client, "remember", text="Ada lives in Lisbon.")
            found = await call(client, "filter_memory", what="messages")
            assert [each["messages"] for each in found["found"]] == [[noted["message"]]]
            assert "Ada" in (await call(client, "focus", entity="Ada"))["focus"]
            pinned = await call(client, "pin", text="Answer in English.")
            assert pinned["tokens_after"] > pinned["tokens_before"]
            (window,) = (await client.read_resource(f"memci://agents/{alice}/window")).contents
            assert "Answer in English." in window.text
            await call(client, "unpin", pin=pinned["pin"])
            refused = await client.call_tool("update", {"memory": 99, "text": "Ada moved."})
            assert refused.is_error
            assert "99" in text_of(refused)
            erased = await call(client, "erase", messages=[noted["message"]])
            assert erased["messages"] == 1

    talk(go)


def test_a_read_without_a_worker_is_answered_with_an_error(server, alice, say, connect):
    say(alice, "Hello")

    async def go() -> None:
        async with connect(server.url, alice) as client:
            refused = await client.call_tool("search", {"query": "hello"})
            assert refused.is_error
            assert "worker" in text_of(refused)

    talk(go)
