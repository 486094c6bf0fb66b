"""How each tool about pages is done (P4): a line a tool, with the shape that is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from memci.commands.pages.bench import Bench
from memci.commands.pages.changing import change, collapse, open_page
from memci.commands.pages.looking import found, get_ancestors, get_children, get_page, get_parent
from memci.commands.pages.pins import pin, unpin
from memci.commands.pages.undoing import redo, undo
from memci.domain.pages.making import (
    create_contents_page,
    create_detail_page,
    create_segment,
    update_page,
)
from memci.domain.pages.moving import move_page, recall_page, remove_page, restore_page
from memci.domain.pages.opening import expand_details, hide_details, pin_page
from memci.domain.pages.page import Page
from memci.shapes import page_tools as shapes
from memci.shapes import pins
from memci.shapes.base import Answer, Request
from memci.shapes.pages import PageChange

Doing: TypeAlias = Callable[[Bench, Any], Answer]


def _create_detail_page(bench: Bench, asked: shapes.CreateDetailPage) -> PageChange:
    return change(
        bench,
        lambda tree, actor: create_detail_page(
            tree, actor, name=asked.name, description=asked.description, parent=asked.parent
        ),
        asked.parent,
        text=asked.detail,
    )


def _create_contents_page(bench: Bench, asked: shapes.CreateContentsPage) -> PageChange:
    return change(
        bench,
        lambda tree, actor: create_contents_page(
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
    return change(
        bench,
        lambda tree, actor: move_page(tree, actor, source=asked.source, target=asked.target),
        asked.source,
        asked.target,
    )


def _update_page(bench: Bench, asked: shapes.UpdatePage) -> PageChange:
    return change(
        bench,
        lambda tree, actor: update_page(
            tree, actor, index=asked.index, name=asked.name, description=asked.description
        ),
        asked.index,
    )


def _restore_page(bench: Bench, asked: shapes.RestorePage) -> PageChange:
    return change(
        bench,
        lambda tree, actor: restore_page(tree, actor, index=asked.index, parent=asked.parent),
        asked.index,
        asked.parent,
    )


def _create_segment(bench: Bench, asked: shapes.CreateSegment) -> PageChange:
    return change(
        bench,
        lambda tree, actor: create_segment(
            tree,
            actor,
            id=asked.id,
            name=asked.name,
            kind=asked.kind,
            permission=asked.permission,
            max_tokens=asked.max_tokens,
        ),
    )


def _of_index(operation: Callable[..., Page], **more: Any) -> Doing:
    """Do an operation that is about one page and nothing else."""

    def do(bench: Bench, asked: Any) -> PageChange:
        return change(
            bench,
            lambda tree, actor: operation(tree, actor, index=asked.index, **more),
            asked.index,
        )

    return do


def _opening(operation: Callable[..., Page]) -> Doing:
    """Do an operation that opens one page."""

    def do(bench: Bench, asked: Any) -> PageChange:
        return open_page(
            bench, lambda tree, actor: operation(tree, actor, index=asked.index), asked.index
        )

    return do


DOINGS: Mapping[type[Request], Doing] = {
    shapes.CreateDetailPage: _create_detail_page,
    shapes.CreateContentsPage: _create_contents_page,
    shapes.MovePage: _move_page,
    shapes.UpdatePage: _update_page,
    shapes.ExpandDetails: _opening(expand_details),
    shapes.HideDetails: _of_index(hide_details),
    shapes.RemovePage: _of_index(remove_page),
    shapes.RecallPage: _opening(recall_page),
    shapes.RestorePage: _restore_page,
    shapes.PinPage: _of_index(pin_page, pinned=True),
    shapes.UnpinPage: _of_index(pin_page, pinned=False),
    pins.Pin: pin,
    pins.Unpin: unpin,
    shapes.AutoCollapse: lambda bench, asked: collapse(bench, asked.max_tokens),
    shapes.Undo: lambda bench, _: undo(bench),
    shapes.Redo: lambda bench, _: redo(bench),
    shapes.GetPage: get_page,
    shapes.GetChildren: get_children,
    shapes.GetParent: get_parent,
    shapes.GetAncestors: get_ancestors,
    shapes.FindPages: found,
    shapes.CreateSegment: _create_segment,
}
