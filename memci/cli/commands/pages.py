"""``memci pages``: show or change the pages of the context window."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from memci.cli import connection, output
from memci.cli.options import AgentOption, SessionOption, with_json
from memci.cli.pages.tool_commands import ToolGroup
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
        bool, typer.Option("--removed", help="List removed pages, the latest first.")
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=500, help="--removed: maximum number of lines.")
    ] = _LIMIT,
    cursor: Annotated[
        str | None, typer.Option(help="--removed: cursor of the next page, from the last answer.")
    ] = None,
) -> None:
    """Print all pages as a tree, or those that were removed."""
    from memci.cli.pages.printing import hint_misspelt, print_pages, print_tree

    if not removed and (limit != _LIMIT or cursor is not None):
        raise InvalidInputError("--limit and --cursor need --removed")
    which: dict[str, Any] = {"lifecycle": "cold_archived", "limit": limit, "cursor": cursor}
    with connection.agent_of(agent) as memory:
        shown = memory.pages(session_id=session, **(which if removed else {}))
    hint_misspelt(shown, agent, session)
    if output.printed_json(shown):
        return
    if removed:
        print_pages(shown.pages)
        output.print_next(shown.next_cursor)
    else:
        print_tree(agent, shown)


def window(
    *,
    agent: AgentOption,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of tokens (default: the agent's).")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.MARKDOWN,
    session: SessionOption = None,
) -> None:
    """Print the context window as the model sees it."""
    from memci.cli.pages.printing import hint_misspelt, print_window

    with connection.agent_of(agent) as memory:
        shown = memory.window(budget_tokens=budget, format=form, session_id=session)
    hint_misspelt(shown, agent, session)
    output.print_answer(shown, print_window)


def show(
    *,
    index: Annotated[str, typer.Argument(metavar="INDEX", help="A page, such as usr-12.")],
    agent: AgentOption,
) -> None:
    """Print a page and its content, in any state."""
    from memci.cli.pages.printing import print_page

    with connection.agent_of(agent) as memory:
        page = memory.page(index)
    output.print_answer(page, print_page)


def pins(*, agent: AgentOption) -> None:
    """List pinned texts and pages."""
    with connection.agent_of(agent) as memory:
        listed = memory.pins()
    if output.printed_json(listed):
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
    session: SessionOption = None,
    steps: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="TEXT", help="A step; begin it with [x] if it is done (repeatable)."
        ),
    ] = None,
    step: Annotated[int | None, typer.Option(min=1, help="Number of the step to update.")] = None,
    state: Annotated[StepState | None, typer.Option("--state", help="Its new state.")] = None,
) -> None:
    """Show or set the plan of a session."""
    if (step is None) is not (state is None) or (steps and step is not None):
        raise typer.BadParameter("give --set for each step, or --step with --state")
    with connection.agent_of(agent) as memory:
        if steps:
            shown = memory.update_plan(session, steps=steps)
        elif step is not None and state is not None:
            shown = memory.update_plan(session, step=step, state=state)
        else:
            shown = memory.plan(session)
    if output.printed_json(shown):
        return
    for each in shown.steps:
        output.say(f"{each.step}. {_MARKS[each.state]} {each.text}")
    if not shown.steps:
        output.say("this session has no plan")


_PersistentStore: TypeAlias = Literal["postgres", "files", "s3"]


def migrate(
    *,
    to: Annotated[_PersistentStore, typer.Option(help="The new store for all texts of notes.")],
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove copied texts from the former store.")
    ] = False,
) -> None:
    """Copy all texts of notes to another page store; memci keeps running.

    Every process must read both stores first; otherwise the command prints the settings to change.
    You can stop it and run it again at any time.
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
    if not output.printed_json({"from": former, "to": settings.page_store, **asdict(moved)}):
        _print_counts(moved, former, settings.page_store, clear=clear)


def _former_store(settings: Settings, to: _PersistentStore) -> str:
    """Return the store to copy from, or raise ``ConfigurationError`` with the settings needed."""
    from memci.config.groups import PageStoreAddress

    store, also = settings.page_store, settings.page_store_reads_also
    is_target = PageStoreAddress.parse(store).kind == to
    if is_target and also is not None:
        return also
    if is_target:
        raise ConfigurationError(
            f"the page store is {store} already: set MEMCI_PAGE_STORE_READS_ALSO to the former"
            " store, for this command and for every process"
        )
    is_read = also is not None and PageStoreAddress.parse(also).kind == to
    target = also if is_read else "s3://BUCKET/PREFIX" if to == "s3" else to
    both = f"MEMCI_PAGE_STORE={target} and MEMCI_PAGE_STORE_READS_ALSO={store}"
    if not is_read:
        raise ConfigurationError(
            "nothing was copied: every process must read both stores. First set"
            f" MEMCI_PAGE_STORE_READS_ALSO={target} for every process and restart them; then set"
            f" {both}, restart them again, and run this command again with the same settings"
        )
    raise ConfigurationError(
        f"nothing was copied: new texts still go to {store}. When every process reads {target} too,"
        f" set {both} for all, restart them, and run this command again with the same settings"
    )


def _run(migration: TextMigration, *, clear: bool) -> TextCounts:
    from memci.storage.page_store.named_texts import all_agents

    total = len(list(all_agents(migration.database)))
    with output.progress_bar("{task.fields[copied]} texts copied", transient=True) as progress:
        task = progress.add_task("agents", total=total, copied=0)
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
            "restore them from a backup of the store; until then their pages show that the text is"
            " missing, and `memci doctor` lists some of them"
        )
    if clear:
        output.say(f"{output.counted(moved.cleared, 'text')} removed from {former}")
    if moved.copied:
        output.hint(
            "run it once more: the move is complete when it copies nothing and every process has"
            f" MEMCI_PAGE_STORE={to}"
        )
    elif moved.present and not clear:
        output.hint(f"--clear removes them from {former}; later erasures do not reach them there")
    else:
        output.hint("now remove MEMCI_PAGE_STORE_READS_ALSO for every process, and restart them")


for _command in (tree, window, show, pins, plan, migrate):
    app.command()(with_json(_command))
