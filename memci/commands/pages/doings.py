"""How each tool about pages is done (P4): a line a tool, with the shape that is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from memci.commands.pages.bench import Bench
from memci.domain.pages import operations
from memci.domain.pages.page import Page
from memci.shapes import pages as shapes
from memci.shapes import pins
from memci.shapes.base import Answer, Request
from memci.shapes.pages import PageChange, PageList, PageText

Doing: TypeAlias = Callable[[Bench, Any], Answer]


def _create_detail_page(bench: Bench, asked: shapes.CreateDetailPage) -> PageChange:
    return bench.change(
        lambda tree, actor: operations.create_detail_page(
            tree, actor, name=asked.name, description=asked.description, parent=asked.parent
        ),
        asked.parent,
        text=asked.detail,
    )


def _create_contents_page(bench: Bench, asked: shapes.CreateContentsPage) -> PageChange:
    return bench.change(
        lambda tree, actor: operations.create_contents_page(
            tree,
            actor,
            name=asked.name,
            description=asked.description,
            parent=asked.parent,
            children=asked.children,
        ),
        asked.parent,
        *asked.children,
    )


def _move_page(bench: Bench, asked: shapes.MovePage) -> PageChange:
    return bench.change(
        lambda tree, actor: operations.move_page(
            tree, actor, source=asked.source, target=asked.target
        ),
        asked.source,
        asked.target,
    )


def _update_page(bench: Bench, asked: shapes.UpdatePage) -> PageChange:
    return bench.change(
        lambda tree, actor: operations.update_page(
            tree, actor, index=asked.index, name=asked.name, description=asked.description
        ),
        asked.index,
    )


def _restore_page(bench: Bench, asked: shapes.RestorePage) -> PageChange:
    return bench.change(
        lambda tree, actor: operations.restore_page(
            tree, actor, index=asked.index, parent=asked.parent
        ),
        asked.index,
        asked.parent,
    )


def _create_segment(bench: Bench, asked: shapes.CreateSegment) -> PageChange:
    return bench.change(
        lambda tree, actor: operations.create_segment(
            tree,
            actor,
            id=asked.id,
            name=asked.name,
            kind=asked.kind,
            permission=asked.permission,
            max_tokens=asked.max_tokens,
        )
    )


def _of_index(operation: Callable[..., Page], **more: Any) -> Doing:
    """Do an operation that is about one page and nothing else."""

    def do(bench: Bench, asked: Any) -> PageChange:
        return bench.change(
            lambda tree, actor: operation(tree, actor, index=asked.index, **more), asked.index
        )

    return do


def _opening(operation: Callable[..., Page]) -> Doing:
    """Do an operation that opens one page."""

    def do(bench: Bench, asked: Any) -> PageChange:
        return bench.open(
            lambda tree, actor: operation(tree, actor, index=asked.index), asked.index
        )

    return do


def _get_page(bench: Bench, asked: shapes.GetPage) -> PageText:
    page = bench.page(asked.index)
    held = bench.opened.texts(page)
    writer = bench.opened.desk.rendering.writer
    said = [f"{writer.speaker(each)}{writer.labels.colon}{each.text}" for each in held.messages]
    text = bench.labels.lost if held.lost else "\n\n".join(said) or held.text
    part = bench.part(text, asked.offset)
    return PageText(
        page=bench.out(page.index),
        text=part.text,
        entries=bench.entries(page) if not asked.offset else [],
        next_offset=part.next_offset,
    )


def _get_children(bench: Bench, asked: shapes.GetChildren) -> PageList:
    return _listed(bench, bench.children(bench.page(asked.index)))


def _get_parent(bench: Bench, asked: shapes.GetParent) -> PageList:
    page = bench.page(asked.index)
    return _listed(bench, list(bench.tree.ancestors(page.index))[:1])


def _get_ancestors(bench: Bench, asked: shapes.GetAncestors) -> PageList:
    page = bench.page(asked.index)
    return _listed(bench, list(bench.tree.ancestors(page.index)))


def _find_pages(bench: Bench, asked: shapes.FindPages) -> PageList:
    return PageList(pages=bench.found(asked.query, asked.limit))


def _listed(bench: Bench, pages: list[Page]) -> PageList:
    return PageList(pages=[bench.out(each.index) for each in pages])


DOINGS: Mapping[type[Request], Doing] = {
    shapes.CreateDetailPage: _create_detail_page,
    shapes.CreateContentsPage: _create_contents_page,
    shapes.MovePage: _move_page,
    shapes.UpdatePage: _update_page,
    shapes.ExpandDetails: _opening(operations.expand_details),
    shapes.HideDetails: _of_index(operations.hide_details),
    shapes.RemovePage: _of_index(operations.remove_page),
    shapes.RecallPage: _opening(operations.recall_page),
    shapes.RestorePage: _restore_page,
    shapes.PinPage: _of_index(operations.pin_page, pinned=True),
    shapes.UnpinPage: _of_index(operations.pin_page, pinned=False),
    pins.Pin: lambda bench, asked: bench.pin(asked),
    pins.Unpin: lambda bench, asked: bench.unpin(asked.pin),
    shapes.AutoCollapse: lambda bench, asked: bench.collapse(asked.max_tokens),
    shapes.Undo: lambda bench, _: bench.undo(),
    shapes.Redo: lambda bench, _: bench.redo(),
    shapes.GetPage: _get_page,
    shapes.GetChildren: _get_children,
    shapes.GetParent: _get_parent,
    shapes.GetAncestors: _get_ancestors,
    shapes.FindPages: _find_pages,
    shapes.CreateSegment: _create_segment,
}
