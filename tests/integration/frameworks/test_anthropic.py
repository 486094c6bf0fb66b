"""The memory tool of Claude on memci does as the SDK's own tool on files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool

from memci import AsyncMemci
from memci.client import Agent
from memci.integrations.anthropic import AsyncMemciMemoryTool, MemciMemoryTool
from memci.integrations.langgraph import MemciStore
from tests.integration.http.serving import Served

NOTES, TALK = "/memories/work/notes.md", "/memories/work/2026/talk.txt"
COMMANDS: list[dict[str, Any]] = [
    {"command": "view", "path": NOTES},
    {"command": "create", "path": NOTES, "file_text": "One\nTwo\n二\n\u2028still\nFive"},
    {"command": "create", "path": NOTES, "file_text": "again"},
    {"command": "view", "path": NOTES},
    {"command": "view", "path": NOTES, "view_range": [2, 3]},
    {"command": "view", "path": NOTES, "view_range": [4, -1]},
    {"command": "str_replace", "path": NOTES, "old_str": "Two", "new_str": "2\n2b"},
    {"command": "str_replace", "path": NOTES, "old_str": "Two", "new_str": "x"},
    {"command": "str_replace", "path": NOTES, "old_str": "2", "new_str": "x"},
    {"command": "insert", "path": NOTES, "insert_line": 0, "insert_text": "Zero\n"},
    {"command": "insert", "path": NOTES, "insert_line": 99, "insert_text": "x"},
    {"command": "insert", "path": NOTES, "insert_line": 7, "insert_text": "Last"},
    {"command": "view", "path": NOTES},
    {"command": "create", "path": TALK, "file_text": "Hello\n"},
    {"command": "str_replace", "path": "/memories/work", "old_str": "a", "new_str": "b"},
    {"command": "rename", "old_path": NOTES, "new_path": TALK},
    {"command": "rename", "old_path": "/memories/work", "new_path": "/memories/old/work"},
    {"command": "rename", "old_path": "/memories/work", "new_path": "/memories/x"},
    {"command": "view", "path": "/memories/old/work/notes.md"},
    {"command": "view", "path": TALK},
    {"command": "create", "path": "/memories/x.md", "file_text": "x"},
    {"command": "delete", "path": "/memories/x.md"},
    {"command": "delete", "path": "/memories/x.md"},
    {"command": "delete", "path": "/memories"},
    {"command": "delete", "path": "/memories/old/work/2026"},
    {"command": "view", "path": "/memories/old/work/2026/talk.txt"},
    {"command": "view", "path": "/memories/../etc/passwd"},
    {"command": "view", "path": "/etc/passwd"},
]


def told(tool: Any, command: dict[str, Any]) -> str:
    """Return what the model is told; all errors are alike."""
    try:
        return str(tool.call(command))
    except ToolError:
        return "error"


def test_it_does_as_the_sdks_own_tool(agent: Agent, tmp_path: Path):
    ours, theirs = MemciMemoryTool(agent), BetaLocalFilesystemMemoryTool(str(tmp_path))
    assert ours.to_dict() == theirs.to_dict()
    for command in COMMANDS:
        assert told(ours, command) == told(theirs, command), command


def test_folders_list_two_levels_and_what_clears_them(agent: Agent):
    tool = MemciMemoryTool(agent)
    for path in ("a.md", "b/c.md", "b/d/e.md", "b/d/f/g.md"):
        tool.call({"command": "create", "path": f"/memories/{path}", "file_text": "12345"})
    listed = str(tool.call({"command": "view", "path": "/memories"})).splitlines()[1:]
    assert listed == [
        "20B\t/memories", "5B\t/memories/a.md", "15B\t/memories/b", "5B\t/memories/b/c.md",
        "10B\t/memories/b/d",
    ]  # fmt: skip
    assert tool.clear_all_memory() == "All memory cleared"
    assert str(tool.call({"command": "view", "path": "/memories"})).endswith("\n0B\t/memories")


def test_items_of_other_programs_are_no_files(agent: Agent):
    """They may lie below "memories", as LangGraph's examples put them, and stay."""
    others, tool = MemciStore(agent), MemciMemoryTool(agent)
    others.put(("memories",), "a.md", {"data": "theirs"})
    assert str(tool.call({"command": "view", "path": "/memories"})).endswith("\n0B\t/memories")
    tool.call({"command": "create", "path": "/memories/a.md", "file_text": "ours"})
    tool.clear_all_memory()
    found = others.get(("memories",), "a.md")
    assert found is not None
    assert found.value == {"data": "theirs"}


def test_it_works_on_asyncio_and_each_agent_has_its_own_files(server: Served, agent: Agent):
    create = {"command": "create", "path": NOTES, "file_text": "Mine"}
    assert "created" in str(MemciMemoryTool(agent).call(create))

    async def run() -> None:
        async with AsyncMemci(server.url) as memci:
            mine = AsyncMemciMemoryTool(memci.agent("alice"))
            assert "Mine" in str(await mine.call({"command": "view", "path": NOTES}))
            others = AsyncMemciMemoryTool(memci.agent("bob"))
            with pytest.raises(ToolError, match="does not exist"):
                await others.call({"command": "view", "path": NOTES})

    asyncio.run(run())
