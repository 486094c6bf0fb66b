"""Prints pages, answers of tools, the tree of pages and the context window for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from memci.cli import output
from memci.domain.pages.page import Lifecycle, PageKind, Permission
from memci.schemas import pages as schemas
from memci.schemas.base import Answer
from memci.schemas.tools.table import Tool


def state_of(page: schemas.PageOut) -> str:
    """Return the state of a page, such as "expanded, 3 pages, pinned"."""
    parts: list[str] = [page.state]
    if page.kind is PageKind.CONTENTS:
        parts.append(output.counted(page.children, "page"))
    if page.pinned:
        parts.append("pinned")
    if page.recalls:
        parts.append(f"recalled {output.counted(page.recalls, 'time')}")
    return ", ".join(parts)


def tokens(count: int) -> str:
    """Return a number of tokens in words: "1 token", "1,200 tokens"."""
    return f"{count:,} token" if count == 1 else f"{count:,} tokens"


_NAME = 60
_LISTED = 10  # indexes


def print_answer(tool: Tool, answer: Answer) -> None:
    """Print the answer of a tool."""
    PRINTERS[type(answer)](tool, answer)


def print_page(answer: schemas.PageText) -> None:
    """Print a page, its entries and its text."""
    page = answer.page
    output.say(f"{page.index} {page.name}".rstrip(), style="bold")
    if page.description:
        output.say(page.description)
    lines = {
        "state": state_of(page),
        "in": page.parent or "",
        "segment": page.segment,
        "session": page.session_id or "",
        "messages": _span(page),
    }
    for name, value in lines.items():
        if value:
            output.say(f"{name:<9} {value}")
    if answer.entries:
        output.say()
        for entry in answer.entries:
            output.say(f"- {entry}")
    if answer.text:
        output.say()
        output.say(answer.text)


def print_pages(pages: Sequence[schemas.PageOut]) -> None:
    """Print pages as a table."""
    output.print_table(
        ("index", "state", "in", "name"),
        (
            (each.index, state_of(each), each.parent, output.shortened(each.name, _NAME))
            for each in pages
        ),
    )


def _print_list(found: schemas.PageList) -> None:
    print_pages(found.pages)
    if found.next_offset is not None:
        output.hint(f"there is more: --offset {found.next_offset}")


def _span(page: schemas.PageOut) -> str:
    if page.first_seq is None:
        return ""
    if page.first_seq == page.last_seq:
        return str(page.first_seq)
    return f"{page.first_seq} to {page.last_seq}"


def _say_change(_: Tool, done: schemas.PageChange) -> None:
    page = done.page
    lies = f", in {page.parent}" if page.parent else ""
    others = [each for each in done.changed if each != page.index]
    also = f"; {output.listed(others, _LISTED)} changed, too" if others else ""
    _say_cost(f"{page.index} is {state_of(page)}{lies}{also}", done)


def _say_step(tool: Tool, done: schemas.StepAnswer) -> None:
    verb = {"undo": "undone", "redo": "done again"}.get(tool.name, tool.name)
    changed = f" (changed: {output.listed(done.changed, _LISTED)})" if done.changed else ""
    _say_cost(f"{verb}: {', '.join(done.operations)}{changed}", done)


def _say_pin(tool: Tool, done: schemas.PinChange) -> None:
    _say_cost(f"pin {done.pin} is {'removed' if tool.name == 'unpin' else 'set'}", done)


def _say_cost(what: str, done: schemas.WindowEffect) -> None:
    """Print what was done, the tokens of the window, and the pages that were collapsed."""
    parts = [what, f"{done.tokens_before:,} → {tokens(done.tokens_after)}"]
    parts += [f"collapsed: {output.listed(done.collapsed, _LISTED)}"] * bool(done.collapsed)
    parts += [f"{tokens(done.over)} over a limit cannot be hidden"] * bool(done.over)
    output.say(" · ".join(filter(None, parts)))


PRINTERS: Mapping[type[Answer], Callable[[Tool, Any], None]] = {
    schemas.PageChange: _say_change,
    schemas.StepAnswer: _say_step,
    schemas.CollapseAnswer: lambda _, done: _say_cost(
        "" if done.collapsed else "nothing to collapse", done
    ),
    schemas.PinChange: _say_pin,
    schemas.PageText: lambda _, answer: print_page(answer),
    schemas.PageList: lambda _, found: _print_list(found),
}


_LONGEST_NAME = 72
_ASIDE, _PLAIN, _FOLDER, _AWAY = "dim", "", "bold", "yellow"


def print_tree(agent_id: str, tree: schemas.PageTree) -> None:
    """Print the tree by segments; lines are cut to the width of a terminal."""
    screen = output.console()
    session = f", session {tree.session_id}" if tree.session_id is not None else ""
    headline = f"{agent_id}{session}: {tokens(tree.tokens)}"
    output.print_cut(screen, Text(output.printable(output.shortened(headline, 200)), style="bold"))
    for segment in tree.segments:
        for line in _lines(tree, segment):
            output.print_cut(screen, line)


def _lines(tree: schemas.PageTree, segment: schemas.SegmentOut) -> Iterator[Text]:
    """Yield the lines of a segment."""
    inside: dict[str | None, list[schemas.PageOut]] = {}
    for page in tree.pages:
        inside.setdefault(page.parent, []).append(page)
    roots = [each for each in inside.get(None, ()) if each.index == segment.root]
    for root in roots:
        yield Text.assemble("● ", *_page_text(root, tree), (f" {_segment_text(segment)}", _ASIDE))
        for branches, page in output.tree_below(root, lambda page: inside.get(page.index, ())):
            yield Text.assemble((branches, _ASIDE), *_page_text(page, tree))


def _page_text(page: schemas.PageOut, tree: schemas.PageTree) -> Sequence[tuple[str, str]]:
    takes = tree.tokens_of.get(page.index)
    cost = "" if takes is None else f", {tokens(takes)}"
    is_archive = page.index == tree.archive
    style = _PLAIN if page.lifecycle is Lifecycle.ACTIVE else _AWAY
    # Words come last: a narrow terminal cuts them, and they may run from right to left.
    return [
        (page.index, _FOLDER if page.children else style),
        (f"  {'the archive, ' if is_archive else ''}{state_of(page)}{cost}  ", _ASIDE),
        (output.printable(output.shortened(page.name, _LONGEST_NAME)), style),
    ]


def _segment_text(segment: schemas.SegmentOut) -> str:
    limit = f", at most {tokens(segment.max_tokens)}" if segment.max_tokens else ""
    permission = segment.permission
    says = "" if permission is Permission.READ_WRITE else f", {permission.value} to agents"
    return f"({segment.kind.value}{says}{limit})"


def print_window(answer: schemas.WindowAnswer) -> None:
    """Print the messages, then their tokens and the pages that were collapsed to fit."""
    output.print_messages(answer.messages)
    if answer.messages:
        output.print_table(("segment", "tokens"), answer.by_segment.items())
    session = f" · session {answer.session_id}" if answer.session_id is not None else ""
    output.say(f"{tokens(answer.tokens)} ({answer.tokenizer}){session}")
    if answer.collapsed:
        output.say(f"collapsed to fit: {output.listed(answer.collapsed, _LISTED)}")
    if answer.over:
        output.say(f"{tokens(answer.over)} over the budget cannot be hidden", style="yellow")


def hint_misspelt(answer: Answer, agent: str, session: str | None) -> None:
    """Print a hint if the request created the agent, or if the session is unknown."""
    if getattr(answer, "new_agent", False):
        output.hint(f"this created agent {agent}; `memci agents list` lists all agents")
    if getattr(answer, "new_session", False) and session is not None:
        output.hint(
            f"session {session} has no messages yet; "
            f"`memci sessions list --agent {agent}` lists all sessions"
        )
