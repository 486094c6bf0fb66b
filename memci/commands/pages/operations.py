"""Operations are done on a bench, and the window is kept to its limits (P4, P13).

Pages are read, listed and found without being opened (P4); nothing changes by that.

Texts are pinned on a bench and taken down, and the window is kept to its limits (R7, P13).

What an agent did last is taken back, and done again (P17).

How each tool about pages is done (P4): a line a tool, with the shape that is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from memci.commands.pages.workspace import OperationContext
from memci.commands.tools.caller import session_caller
from memci.domain.pages.collapse import collapse_to, opening_cost
from memci.domain.pages.operations import (
    create_contents_page,
    create_detail_page,
    create_segment,
    expand_details,
    hide_details,
    move_page,
    pin_page,
    recall_page,
    remove_page,
    restore_page,
    set_text,
    update_page,
)
from memci.domain.pages.page import Lifecycle, Page, Permission
from memci.domain.pages.page_text import TextPart, match_score, query_words, text_from, text_part
from memci.domain.pages.permission import Actor, shows_current_interaction, visible_developer_pins
from memci.domain.pages.tree import UNRESTRICTED_VIEWER, Tree
from memci.domain.pages.undo import Edit, parent_folders, redo_step, undo_step
from memci.errors import NotFoundError, RefusedError
from memci.message import Message
from memci.schemas import page_tools as shapes
from memci.schemas import pages
from memci.schemas.base import Answer, Request
from memci.schemas.page_tools import FindPages, GetAncestors, GetChildren, GetPage, GetParent
from memci.schemas.pages import (
    CollapseAnswer,
    PageChange,
    PageList,
    PageText,
    Pin,
    PinChange,
    StepAnswer,
    Unpin,
)
from memci.storage.pages.undo_steps import Step, step_to_redo, step_to_undo
from memci.storage.pages.visible_pages import find_pages
from memci.storage.pins import message_by_id

Operation: TypeAlias = Callable[[Tree, Actor], Page]


def change(
    bench: OperationContext, operation: Operation, *named: str, text: str | None = None
) -> PageChange:
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


def open_page(bench: OperationContext, operation: Operation, index: str) -> PageChange:
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
    room = opening_cost(desk.rendering, desk.rules, index, desk.kept)
    raise RefusedError(
        f"{index} does not fit: it takes {room.takes:,} tokens, and at most {room.free:,} of"
        f" {room.most:,} can be free for it; "
        + ("get_children lists" if bench.tree[index].is_folder else "get_page reads")
        + " what it holds without opening it"
    )


def collapse(bench: OperationContext, max_tokens: int) -> CollapseAnswer:
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


def _written(bench: OperationContext, page: Page, text: str | None) -> Page:
    if text is None:
        return page
    takes = bench.desk.rendering.count(text)
    return set_text(bench.tree, page.index, bench.opened.texts.write(page, text), takes)


def _is_open(tree: Tree, index: str) -> bool:
    return tree[index].expanded and tree.lifecycle(index) is Lifecycle.ACTIVE


def _is_current(tree: Tree, index: str) -> bool:
    """Tell whether it is what is being answered, or a folder above it: both stay open."""
    current = tree.latest(tree.viewer.session_id)
    if current is None:
        return False
    above = (each.index for each in tree.ancestors(current.index))
    return index in {current.index, *above}


def _not_to_hide(bench: OperationContext) -> Iterator[str]:
    """Yield what the actor may not hide one by one either, the archive aside (P5)."""
    if bench.actor is Actor.AGENT:
        for page in bench.tree.pages.values():
            if bench.tree.segment_of(page).permission is not Permission.READ_WRITE:
                yield page.index


_MOST_ENTRIES = 50


def get_page(bench: OperationContext, asked: GetPage) -> PageText:
    """Return a page with its text, from an offset on."""
    page = bench.page(asked.index)
    held = bench.opened.texts(page)
    writer = bench.desk.rendering.writer
    said = [f"{writer.speaker(each)}{writer.labels.colon}{each.text}" for each in held.messages]
    text = bench.labels.lost if held.lost else "\n\n".join(said) or held.text
    part = _part(bench, text, asked.offset)
    return PageText(
        page=bench.out(page.index),
        text=part.text,
        entries=_entries(bench, page) if not asked.offset else [],
        next_offset=part.next_offset,
    )


def get_children(bench: OperationContext, asked: GetChildren) -> PageList:
    """Return what the session sees directly in a folder, from an offset on.

    However much of others was read.
    """
    page, sight = bench.page(asked.index), bench.desk.rendering.sight
    is_agent = bench.actor is Actor.AGENT
    inside = list(sight.inside(page) if is_agent else sight.lying_in(page))
    end = asked.offset + asked.limit
    listed = _listed(bench, inside[asked.offset : end])
    more = len(inside) > end
    return listed.model_copy(update={"next_offset": end}) if more else listed


def get_parent(bench: OperationContext, asked: GetParent) -> PageList:
    """Return the folder that a page lies in; none of a root."""
    page = bench.page(asked.index)
    return _listed(bench, list(bench.tree.ancestors(page.index))[:1])


def get_ancestors(bench: OperationContext, asked: GetAncestors) -> PageList:
    """Return the folders above a page, the nearest first."""
    page = bench.page(asked.index)
    return _listed(bench, bench.tree.ancestors(page.index))


def find(bench: OperationContext, asked: FindPages) -> PageList:
    """Return pages that hold the words of a query, best first, removed ones too."""
    words, known = query_words(asked.query), bench.tree.pages
    shown = [page for page in known.values() if bench.sees(page)]
    within = bench.opened.texts.words_in(shown, words)
    here = [(match_score(page, words, within.get(page.index, ())), page.index) for page in shown]
    viewer = bench.tree.viewer if bench.actor is Actor.AGENT else UNRESTRICTED_VIEWER
    others = find_pages(bench.connection, bench.agent_id, viewer, words, known, asked.limit)
    scored = sorted([*here, *others], key=lambda hit: (hit[0], _number(hit[1])), reverse=True)
    indexes = [index for held, index in scored[: asked.limit] if held]
    bench.fetch(indexes)
    pages = [bench.tree[index] for index in indexes]
    return _listed(bench, [page for page in pages if bench.sees(page)])


def _part(bench: OperationContext, text: str, offset: int) -> TextPart:
    """Return a text from an offset on; for an agent as much of it as a model reads at once."""
    if bench.actor is Actor.AGENT:
        return text_part(text, offset, bench.desk.rendering.count)
    return TextPart(text_from(text, offset), None)


def _entries(bench: OperationContext, page: Page) -> list[str]:
    """Return the lines of a page's messages; for an agent the first ones of very many."""
    return list(page.entries[: _MOST_ENTRIES if bench.actor is Actor.AGENT else None])


def _listed(bench: OperationContext, pages: Iterable[Page]) -> PageList:
    return PageList(pages=[bench.out(each.index) for each in pages])


def _number(index: str) -> int:
    """Return the number within an index: newer pages have higher ones."""
    return int(index.rpartition("-")[2])


def pin(bench: OperationContext, asked: Pin) -> PinChange:
    """Pin a text; raises ``NotFoundError`` for no such message, and as ``Pinning.add``."""
    said = _said(bench, asked)
    return _pinned(bench, lambda: bench.pinning.add(asked.kind, bench.actor, said).number)


def unpin(bench: OperationContext, asked: Unpin) -> PinChange:
    """Take a text down; raises as ``Pinning.take_down``."""

    def take_down() -> int:
        bench.pinning.take_down(asked.pin, bench.actor)
        return asked.pin

    return _pinned(bench, take_down)


def _said(bench: OperationContext, asked: Pin) -> str | Message:
    if asked.message is None:
        return asked.text or ""
    connection, agent_id = bench.connection, bench.agent_id
    if bench.actor is Actor.AGENT:
        session = bench.desk.rendering.session_id
        session_caller(connection, agent_id, session).seqs(connection, [asked.message])
    said = message_by_id(connection, agent_id, asked.message)
    if said is None or not said.text.strip():
        raise NotFoundError("there is no message of this id that says something")
    return said


def _pinned(bench: OperationContext, act: Callable[[], int]) -> PinChange:
    before = bench.tokens
    number, _ = bench.do(act)
    bench.desk.look_after()
    return PinChange(pin=number, **bench.effect(before))


def undo(bench: OperationContext) -> StepAnswer:
    """Take back what the agent did last; ``RefusedError`` when that cannot be done (P17)."""
    step = step_to_undo(bench.connection, bench.agent_id, bench.tree.viewer.user_id)
    if step is None:
        raise RefusedError("there is nothing to undo")
    return _turn(bench, step, undo_step, undone=True)


def redo(bench: OperationContext) -> StepAnswer:
    """Do again what was undone last; ``RefusedError`` when that cannot be done (P17)."""
    step = step_to_redo(bench.connection, bench.agent_id, bench.tree.viewer.user_id)
    if step is None:
        raise RefusedError("there is nothing to redo")
    return _turn(bench, step, redo_step, undone=False)


def _turn(
    bench: OperationContext,
    step: Step,
    turn: Callable[[Tree, Sequence[Edit]], None],
    *,
    undone: bool,
) -> StepAnswer:
    bench.know([each.index for each in step.edits])
    bench.fetch(parent_folders(step.edits))
    _check_here(bench, step)
    before, was_shown = bench.tokens, shows_current_interaction(bench.tree)
    pinned = visible_developer_pins(bench.tree)
    bench.desk.do(lambda: turn(bench.tree, step.edits))
    _check_here(bench, step)
    if was_shown and not shows_current_interaction(bench.tree):
        raise RefusedError(
            "that would hide the interaction that you are answering: try after the user's next"
            " message"
        )
    _check_pinned(bench, pinned)
    bench.desk.look_after()
    bench.turned[step.number] = undone
    return StepAnswer(
        operations=list(step.operations),
        changed=[each.index for each in step.edits],
        **bench.effect(before),
    )


def _check_here(bench: OperationContext, step: Step) -> None:
    """Refuse to turn what has to do with the chapter of another session of the same user (P5)."""
    tree = bench.tree
    there = [each.index for each in step.edits if tree.is_elsewhere(tree[each.index])]
    if bench.actor is Actor.AGENT and there:
        raise RefusedError(
            f"the step is about {there[0]}, in the conversation of another session: it can be"
            " undone and redone there; here, change pages directly"
        )


def _check_pinned(bench: OperationContext, before: set[tuple[str, bool]]) -> None:
    """Refuse to turn what would put out of sight a page that a developer has pinned since."""
    lost = sorted(index for index, _ in before - visible_developer_pins(bench.tree))
    if lost:
        what = lost[0] if bench.sees(bench.tree[lost[0]]) else "a page"
        raise RefusedError(
            f"that would hide or remove {what}, which was pinned by the developer and stays open"
        )


OperationHandler: TypeAlias = Callable[[OperationContext, Any], Answer]


def _create_detail_page(bench: OperationContext, asked: shapes.CreateDetailPage) -> PageChange:
    return change(
        bench,
        lambda tree, actor: create_detail_page(
            tree, actor, name=asked.name, description=asked.description, parent=asked.parent
        ),
        asked.parent,
        text=asked.detail,
    )


def _create_contents_page(bench: OperationContext, asked: shapes.CreateContentsPage) -> PageChange:
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


def _move_page(bench: OperationContext, asked: shapes.MovePage) -> PageChange:
    return change(
        bench,
        lambda tree, actor: move_page(tree, actor, source=asked.source, target=asked.target),
        asked.source,
        asked.target,
    )


def _update_page(bench: OperationContext, asked: shapes.UpdatePage) -> PageChange:
    return change(
        bench,
        lambda tree, actor: update_page(
            tree, actor, index=asked.index, name=asked.name, description=asked.description
        ),
        asked.index,
    )


def _restore_page(bench: OperationContext, asked: shapes.RestorePage) -> PageChange:
    return change(
        bench,
        lambda tree, actor: restore_page(tree, actor, index=asked.index, parent=asked.parent),
        asked.index,
        asked.parent,
    )


def _create_segment(bench: OperationContext, asked: shapes.CreateSegment) -> PageChange:
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


def _of_index(operation: Callable[..., Page], **more: Any) -> OperationHandler:
    """Do an operation that is about one page and nothing else."""

    def do(bench: OperationContext, asked: Any) -> PageChange:
        return change(
            bench,
            lambda tree, actor: operation(tree, actor, index=asked.index, **more),
            asked.index,
        )

    return do


def _opening(operation: Callable[..., Page]) -> OperationHandler:
    """Do an operation that opens one page."""

    def do(bench: OperationContext, asked: Any) -> PageChange:
        return open_page(
            bench, lambda tree, actor: operation(tree, actor, index=asked.index), asked.index
        )

    return do


OPERATION_HANDLERS: Mapping[type[Request], OperationHandler] = {
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
    pages.Pin: pin,
    pages.Unpin: unpin,
    shapes.AutoCollapse: lambda bench, asked: collapse(bench, asked.max_tokens),
    shapes.Undo: lambda bench, _: undo(bench),
    shapes.Redo: lambda bench, _: redo(bench),
    shapes.GetPage: get_page,
    shapes.GetChildren: get_children,
    shapes.GetParent: get_parent,
    shapes.GetAncestors: get_ancestors,
    shapes.FindPages: find,
    shapes.CreateSegment: _create_segment,
}
