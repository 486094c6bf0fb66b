"""Undo and redo of operations (P17)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from memci.domain.pages.page import MAX_DEPTH, Page
from memci.domain.pages.tree import Tree
from memci.errors import NotFoundError, RefusedError

_FIELDS = tuple(each.name for each in fields(Page))
# Fields of a created page once its creation is undone; its index is never used again.
_UNMADE: Mapping[str, Any] = {"parent": None, "cold": True}


@dataclass(frozen=True, slots=True)
class Edit:
    """Changed fields of one page: their values before and after."""

    index: str
    was: Mapping[str, Any]
    became: Mapping[str, Any]

    @property
    def inverse(self) -> Edit:
        """The edit that undoes this one."""
        return Edit(self.index, self.became, self.was)


def pending_edits(tree: Tree) -> list[Edit]:
    """Return the edits that lead from ``tree.changed`` to the present pages."""
    return [
        _edit(
            tree.pages[index],
            _UNMADE if before is None else {name: getattr(before, name) for name in _FIELDS},
        )
        for index, before in tree.changed.items()
    ]


def merged_edits(tree: Tree, edits: Iterable[Edit]) -> list[Edit]:
    """Merge consecutive edits into at most one for each page; unchanged pages are left out."""
    was: dict[str, dict[str, Any]] = {}
    for each in edits:
        was[each.index] = {**each.was, **was.get(each.index, {})}
    step = [_edit(tree[index], fields) for index, fields in was.items()]
    return [each for each in step if each.was]


def undo_step(tree: Tree, step: Sequence[Edit]) -> None:
    """Undo a step; raises ``RefusedError`` if one of its pages has changed since."""
    _apply_edits(tree, [each.inverse for each in reversed(step)])


def redo_step(tree: Tree, step: Sequence[Edit]) -> None:
    """Redo a step; raises ``RefusedError`` if one of its pages has changed since."""
    _apply_edits(tree, step)


def parent_folders(step: Sequence[Edit]) -> list[str]:
    """Return the folders into which undo or redo of a step would move pages."""
    parents = (edit.get("parent") for each in step for edit in (each.was, each.became))
    return [each for each in dict.fromkeys(parents) if each is not None]


def _edit(page: Page, was: Mapping[str, Any]) -> Edit:
    before = {name: value for name, value in was.items() if value != getattr(page, name)}
    return Edit(page.index, before, {name: getattr(page, name) for name in before})


def _apply_edits(tree: Tree, edits: Sequence[Edit]) -> None:
    changed: dict[str, Page] = {}
    for edit in edits:
        page = tree[edit.index]
        for name, expected in edit.was.items():
            if getattr(page, name) != expected:
                raise RefusedError(
                    f"{page.index} has changed since ({name}): look at the window, and change it"
                    " directly"
                )
        changed[page.index] = replace(page, **edit.became)
    before = [tree[index] for index in changed]
    for page in changed.values():
        tree.put(page)
    try:
        for page in before:
            _check(tree, page)
    except (NotFoundError, RefusedError):
        for page in before:
            tree.put(page)
        raise


def _check(tree: Tree, before: Page) -> None:
    """Refuse a page without its folder, or a folder below itself (P1); ``before`` its change."""
    page = tree[before.index]
    _check_pinned(tree, page, before)
    if page.cold:
        _check_emptied(tree, page)
    above, levels = page.parent, 0
    for _ in range(len(tree.pages)):
        if above is None:
            break
        folder = tree[above]
        if folder.index == page.index or (folder.cold and not page.cold):
            raise RefusedError(
                f"{page.index} cannot go back into {page.parent}: that was moved or removed"
            )
        above, levels = folder.parent, levels + 1
    if page.parent in {None, before.parent}:
        return
    if levels + tree.levels_from(page) > MAX_DEPTH:
        raise RefusedError(
            f"{page.index} cannot go back into {page.parent}: folders hold at most {MAX_DEPTH}"
            " levels, and that lies too deep by now"
        )


def _check_pinned(tree: Tree, page: Page, before: Page) -> None:
    if page.pinned and tree.is_archived(page):
        raise RefusedError(
            f"{page.index} would be both pinned and archived: unpin_page or recall_page it first"
        )
    if page.pinned and page.cold and not before.pinned:
        raise RefusedError(f"{page.index} would be pinned, and was removed: restore_page it first")


def _check_emptied(tree: Tree, page: Page) -> None:
    child = next((each for each in tree.children(page.index) if not each.cold), None)
    if child is not None:
        raise RefusedError(
            f"{page.index} holds {child.index}, which was put there since: move that first"
        )
