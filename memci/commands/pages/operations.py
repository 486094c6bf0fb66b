"""The handler of each page tool: changes, reads, pins, undo and redo (P4, P13, P17, R7)."""

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
    context: OperationContext, operation: Operation, *named: str, text: str | None = None
) -> PageChange:
    """Run an operation on the ``named`` pages, then enforce the limits of the window (P13).

    ``text``: the text of the page that the operation creates; None: it has none.
    """
    context.load_visible(named)
    before = context.tokens
    page, edits = context.do(
        lambda: _written(context, operation(context.tree, context.actor), text)
    )
    context.workspace.enforce_limits()
    return PageChange(
        page=context.out(page.index),
        changed=[each.index for each in edits],
        **context.effect(before),
        new_session=context.tree.viewer.names_new_session,
    )


def open_page(context: OperationContext, operation: Operation, index: str) -> PageChange:
    """Run an operation that opens a page; raises ``RefusedError`` if the page does not fit.

    Discard the context after an error.
    """
    context.load_visible([index])
    over = context.workspace.over
    done = change(context, operation, index)
    if done.changed and index not in done.changed:  # it was open, in a folder that was hidden
        done = done.model_copy(update={"changed": [*done.changed, index]})
    if _is_current(context.tree, index) or (_is_open(context.tree, index) and done.over <= over):
        return done
    workspace = context.workspace
    room = opening_cost(workspace.rendering, workspace.rules, index, workspace.kept)
    raise RefusedError(
        f"{index} does not fit: it takes {room.takes:,} tokens, and at most {room.free:,} of"
        f" {room.most:,} can be free for it; "
        + ("get_children lists" if context.tree[index].is_folder else "get_page reads")
        + " what it holds without opening it"
    )


def collapse(context: OperationContext, max_tokens: int) -> CollapseAnswer:
    """Hide pages until the window takes at most ``max_tokens``, if possible."""
    workspace = context.workspace
    kept, before = {*workspace.kept, *_not_to_hide(context)}, context.tokens
    done, _ = context.do(lambda: collapse_to(workspace.rendering, max_tokens, kept))
    workspace.report_excess()
    return CollapseAnswer(
        collapsed=list(done.hidden),
        tokens_before=before,
        tokens_after=context.tokens,
        over=max(0, context.tokens - max_tokens),
    )


def _written(context: OperationContext, page: Page, text: str | None) -> Page:
    if text is None:
        return page
    takes = context.workspace.rendering.count(text)
    return set_text(context.tree, page.index, context.opened.texts.write(page, text), takes)


def _is_open(tree: Tree, index: str) -> bool:
    return tree[index].expanded and tree.lifecycle(index) is Lifecycle.ACTIVE


def _is_current(tree: Tree, index: str) -> bool:
    """Return True for the current interaction's page and the folders above it."""
    current = tree.latest(tree.viewer.session_id)
    if current is None:
        return False
    above = (each.index for each in tree.ancestors(current.index))
    return index in {current.index, *above}


def _not_to_hide(context: OperationContext) -> Iterator[str]:
    """Yield the pages that the actor may not hide, the archive aside (P5)."""
    if context.actor is Actor.AGENT:
        for page in context.tree.pages.values():
            if context.tree.segment_of(page).permission is not Permission.READ_WRITE:
                yield page.index


_MOST_ENTRIES = 50


def get_page(context: OperationContext, request: GetPage) -> PageText:
    """Return a page and its text from an offset on."""
    page = context.page(request.index)
    held = context.opened.texts(page)
    writer = context.workspace.rendering.writer
    said = [f"{writer.speaker(each)}{writer.labels.colon}{each.text}" for each in held.messages]
    text = context.labels.lost if held.lost else "\n\n".join(said) or held.text
    part = _part(context, text, request.offset)
    return PageText(
        page=context.out(page.index),
        text=part.text,
        entries=_entries(context, page) if not request.offset else [],
        next_offset=part.next_offset,
    )


def get_children(context: OperationContext, request: GetChildren) -> PageList:
    """Return the pages directly in a folder that the session sees, from an offset on."""
    page, visible = context.page(request.index), context.workspace.rendering.visible
    is_agent = context.actor is Actor.AGENT
    inside = list(visible.children(page) if is_agent else visible.session_children(page))
    end = request.offset + request.limit
    listed = _listed(context, inside[request.offset : end])
    more = len(inside) > end
    return listed.model_copy(update={"next_offset": end}) if more else listed


def get_parent(context: OperationContext, request: GetParent) -> PageList:
    """Return the folder of a page; an empty list for a root."""
    page = context.page(request.index)
    return _listed(context, list(context.tree.ancestors(page.index))[:1])


def get_ancestors(context: OperationContext, request: GetAncestors) -> PageList:
    """Return the folders above a page, the nearest first."""
    page = context.page(request.index)
    return _listed(context, context.tree.ancestors(page.index))


def find(context: OperationContext, request: FindPages) -> PageList:
    """Return pages that contain words of a query, best first, removed ones included."""
    words, known = query_words(request.query), context.tree.pages
    shown = [page for page in known.values() if context.sees(page)]
    within = context.opened.texts.words_in(shown, words)
    here = [(match_score(page, words, within.get(page.index, ())), page.index) for page in shown]
    viewer = context.tree.viewer if context.actor is Actor.AGENT else UNRESTRICTED_VIEWER
    others = find_pages(context.connection, context.agent_id, viewer, words, known, request.limit)
    scored = sorted([*here, *others], key=lambda hit: (hit[0], _number(hit[1])), reverse=True)
    indexes = [index for held, index in scored[: request.limit] if held]
    context.load(indexes)
    pages = [context.tree[index] for index in indexes]
    return _listed(context, [page for page in pages if context.sees(page)])


def _part(context: OperationContext, text: str, offset: int) -> TextPart:
    """Return a text from an offset on; for an agent at most ``MOST_TOKENS`` of it."""
    if context.actor is Actor.AGENT:
        return text_part(text, offset, context.workspace.rendering.count)
    return TextPart(text_from(text, offset), None)


def _entries(context: OperationContext, page: Page) -> list[str]:
    """Return the entries of a page; for an agent at most ``_MOST_ENTRIES``."""
    return list(page.entries[: _MOST_ENTRIES if context.actor is Actor.AGENT else None])


def _listed(context: OperationContext, pages: Iterable[Page]) -> PageList:
    return PageList(pages=[context.out(each.index) for each in pages])


def _number(index: str) -> int:
    """Return the number of an index; newer pages have higher numbers."""
    return int(index.rpartition("-")[2])


def pin(context: OperationContext, request: Pin) -> PinChange:
    """Pin a text; raises ``NotFoundError`` for no such message, and as ``PinChanges.add``."""
    said = _said(context, request)
    return _pinned(context, lambda: context.pinning.add(request.kind, context.actor, said).number)


def unpin(context: OperationContext, request: Unpin) -> PinChange:
    """Unpin a text; raises as ``PinChanges.take_down``."""

    def take_down() -> int:
        context.pinning.take_down(request.pin, context.actor)
        return request.pin

    return _pinned(context, take_down)


def _said(context: OperationContext, request: Pin) -> str | Message:
    if request.message is None:
        return request.text or ""
    connection, agent_id = context.connection, context.agent_id
    if context.actor is Actor.AGENT:
        session = context.workspace.rendering.session_id
        session_caller(connection, agent_id, session).message_seqs(connection, [request.message])
    said = message_by_id(connection, agent_id, request.message)
    if said is None or not said.text.strip():
        raise NotFoundError("there is no message of this id that says something")
    return said


def _pinned(context: OperationContext, act: Callable[[], int]) -> PinChange:
    before = context.tokens
    number, _ = context.do(act)
    context.workspace.enforce_limits()
    return PinChange(pin=number, **context.effect(before))


def undo(context: OperationContext) -> StepAnswer:
    """Undo the agent's last step; raises ``RefusedError`` if that is not possible (P17)."""
    step = step_to_undo(context.connection, context.agent_id, context.tree.viewer.user_id)
    if step is None:
        raise RefusedError("there is nothing to undo")
    return _apply_step(context, step, undo_step, undone=True)


def redo(context: OperationContext) -> StepAnswer:
    """Redo the step that was undone last; raises ``RefusedError`` (P17)."""
    step = step_to_redo(context.connection, context.agent_id, context.tree.viewer.user_id)
    if step is None:
        raise RefusedError("there is nothing to redo")
    return _apply_step(context, step, redo_step, undone=False)


def _apply_step(
    context: OperationContext,
    step: Step,
    apply: Callable[[Tree, Sequence[Edit]], None],
    *,
    undone: bool,
) -> StepAnswer:
    context.load_visible([each.index for each in step.edits])
    context.load(parent_folders(step.edits))
    _check_here(context, step)
    before, was_shown = context.tokens, shows_current_interaction(context.tree)
    pinned = visible_developer_pins(context.tree)
    context.workspace.do(lambda: apply(context.tree, step.edits))
    _check_here(context, step)
    if was_shown and not shows_current_interaction(context.tree):
        raise RefusedError(
            "that would hide the interaction that you are answering: try after the user's next"
            " message"
        )
    _check_pinned(context, pinned)
    context.workspace.enforce_limits()
    context.undone_steps[step.number] = undone
    return StepAnswer(
        operations=list(step.operations),
        changed=[each.index for each in step.edits],
        **context.effect(before),
    )


def _check_here(context: OperationContext, step: Step) -> None:
    """Refuse a step on pages in the chapter of another session of the same user (P5)."""
    tree = context.tree
    there = [each.index for each in step.edits if tree.is_elsewhere(tree[each.index])]
    if context.actor is Actor.AGENT and there:
        raise RefusedError(
            f"the step is about {there[0]}, in the conversation of another session: it can be"
            " undone and redone there; here, change pages directly"
        )


def _check_pinned(context: OperationContext, before: set[tuple[str, bool]]) -> None:
    """Refuse a step that would hide a page that a developer has pinned since."""
    lost = sorted(index for index, _ in before - visible_developer_pins(context.tree))
    if lost:
        what = lost[0] if context.sees(context.tree[lost[0]]) else "a page"
        raise RefusedError(
            f"that would hide or remove {what}, which was pinned by the developer and stays open"
        )


OperationHandler: TypeAlias = Callable[[OperationContext, Any], Answer]


def _changing(operation: Callable[..., Page], *page_fields: str, **fixed: Any) -> OperationHandler:
    """Return the handler of an operation whose parameters are the fields of its request.

    ``page_fields`` name the fields that hold page indexes; ``detail`` is the text of a note.
    """

    def handle(context: OperationContext, request: Request) -> PageChange:
        values = dict(request) | fixed
        text = values.pop("detail", None)
        named = [values[each] for each in page_fields]
        return change(
            context,
            lambda tree, actor: operation(tree, actor, **values),
            *named,
            *values.get("children", ()),
            text=text,
        )

    return handle


def _opening(operation: Callable[..., Page]) -> OperationHandler:
    """Return the handler of an operation that opens one page."""

    def handle(context: OperationContext, request: Any) -> PageChange:
        index = request.index
        return open_page(context, lambda tree, actor: operation(tree, actor, index=index), index)

    return handle


OPERATION_HANDLERS: Mapping[type[Request], OperationHandler] = {
    shapes.CreateDetailPage: _changing(create_detail_page, "parent"),
    shapes.CreateContentsPage: _changing(create_contents_page, "parent"),
    shapes.MovePage: _changing(move_page, "source", "target"),
    shapes.UpdatePage: _changing(update_page, "index"),
    shapes.ExpandDetails: _opening(expand_details),
    shapes.HideDetails: _changing(hide_details, "index"),
    shapes.RemovePage: _changing(remove_page, "index"),
    shapes.RecallPage: _opening(recall_page),
    shapes.RestorePage: _changing(restore_page, "index", "parent"),
    shapes.PinPage: _changing(pin_page, "index", pinned=True),
    shapes.UnpinPage: _changing(pin_page, "index", pinned=False),
    pages.Pin: pin,
    pages.Unpin: unpin,
    shapes.AutoCollapse: lambda context, request: collapse(context, request.max_tokens),
    shapes.Undo: lambda context, _: undo(context),
    shapes.Redo: lambda context, _: redo(context),
    shapes.GetPage: get_page,
    shapes.GetChildren: get_children,
    shapes.GetParent: get_parent,
    shapes.GetAncestors: get_ancestors,
    shapes.FindPages: find,
    shapes.CreateSegment: _changing(create_segment),
}
