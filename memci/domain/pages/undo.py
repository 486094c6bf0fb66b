"""Taking operations back and doing them again (P17)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from memci.domain.pages.page import Page
from memci.domain.pages.tree import Tree
from memci.errors import RefusedError

_FIELDS = tuple(each.name for each in fields(Page))


@dataclass(frozen=True, slots=True)
class Change:
    """What one step did to one page; ``before`` None: it made the page."""

    before: Page | None
    after: Page

    @property
    def turned(self) -> Change:
        """Return the change that takes this one back: what was made goes cold."""
        return Change(self.after, self.before or replace(self.after, parent=None, cold=True))


def changes_of(tree: Tree) -> list[Change]:
    """Return what was done to a tree since it was read, page by page."""
    return [Change(before, tree.pages[index]) for index, before in tree.changed.items()]


def take_back(tree: Tree, step: Sequence[Change]) -> None:
    """Undo a step. ``RefusedError`` when one of its pages has changed since."""
    _apply(tree, [each.turned for each in reversed(step)])


def do_again(tree: Tree, step: Sequence[Change]) -> None:
    """Do an undone step again. ``RefusedError`` when one of its pages has changed since."""
    _apply(tree, [replace(each, before=each.turned.after) for each in step])


def _apply(tree: Tree, changes: Iterable[Change]) -> None:
    wanted: dict[str, Page] = {}
    for change in changes:
        page = tree[change.after.index]
        wanted[page.index] = replace(page, **_touched(page, change))
    _check(tree, wanted)
    for page in wanted.values():
        tree.put(page)


def _touched(page: Page, change: Change) -> dict[str, Any]:
    """Return the fields that a change sets, if they are still as it expects them."""
    before = change.before
    if before is None:
        raise AssertionError("what is done again was undone: there is a page")
    touched: dict[str, Any] = {}
    for name in _FIELDS:
        expected, value = getattr(before, name), getattr(change.after, name)
        if expected == value:
            continue
        if getattr(page, name) != expected:
            raise RefusedError(
                f"{page.index} has changed since ({name}): look at the window, and change it"
                " directly"
            )
        touched[name] = value
    return touched


def _check(tree: Tree, wanted: Mapping[str, Page]) -> None:
    """Refuse what would leave a page without its folder, or a folder below itself (P1)."""
    for page in wanted.values():
        if page.cold:
            _check_emptied(tree, page, wanted)
        above = page.parent
        for _ in range(len(tree.pages)):
            if above is None:
                break
            folder = wanted.get(above) or tree[above]
            if folder.index == page.index or (folder.cold and not page.cold):
                raise RefusedError(
                    f"{page.index} cannot go back into {page.parent}: that was moved or removed"
                )
            above = folder.parent


def _check_emptied(tree: Tree, page: Page, wanted: Mapping[str, Page]) -> None:
    for child in tree.children(page.index):
        now = wanted.get(child.index, child)
        if now.parent == page.index and not now.cold:
            raise RefusedError(
                f"{page.index} holds {child.index}, which was put there since: move that first"
            )
