"""What tools answer, for people: a change is one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memci.cli.output import hint, print_table, say, shortened
from memci.cli.pages.words import listed, state_of, tokens
from memci.shapes.base import Answer
from memci.shapes.pages import (
    CollapseAnswer,
    PageChange,
    PageList,
    PageOut,
    PageText,
    StepAnswer,
)
from memci.shapes.pins import PinChange
from memci.shapes.tools import Tool

_NAME = 60


def print_answer(tool: Tool, answer: Answer) -> None:
    """Print what a tool answered."""
    PRINTERS[type(answer)](tool, answer)


def print_page(shown: PageText) -> None:
    """Print a page and what it holds."""
    page = shown.page
    say(_titled(page), style="bold")
    if page.description:
        say(page.description)
    lines = {
        "state": state_of(page),
        "in": page.parent or "",
        "segment": page.segment,
        "session": page.session_id or "",
        "messages": _span(page),
    }
    for name, value in lines.items():
        if value:
            say(f"{name:<9} {value}")
    if shown.entries:
        say()
        for entry in shown.entries:
            say(f"- {entry}")
    if shown.text:
        say()
        say(shown.text)


def print_pages(pages: Sequence[PageOut]) -> None:
    """Print pages as a table."""
    print_table(
        ("index", "state", "in", "name"),
        ((each.index, state_of(each), each.parent, shortened(each.name, _NAME)) for each in pages),
    )


def _print_list(found: PageList) -> None:
    print_pages(found.pages)
    if found.next_offset is not None:
        hint(f"there is more: --offset {found.next_offset}")


def _titled(page: PageOut) -> str:
    return f"{page.index} {page.name}".rstrip()


def _span(page: PageOut) -> str:
    if page.first_seq is None:
        return ""
    if page.first_seq == page.last_seq:
        return str(page.first_seq)
    return f"{page.first_seq} to {page.last_seq}"


def _say_change(_: Tool, done: PageChange) -> None:
    page = done.page
    lies = f", in {page.parent}" if page.parent else ""
    others = [each for each in done.changed if each != page.index]
    also = f"; {listed(others)} changed, too" if others else ""
    _say_cost(f"{page.index} is {state_of(page)}{lies}{also}", done)


def _say_step(tool: Tool, done: StepAnswer) -> None:
    said = {"undo": "undone", "redo": "done again"}.get(tool.name, tool.name)
    changed = f" (changed: {listed(done.changed)})" if done.changed else ""
    _say_cost(f"{said}: {', '.join(done.operations)}{changed}", done)


def _say_collapse(_: Tool, done: CollapseAnswer) -> None:
    _say_cost("nothing to collapse" if not done.collapsed else "", done)


def _say_pin(tool: Tool, done: PinChange) -> None:
    _say_cost(f"pin {done.pin} is {'taken down' if tool.name == 'unpin' else 'set'}", done)


def _say_cost(what: str, done: PageChange | StepAnswer | CollapseAnswer | PinChange) -> None:
    """Say what was done, what it did to the tokens of the window, and what was collapsed."""
    parts = [what, f"{done.tokens_before:,} → {tokens(done.tokens_after)}"]
    parts += [f"collapsed: {listed(done.collapsed)}"] * bool(done.collapsed)
    parts += [f"what cannot be hidden is {tokens(done.over)} over"] * bool(done.over)
    say(" · ".join(filter(None, parts)))


PRINTERS: Mapping[type[Answer], Callable[[Tool, Any], None]] = {
    PageChange: _say_change,
    StepAnswer: _say_step,
    CollapseAnswer: _say_collapse,
    PinChange: _say_pin,
    PageText: lambda _, shown: print_page(shown),
    PageList: lambda _, found: _print_list(found),
}
