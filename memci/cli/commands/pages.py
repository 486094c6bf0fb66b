"""``memci pages``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memci.cli.options import AgentOption, JsonOption
from memci.cli.pages.group import ToolGroup
from memci.cli.pages.migrate import migrate
from memci.cli.pages.options import SessionOption
from memci.domain.pages.block import Format
from memci.errors import InvalidInputError

app = typer.Typer(cls=ToolGroup, rich_markup_mode=None)

_LIMIT = 100


@app.callback(invoke_without_command=True)
def pages(
    context: typer.Context,
    *,
    agent: Annotated[
        str | None, typer.Option("--agent", "-a", metavar="ID", help="Whose pages.")
    ] = None,
    session: SessionOption = None,
    removed: Annotated[
        bool, typer.Option("--removed", help="What was removed, the latest first.")
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=500, help="Of --removed: lines at most.")
    ] = _LIMIT,
    cursor: Annotated[
        str | None,
        typer.Option("--cursor", help="Of --removed: where to go on, the end of the last answer."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show or change the pages of the context window.

    By itself it shows them as a tree. --agent, --session and --json may stand before a command or
    behind it.
    """
    given = {"--removed": removed, "--limit": limit != _LIMIT, "--cursor": cursor is not None}
    if context.invoked_subcommand is not None:
        if any(given.values()):
            raise InvalidInputError("--removed, --limit and --cursor go without a command")
        lent = {"agent": agent, "session": session, "as_json": as_json or None}
        kept = {name: value for name, value in lent.items() if value is not None}
        context.default_map = {context.invoked_subcommand: kept}
        return
    if agent is None:
        context.fail("Missing option '--agent' / '-a'.")
    if not removed and any(given.values()):
        raise InvalidInputError("--limit and --cursor are for --removed: the tree is shown whole")
    _show(agent, session, removed=removed, limit=limit, cursor=cursor, as_json=as_json)


def window(
    *,
    agent: AgentOption,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Tokens at most; none: the agent's own limit.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How it is written.")] = Format.MARKDOWN,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the context window as the model sees it."""
    from memci.cli.connection import agent_of
    from memci.cli.output import print_json
    from memci.cli.pages.hints import hint_misspelt
    from memci.cli.pages.window import print_window

    with agent_of(agent) as memory:
        shown = memory.window(budget_tokens=budget, format=form, session_id=session)
    hint_misspelt(shown, agent, session)
    print_json(shown) if as_json else print_window(shown)


def show(
    *,
    index: Annotated[str, typer.Argument(metavar="INDEX", help="A page, such as usr-12.")],
    agent: AgentOption,
    as_json: JsonOption = False,
) -> None:
    """Print a page and what it holds, wherever it is."""
    from memci.cli.connection import agent_of
    from memci.cli.output import print_json
    from memci.cli.pages.answers import print_page

    with agent_of(agent) as memory:
        page = memory.page(index)
    print_json(page) if as_json else print_page(page)


def _show(agent: str, session: str | None, *, removed: bool, as_json: bool, **part: Any) -> None:
    from memci.cli.connection import agent_of
    from memci.cli.output import print_json, print_next
    from memci.cli.pages.answers import print_pages
    from memci.cli.pages.hints import hint_misspelt
    from memci.cli.pages.tree import print_tree

    which: dict[str, Any] = {"lifecycle": "cold_archived", **part} if removed else {}
    with agent_of(agent) as memory:
        tree = memory.pages(session_id=session, **which)
    hint_misspelt(tree, agent, session)
    if as_json:
        print_json(tree)
    elif removed:
        print_pages(tree.pages)
        print_next(tree.next_cursor)
    else:
        print_tree(agent, tree)


app.command("window")(window)
app.command("show")(show)
app.command("migrate")(migrate)
