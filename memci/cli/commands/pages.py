"""``memci pages``: show or change the pages of the context window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memci.cli import connection, output
from memci.cli.options import AgentOption, JsonOption
from memci.cli.pages.tool_commands import SessionOption, ToolGroup
from memci.domain.pages.window_text import Format
from memci.domain.session.plan import StepState
from memci.errors import ConfigurationError, InvalidInputError

if TYPE_CHECKING:
    from memci.commands.pages.move_texts import TextCounts, TextMigration
    from memci.config.settings import Settings


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
    with connection.agent_of(agent) as memory:
        shown = memory.pages(session_id=session, **(which if removed else {}))
    hint_misspelt(shown, agent, session)
    if as_json:
        output.print_json(shown)
    elif removed:
        print_pages(shown.pages)
        output.print_next(shown.next_cursor)
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

    with connection.agent_of(agent) as memory:
        shown = memory.window(budget_tokens=budget, format=form, session_id=session)
    hint_misspelt(shown, agent, session)
    output.print_json(shown) if as_json else print_window(shown)


def show(
    *,
    index: Annotated[str, typer.Argument(metavar="INDEX", help="A page, such as usr-12.")],
    agent: AgentOption,
    as_json: JsonOption = False,
) -> None:
    """Print a page and what it holds, wherever it is."""
    from memci.cli.pages.printing import print_page

    with connection.agent_of(agent) as memory:
        page = memory.page(index)
    output.print_json(page) if as_json else print_page(page)


def pins(*, agent: AgentOption, as_json: JsonOption = False) -> None:
    """List what is pinned, texts and pages."""
    with connection.agent_of(agent) as memory:
        listed = memory.pins()
    if as_json:
        output.print_json(listed)
        return
    output.print_table(
        ("pin", "kind", "by", "text"),
        ((each.pin, each.kind, each.by, output.shortened(each.text, 80)) for each in listed.pins),
    )
    if listed.pages:
        output.say(f"pages that stay open: {', '.join(listed.pages)}")
    output.say(f"the texts take {listed.tokens} tokens of every window")


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
    with connection.agent_of(agent) as memory:
        if steps:
            shown = memory.update_plan(session, steps=steps)
        elif step is not None and state is not None:
            shown = memory.update_plan(session, step=step, state=state)
        else:
            shown = memory.plan(session)
    if as_json:
        output.print_json(shown)
        return
    for each in shown.steps:
        output.say(f"{each.step}. {_MARKS[each.state]} {each.text}")
    if not shown.steps:
        output.say("this session follows no plan")


class Target(StrEnum):
    """Persistent stores."""

    POSTGRES = "postgres"
    FILES = "files"
    S3 = "s3"


def migrate(
    *,
    to: Annotated[Target, typer.Option(help="The store that is to have all texts of notes.")],
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove from the former store what was copied.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Copy all texts of notes to another page store while everything runs.

    Before, every process has to know both stores; without that, this says what to set. It can be
    ended and begun again at any time.
    """
    from memci.cli.database import opened_database
    from memci.commands.pages.move_texts import TextMigration
    from memci.storage.page_store.choose import open_page_store

    settings = connection.read_settings()
    former = _former_store(settings, to)
    with opened_database(settings) as database:
        source = open_page_store(former, settings, database, in_use=True)
        target = open_page_store(settings.page_store, settings, database)
        moved = _run(TextMigration(database, source, target), clear=clear)
    if as_json:
        output.print_json({"from": former, "to": to.value, **asdict(moved)})
    else:
        _print_counts(moved, former, to.value, clear=clear)


def _former_store(settings: Settings, to: Target) -> str:
    """Return the store to copy from, or raise ``ConfigurationError`` with the settings needed."""
    from memci.config.groups import PageStoreAddress

    store, also = settings.page_store, settings.page_store_reads_also
    is_target = PageStoreAddress.parse(store).kind == to.value
    if is_target and also is not None:
        return also
    here = f"MEMCI_PAGE_STORE={to.value} and MEMCI_PAGE_STORE_READS_ALSO"
    if is_target:
        raise ConfigurationError(
            f"the page store is {store} already: set MEMCI_PAGE_STORE_READS_ALSO to the store that"
            " was used before, for this command and for every process"
        )
    if also is None or PageStoreAddress.parse(also).kind != to.value:
        raise ConfigurationError(
            "nothing was copied: all processes have to find what any of them writes. First set"
            f" MEMCI_PAGE_STORE_READS_ALSO={to.value} for every process and restart them; then set"
            f" {here}={store}, restart them again, and run this once more with the same settings"
        )
    raise ConfigurationError(
        f"nothing was copied: new texts still go to {store}. When every process reads {to.value}"
        f" also, set {here}={store} for all, restart them, and run this once more with the same"
        " settings"
    )


def _run(migration: TextMigration, *, clear: bool) -> TextCounts:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from memci.storage.pages.texts import all_agents

    screen = output.console(stderr=True)
    with Progress(
        TextColumn("agents"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[copied]} texts copied"),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    ) as progress:
        task = progress.add_task("", total=len(list(all_agents(migration.database))), copied=0)
        return migration.run(
            clear=clear,
            report=lambda moved: progress.update(task, completed=moved.agents, copied=moved.copied),
        )


def _print_counts(moved: TextCounts, former: str, to: str, *, clear: bool) -> None:
    output.say(
        f"{output.counted(moved.copied, 'text')} copied from {former} to {to}, {moved.present} "
        f"there before, of {output.counted(moved.agents, 'agent')}"
    )
    if moved.missing:
        output.say(
            f"{output.counted(moved.missing, 'text')} that pages refer to cannot be read in either "
            "store",
            style="yellow",
        )
        output.hint(
            "bring them back from a back-up of the store; until then their pages show that the text"
            " is missing, and `memci doctor` names some of them"
        )
    if clear:
        output.say(f"{output.counted(moved.cleared, 'text')} removed from {former}")
    if moved.copied:
        output.hint(
            "run it once more: all is there when it copies nothing, and every process has"
            f" MEMCI_PAGE_STORE={to}"
        )
    elif moved.present and not clear:
        output.hint(
            f"--clear removes them from {former}, where no erasure would reach them later on"
        )
    else:
        output.hint("now take MEMCI_PAGE_STORE_READS_ALSO out everywhere, and restart")


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
