"""``memci recall``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memci.cli.connection import agent_of, check_written
from memci.cli.options import AgentOption, AsOfOption, UserOption, id_option
from memci.cli.output import cell, counted, hint, hint_pending, print_answer, printed_json, say
from memci.domain.memory.recall import Miss, forgotten_entry, miss_entry
from memci.language.detection import Language, language_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memci.schemas.reads import RecallAnswer


_DEEPEST = 10


def recall(  # noqa: PLR0913 - each is an argument or option of the command
    *,
    keywords: Annotated[list[str], typer.Argument(help="Words or phrases to look for.")],
    agent: AgentOption,
    relation: Annotated[
        list[str] | None, typer.Option(help="Follow only links of this name (repeatable).")
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(min=0, max=_DEEPEST, help="Maximum number of links from the focus."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of memories.")] = 20,
    budget: Annotated[int | None, typer.Option(min=1, help="Maximum number of tokens.")] = None,
    session: Annotated[
        str | None, id_option(help="Include the short-term memories of this session.")
    ] = None,
    user: UserOption = None,
    as_of: AsOfOption = None,
    text: Annotated[bool, typer.Option("--text", help="Print the text for a model.")] = False,
) -> None:
    """Search memories, starting from the focus."""
    options: dict[str, Any] = {"relations": relation or [], "depth": depth, "limit": limit}
    options |= {"session_id": session, "user_id": user, "as_of": as_of}
    within_budget = {**options, "budget_tokens": budget}
    with agent_of(agent) as memory:
        if text:
            answer = memory.recall_text(keywords, **within_budget)
            check_written(agent, answer)
            print_answer(answer, answer.text)
            if not answer.text and budget is not None:
                hint(f"the results do not fit into {counted(budget, 'token')} (--budget)")
            return
        found = memory.recall(keywords, **within_budget)
        check_written(agent, found)
        if printed_json(found):
            return
        language = language_of(" ".join(keywords))
        if found.miss is Miss.OUT_OF_REACH:  # also beside forgotten memories
            if depth is None:
                depth = int(memory.settings().parameters["default_search_depth"])
            print_recall(found, out_of_reach(depth, relation or [], language))
            layers = [each.layer for each in found.memories if each.layer is not None]
            # A memory that only other relations lead to can be near.
            farther = max(min(layers, default=depth + 2), depth + 1)
            hint(next_steps(agent, depth, keywords, relation or [], farther))
        elif found.miss is None and budget is not None and not (found.memories or found.forgotten):
            whole = memory.recall(keywords, **options)
            print_recall(found, cut_away(whole, budget))
        else:
            print_recall(found, language=language)
            lost = [each.node_id for each in found.forgotten if each.restorable] + found.knew
            if lost:
                others = f"; the same for {', '.join(map(str, lost[1:]))}" if lost[1:] else ""
                hint(f"`memci memory restore {lost[0]} --agent {agent}` restores it{others}")


def next_steps(
    agent: str, depth: int, keywords: Sequence[str], relations: Sequence[str], farther: int
) -> str:
    """Return advice for reaching memories that are out of reach; the surest ways come last.

    ``farther``: a depth that may reach them, if no relations are named.
    """
    ways = ["without --relation"] if relations else []
    ways += [f"--depth {farther}"] if depth < farther <= _DEEPEST else []
    ways += [
        f"`memci memory focus NAME --agent {agent}`, which sets the focus near it",
        f'`memci search "{" ".join(keywords)}" --agent {agent}`, which searches all sources',
    ]
    return f"try {', or '.join(ways)}"


def print_recall(
    found: RecallAnswer, nothing: str | None = None, language: Language = Language.ENGLISH
) -> None:
    """Print memories, forgotten memories, and the reason if there are none.

    ``nothing`` replaces the reason, which is otherwise given in ``language``.
    """
    for place, each in enumerate(found.memories):
        if place:
            say()
        say(each.content)
        said = f"said {cell(each.said_at)} · " if each.said_at else ""
        if each.superseded_by is not None:
            said += f"until {cell(each.superseded_at)}, replaced by {each.superseded_by} · "
        layer = "no links lead here" if each.layer is None else f"layer {each.layer}"
        layer += " · out of reach" if each.out_of_reach else ""
        say(f"    {said}{layer} · importance {each.importance:.2f}", style="dim")
    for place, gone in enumerate(found.forgotten, start=len(found.memories)):
        if place:
            say()
        say(forgotten_entry(gone.relation, gone.hint), style="yellow")
        if gone.forgotten_at is not None:
            say(f"    forgotten {cell(gone.forgotten_at)}", style="dim")
    reason = nothing or (miss_entry(found.miss, language) if found.miss else None)
    if reason is not None:
        say(reason, style="yellow")
    hint_pending(found.pending)


def cut_away(whole: RecallAnswer, budget: int) -> str:
    """Return a message that nothing of the recall fits into the budget."""
    count = len(whole.memories) + len(whole.forgotten)
    return f"{count} found, none fits into {counted(budget, 'token')} (--budget)"


def out_of_reach(
    depth: int, relations: Sequence[str], language: Language = Language.ENGLISH
) -> str:
    """Return the reason why the search did not reach a matching memory."""
    reason = miss_entry(Miss.OUT_OF_REACH, language)
    names = ", ".join(relations)
    if language is Language.CHINESE:
        if relations:
            return f"{reason}：深度 {depth} 以内没有名为 {names} 的关联（--relation）通向它"
        return f"{reason}：比 --depth {depth} 更远"
    if relations:
        return f"{reason}: no links named {names} (--relation) lead to it within depth {depth}"
    return f"{reason}: farther than --depth {depth}"
