"""Operations are done on a bench, and the window is kept to its limits (P4, P13)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from memci.commands.pages.bench import Bench
from memci.domain.pages.collapse import collapse_to
from memci.domain.pages.excess import room_for
from memci.domain.pages.making import give_text
from memci.domain.pages.page import Lifecycle, Page
from memci.domain.pages.permission import Actor
from memci.domain.pages.segment import Permission
from memci.domain.pages.tree import Tree
from memci.errors import RefusedError
from memci.shapes.pages import CollapseAnswer, PageChange

Operation: TypeAlias = Callable[[Tree, Actor], Page]


def change(bench: Bench, operation: Operation, *named: str, text: str | None = None) -> PageChange:
    """Do an operation that speaks of these pages, and keep the window to its limits (P13).

    ``text``: what the page of the operation is to hold; None: that is not its matter.
    """
    bench.know(named)
    before = bench.tokens
    page, edits = bench.do(lambda: _written(bench, operation(bench.tree, bench.actor), text))
    bench.desk.look_after()
    return PageChange(
        page=bench.out(page.index),
        changed=[each.index for each in edits],
        **bench.effect(before),
        new_session=bench.tree.viewer.names_new_session,
    )


def open_page(bench: Bench, operation: Operation, index: str) -> PageChange:
    """Do an operation that opens a page; ``RefusedError`` when the window has no room for it.

    Then the bench must be thrown away.
    """
    bench.know([index])
    over = bench.desk.over
    done = change(bench, operation, index)
    if done.changed and index not in done.changed:  # it was open, in a folder that was hidden
        done = done.model_copy(update={"changed": [*done.changed, index]})
    if _is_current(bench.tree, index) or (_is_open(bench.tree, index) and done.over <= over):
        return done
    desk = bench.desk
    room = room_for(desk.rendering, desk.rules, index, desk.kept)
    raise RefusedError(
        f"{index} does not fit: it takes {room.takes:,} tokens, and at most {room.free:,} of"
        f" {room.most:,} can be free for it; "
        + ("get_children lists" if bench.tree[index].is_folder else "get_page reads")
        + " what it holds without opening it"
    )


def collapse(bench: Bench, max_tokens: int) -> CollapseAnswer:
    """Hide pages until the window takes at most so many tokens, where that is possible."""
    desk = bench.desk
    kept, before = {*desk.kept, *_not_to_hide(bench)}, bench.tokens
    done, _ = bench.do(lambda: collapse_to(desk.rendering, max_tokens, kept))
    desk.say_excess()
    return CollapseAnswer(
        collapsed=list(done.hidden),
        tokens_before=before,
        tokens_after=bench.tokens,
        over=max(0, bench.tokens - max_tokens),
    )


def _written(bench: Bench, page: Page, text: str | None) -> Page:
    if text is None:
        return page
    takes = bench.desk.rendering.count(text)
    return give_text(bench.tree, page.index, bench.opened.texts.write(page, text), takes)


def _is_open(tree: Tree, index: str) -> bool:
    return tree[index].expanded and tree.lifecycle(index) is Lifecycle.ACTIVE


def _is_current(tree: Tree, index: str) -> bool:
    """Tell whether it is what is being answered, or a folder above it: both stay open."""
    current = tree.latest(tree.viewer.session_id)
    if current is None:
        return False
    above = (each.index for each in tree.ancestors(current.index))
    return index in {current.index, *above}


def _not_to_hide(bench: Bench) -> Iterator[str]:
    """Yield what the actor may not hide one by one either, the archive aside (P5)."""
    if bench.actor is Actor.AGENT:
        for page in bench.tree.pages.values():
            if bench.tree.segment_of(page).permission is not Permission.READ_WRITE:
                yield page.index
