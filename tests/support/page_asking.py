"""Operations on the pages of the agent ``ada``, as tests ask for them."""

from __future__ import annotations

from memci.commands.pages.perform import ToolRequest
from memci.domain.pages.permission import Actor
from memci.reading.context_window import Windows
from memci.schemas.pages import WindowRequest
from memci.schemas.tool_table import BY_NAME
from memci.smallmodel.offline.token_counter import OfflineTokenCounter

COUNTER = OfflineTokenCounter()


def asked(verb, /, **values):
    tool = BY_NAME[verb]
    return ToolRequest(tool, tool.request(**values))


def do(commands, verb, actor=Actor.AGENT, /, **values):
    return commands.run("ada", actor, [asked(verb, **values)])[0]


def window(commands, **how):
    return Windows(commands.database, commands.store, COUNTER, commands.rules).show(
        "ada", WindowRequest(**how)
    )


def told(ada, number, session="s1"):
    for each in range(number):
        ada.say(f"Question {each}?", session=session)
        ada.say(f"Answer {each}.", role="assistant", session=session)


def deeper(commands, parent, levels):
    """Make folders, one in the other, as a developer; return the lowest."""
    for _ in range(levels):
        made = do(commands, "create_contents_page", Actor.DEVELOPER, name="Deeper", parent=parent)
        parent = made.page.index
    return parent


def folder(commands, parent="usr-0"):
    return do(commands, "create_contents_page", name="Folder", parent=parent).page.index


def tree(commands, **whose):
    windows = Windows(commands.database, commands.store, COUNTER, commands.rules)
    return windows.tree("ada", **whose).pages


def do_in(commands, session, verb, /, **values):
    return commands.run("ada", Actor.AGENT, [asked(verb, **values)], session_id=session)[0]
