"""Helpers for operations on the pages of the agent ``ada``."""

from __future__ import annotations

from memci.commands.pages.perform import ToolRequest
from memci.domain.pages.permission import Actor
from memci.reading.context_window import Windows
from memci.schemas.pages import WindowRequest
from memci.schemas.tools.table import BY_NAME
from memci.smallmodel.offline.token_counter import OfflineTokenCounter

COUNTER = OfflineTokenCounter()


def tool_request(verb, /, **values):
    tool = BY_NAME[verb]
    return ToolRequest(tool, tool.request(**values))


def run_tool(commands, verb, actor=Actor.AGENT, /, **values):
    return commands.run("ada", actor, [tool_request(verb, **values)])[0]


def window(commands, **how):
    return Windows(commands.database, commands.store, COUNTER, commands.rules).show(
        "ada", WindowRequest(**how)
    )


def add_interactions(ada, number, session="s1"):
    for each in range(number):
        ada.say(f"Question {each}?", session=session)
        ada.say(f"Answer {each}.", role="assistant", session=session)


def create_nested_folders(commands, parent, levels):
    """Make nested folders as a developer; return the innermost."""
    for _ in range(levels):
        made = run_tool(
            commands, "create_contents_page", Actor.DEVELOPER, name="Deeper", parent=parent
        )
        parent = made.page.index
    return parent


def folder(commands, parent="usr-0"):
    return run_tool(commands, "create_contents_page", name="Folder", parent=parent).page.index


def tree(commands, **whose):
    windows = Windows(commands.database, commands.store, COUNTER, commands.rules)
    return windows.tree("ada", **whose).pages


def run_tool_in_session(commands, session, verb, /, **values):
    return commands.run("ada", Actor.AGENT, [tool_request(verb, **values)], session_id=session)[0]
