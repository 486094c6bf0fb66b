"""The tree of pages on a terminal: each segment, and what lies in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from memci.cli.output import console, printable, shortened
from memci.cli.pages.words import state_of, tokens
from memci.domain.pages.page import Lifecycle
from memci.domain.pages.segment import Permission
from memci.shapes.pages import PageOut, PageTree, SegmentOut

_NAME = 72
_ASIDE, _PLAIN, _FOLDER, _AWAY = "dim", "", "bold", "yellow"


def print_tree(agent_id: str, tree: PageTree) -> None:
    """Print it segment by segment; lines are cut on a terminal, never in a pipe."""
    screen = console()
    session = f", session {tree.session_id}" if tree.session_id is not None else ""
    headline = f"{agent_id}{session}: {tokens(tree.tokens)}"
    _print(screen, Text(printable(shortened(headline, 200)), style="bold"))
    for segment in tree.segments:
        for line in _lines(tree, segment):
            _print(screen, line)


def _lines(tree: PageTree, segment: SegmentOut) -> Iterator[Text]:
    """Yield the lines of a segment; without recursion, since folders may lie deep."""
    inside: dict[str | None, list[PageOut]] = {}
    for page in tree.pages:
        inside.setdefault(page.parent, []).append(page)
    roots = [each for each in inside.get(None, ()) if each.index == segment.root]
    for root in roots:
        yield Text.assemble("● ", *_told(root, tree), (f" {_segment_says(segment)}", _ASIDE))
        yield from _below(root, inside, tree)


def _below(
    root: PageOut, inside: Mapping[str | None, Sequence[PageOut]], tree: PageTree
) -> Iterator[Text]:
    stack = [("", iter(_marked(inside.get(root.index, ()))))]
    while stack:
        indent, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            continue
        page, is_last = child
        branch = indent + ("└─ " if is_last else "├─ ")
        yield Text.assemble((branch, _ASIDE), *_told(page, tree))
        if page.index in inside:
            indent += "   " if is_last else "│  "
            stack.append((indent, iter(_marked(inside[page.index]))))


def _marked(pages: Sequence[PageOut]) -> list[tuple[PageOut, bool]]:
    """Return pages, the last of them marked."""
    return [(page, place == len(pages)) for place, page in enumerate(pages, 1)]


def _told(page: PageOut, tree: PageTree) -> Sequence[tuple[str, str]]:
    takes = tree.tokens_of.get(page.index)
    cost = "" if takes is None else f", {tokens(takes)}"
    is_archive = page.index == tree.archive
    style = _PLAIN if page.lifecycle is Lifecycle.ACTIVE else _AWAY
    # Words come last: they are what a narrow terminal cuts, and what may run from right to left.
    return [
        (page.index, _FOLDER if page.children else style),
        (f"  {'the archive, ' if is_archive else ''}{state_of(page)}{cost}  ", _ASIDE),
        (printable(shortened(page.name, _NAME)), style),
    ]


def _segment_says(segment: SegmentOut) -> str:
    limit = f", at most {tokens(segment.max_tokens)}" if segment.max_tokens else ""
    permission = segment.permission
    says = "" if permission is Permission.READ_WRITE else f", {permission.value} to agents"
    return f"({segment.kind.value}{says}{limit})"


def _print(screen: Console, line: Text) -> None:
    if screen.is_terminal:
        line.truncate(screen.width, overflow="ellipsis")
    screen.print(line, soft_wrap=True)
