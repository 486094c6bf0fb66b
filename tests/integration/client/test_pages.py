"""The page tools of the sync and the async client, against the real API."""

from __future__ import annotations

import asyncio
import inspect

import pytest

from memci import AsyncMemci, Memci
from memci.client import Agent, AsyncAgent
from memci.domain.pages.page import Lifecycle, SegmentKind
from memci.domain.pages.window_text import Format
from memci.errors import ConflictError, InvalidInputError, NotFoundError, RefusedError
from memci.schemas.tools.table import TOOLS, About
from tests.integration.http.serving import Served

MESSAGES = [
    {"role": "user", "content": "怎么给列表排序？"},
    {"role": "assistant", "content": "Use the slices package."},
]
TOOLS_OF_PAGES = [tool for tool in TOOLS if tool.about is About.PAGES]


def test_pages_are_read_and_changed(server: Served):
    with Memci(server.url) as memci:
        memory = memci.agent("ada")
        memory.record(MESSAGES, session_id="s1")
        assert "怎么给列表排序？" in memory.window().messages[0].content
        assert [each.role for each in memory.window(format=Format.NATIVE).messages][-2:] == [
            "user", "assistant",
        ]  # fmt: skip
        assert memory.window(budget_tokens=1).over > 0
        made = memory.create_contents_page("usr-0", name="Go", children=["usr-1"])
        assert (made.page.index, made.page.children) == ("usr-2", 1)
        note = memory.create_detail_page("usr-0", name="笔记", detail="稳定排序。")
        assert memory.page(note.page.index).text == "稳定排序。"
        moved = memory.move_page(note.page.index, target="usr-2", session_id="s1")
        assert moved.tokens_after == memory.window().tokens
        assert [each.index for each in memory.get_children("usr-2").pages] == ["usr-1", "usr-3"]
        assert [each.index for each in memory.find_pages("笔记", limit=1).pages] == ["usr-3"]
        memory.update_page("usr-3", description="Of sorting.")
        assert memory.page("usr-3").page.description == "Of sorting."
        hidden = memory.pages(lifecycle="hot_archived")
        assert [each.index for each in hidden.pages] == ["usr-1", "usr-3"]
        memory.create_segment(id="rules", name="Rules", kind=SegmentKind.CUSTOM, max_tokens=100)
        assert [each.id for each in memory.pages().segments] == ["sys", "usr", "rules"]


def test_removed_pages_are_listed_the_latest_first(server: Served):
    with Memci(server.url) as memci:
        memory = memci.agent("ada")
        for number in range(4):
            memory.create_detail_page("usr-0", name=f"Note {number}", detail="x")
        for index in ("usr-2", "usr-4", "usr-1"):
            memory.remove_page(index)
        first = memory.pages(lifecycle=Lifecycle.COLD_ARCHIVED, limit=2)
        assert [each.index for each in first.pages] == ["usr-1", "usr-4"]
        rest = memory.pages(lifecycle="cold_archived", limit=2, cursor=first.next_cursor)
        assert ([each.index for each in rest.pages], rest.next_cursor) == (["usr-2"], None)
        with pytest.raises(InvalidInputError, match="not a cursor"):
            memory.pages(lifecycle="cold_archived", cursor="x")
        with pytest.raises(InvalidInputError, match="by cursor"):
            memory.pages(cursor="1")


def test_errors_are_those_of_the_server(server: Served):
    with Memci(server.url) as memci:
        memory = memci.agent("ada")
        with pytest.raises(NotFoundError):
            memory.window()
        with pytest.raises(NotFoundError):
            memory.hide_details("usr-1")
        memory.record(MESSAGES)
        with pytest.raises(RefusedError, match="root of its segment"):
            memory.remove_page("usr-0")
        with pytest.raises(RefusedError, match="nothing to undo"):
            memory.undo()
        with pytest.raises(InvalidInputError, match="index"):
            memory.page("../../agents")
        memory.create_segment(id="rules", name="Rules")
        with pytest.raises(ConflictError):
            memory.create_segment(id="rules", name="Rules")
        with pytest.raises(TypeError, match="target"):
            memory.move_page("usr-1")
        with pytest.raises(TypeError, match="tagret"):
            memory.move_page("usr-1", "usr-0", tagret="usr-0")


def test_the_async_client_reads_and_changes_pages(server: Served):
    async def work() -> None:
        async with AsyncMemci(server.url) as memci:
            memory = memci.agent("ada")
            await memory.record(MESSAGES)
            notes = await asyncio.gather(
                *(memory.create_detail_page("usr-0", name=f"{n}", detail="x") for n in range(5))
            )
            assert {each.page.index for each in notes} == {f"usr-{n}" for n in range(2, 7)}
            closed = await memory.hide_details("usr-1")
            assert closed.tokens_after == (await memory.window()).tokens
            assert (await memory.page("usr-1")).page.expanded is False
            assert len((await memory.pages()).pages) == 8

    asyncio.run(work())


@pytest.mark.parametrize("tool", TOOLS_OF_PAGES, ids=lambda tool: tool.name)
def test_methods_have_the_help_and_arguments_of_the_table(tool):
    for kind in (Agent, AsyncAgent):
        method = getattr(kind, tool.name)
        assert inspect.getdoc(method).startswith(tool.help)
        taken = set(inspect.signature(method).parameters) - {"self", "session_id", "format"}
        assert taken == set(tool.request.model_fields)
        assert inspect.signature(method).return_annotation is tool.answer
