"""``memci pages``: show or change the pages of the context window."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from memci.cli.connection import agent_of
from memci.cli.options import AgentOption, JsonOption
from memci.cli.output import print_json, print_next, print_table, say, shortened
from memci.cli.pages.migrate import migrate
from memci.cli.pages.tool_commands import SessionOption, ToolGroup
from memci.domain.pages.block import Format
from memci.domain.session.plan import StepState
from memci.errors import InvalidInputError

app = typer.Typer(
    cls=ToolGroup,
    help="Show or change the pages of the context window.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_LIMIT = 100


def tree(
    *,
    agent: AgentOption,
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
    """Print all pages as a tree, or those that were removed."""
    from memci.cli.pages.printing import hint_misspelt, print_pages, print_tree

    if not removed and (limit != _LIMIT or cursor is not None):
        raise InvalidInputError("--limit and --cursor are for --removed: the tree is shown whole")
    which: dict[str, Any] = {"lifecycle": "cold_archived", "limit": limit, "cursor": cursor}
    with agent_of(agent) as memory:
        shown = memory.pages(session_id=session, **(which if removed else {}))
    hint_misspelt(shown, agent, session)
    if as_json:
        print_json(shown)
    elif removed:
        print_pages(shown.pages)
        print_next(shown.next_cursor)
    else:
        print_tree(agent, shown)


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
    from memci.cli.pages.printing import hint_misspelt, print_window

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
    from memci.cli.pages.printing import print_page

    with agent_of(agent) as memory:
        page = memory.page(index)
    print_json(page) if as_json else print_page(page)


def pins(*, agent: AgentOption, as_json: JsonOption = False) -> None:
    """List what is pinned, texts and pages."""
    with agent_of(agent) as memory:
        listed = memory.pins()
    if as_json:
        print_json(listed)
        return
    print_table(
        ("pin", "kind", "by", "text"),
        ((each.pin, each.kind, each.by, shortened(each.text, 80)) for each in listed.pins),
    )
    if listed.pages:
        say(f"pages that stay open: {', '.join(listed.pages)}")
    say(f"the texts take {listed.tokens} tokens of every window")


_MARKS = {
    StepState.PENDING: "[ ]",
    StepState.ACTIVE: "[>]",
    StepState.DONE: "[x]",
    StepState.DROPPED: "[-]",
}


def plan(
    *,
    agent: AgentOption,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="Whose plan; none: that of the last message."),
    ] = None,
    steps: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="TEXT", help="A step, [x] before what is done; again for each of them."
        ),
    ] = None,
    step: Annotated[
        int | None, typer.Option("--step", min=1, help="A step, to say how far it is.")
    ] = None,
    state: Annotated[StepState | None, typer.Option("--state", help="How far it is.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a session follows, step by step, and set it."""
    if (step is None) is not (state is None) or (steps and step is not None):
        raise typer.BadParameter("give --set for each step, or --step with --state")
    with agent_of(agent) as memory:
        if steps:
            shown = memory.update_plan(session, steps=steps)
        elif step is not None and state is not None:
            shown = memory.update_plan(session, step=step, state=state)
        else:
            shown = memory.plan(session)
    if as_json:
        print_json(shown)
        return
    for each in shown.steps:
        say(f"{each.step}. {_MARKS[each.state]} {each.text}")
    if not shown.steps:
        say("this session follows no plan")


_COMMANDS: dict[str, Callable[..., Any]] = {
    "tree": tree,
    "window": window,
    "show": show,
    "pins": pins,
    "plan": plan,
    "migrate": migrate,
}
for _name, _command in _COMMANDS.items():
    app.command(_name)(_command)
