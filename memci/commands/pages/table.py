"""The table of what can be done to pages (P4, P15): HTTP, CLI, MCP and ATTP are made from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memci.domain.pages import operations
from memci.domain.pages.page import Page
from memci.domain.pages.permission import Actor
from memci.domain.pages.tree import Tree
from memci.shapes import pages as shapes
from memci.shapes.base import Request

R = TypeVar("R", bound=Request)


@dataclass(frozen=True, slots=True)
class Operation(Generic[R]):
    """One operation: the shape of what is asked, what it does, and which pages that names.

    ``text`` is what it gives a page to hold, and ``of_developers`` keeps it from agents.
    """

    shape: type[R]
    run: Callable[[Tree, Actor, R], Page]
    names: Callable[[R], tuple[str, ...]]
    text: Callable[[R], str] | None = None
    of_developers: bool = False

    @property
    def name(self) -> str:
        """Its name, everywhere: ``move_page``."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.shape.__name__).lower()

    @property
    def description(self) -> str:
        """What a model reads of it."""
        return " ".join((self.shape.__doc__ or "").split())


def _index(request: Any) -> tuple[str, ...]:
    return (request.index,)


ALL: tuple[Operation[Any], ...] = (
    Operation(
        shapes.CreateDetailPage,
        lambda tree, actor, asked: operations.create_detail_page(
            tree, actor, name=asked.name, description=asked.description, parent=asked.parent
        ),
        lambda asked: (asked.parent,),
        text=lambda asked: asked.detail,
    ),
    Operation(
        shapes.CreateContentsPage,
        lambda tree, actor, asked: operations.create_contents_page(
            tree,
            actor,
            name=asked.name,
            description=asked.description,
            parent=asked.parent,
            children=asked.children,
        ),
        lambda asked: (asked.parent, *asked.children),
    ),
    Operation(
        shapes.MovePage,
        lambda tree, actor, asked: operations.move_page(
            tree, actor, source=asked.source, target=asked.target
        ),
        lambda asked: (asked.source, asked.target),
    ),
    Operation(
        shapes.UpdatePage,
        lambda tree, actor, asked: operations.update_page(
            tree, actor, index=asked.index, name=asked.name, description=asked.description
        ),
        _index,
    ),
    Operation(
        shapes.ExpandDetails,
        lambda tree, actor, asked: operations.expand_details(tree, actor, index=asked.index),
        _index,
    ),
    Operation(
        shapes.HideDetails,
        lambda tree, actor, asked: operations.hide_details(tree, actor, index=asked.index),
        _index,
    ),
    Operation(
        shapes.RemovePage,
        lambda tree, actor, asked: operations.remove_page(tree, actor, index=asked.index),
        _index,
    ),
    Operation(
        shapes.RecallPage,
        lambda tree, actor, asked: operations.recall_page(tree, actor, index=asked.index),
        _index,
    ),
    Operation(
        shapes.RestorePage,
        lambda tree, actor, asked: operations.restore_page(
            tree, actor, index=asked.index, parent=asked.parent
        ),
        lambda asked: (asked.index, asked.parent),
    ),
    Operation(
        shapes.PinPage,
        lambda tree, actor, asked: operations.pin_page(tree, actor, index=asked.index),
        _index,
    ),
    Operation(
        shapes.UnpinPage,
        lambda tree, actor, asked: operations.pin_page(
            tree, actor, index=asked.index, pinned=False
        ),
        _index,
    ),
)
BY_NAME: Mapping[str, Operation[Any]] = {each.name: each for each in ALL}
