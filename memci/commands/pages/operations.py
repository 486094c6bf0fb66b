"""The handler of each page tool: changes, reads, pins, undo and redo (P4, P13, P17, R7)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

from memci.commands.pages.workspace import OperationContext
from memci.commands.tools.caller import session_caller
from memci.domain.pages import operations
from memci.domain.pages.collapse import collapse_to, opening_cost
from memci.domain.pages.page import Lifecycle, Page, Permission
from memci.domain.pages.permission import Actor, shows_current_interaction, visible_developer_pins
from memci.domain.pages.text_search import match_score, query_words, text_from, text_part
from memci.domain.pages.tree import UNRESTRICTED_VIEWER
from memci.domain.pages.undo import parent_folders, redo_step, undo_step
from memci.errors import ConflictError, NotFoundError, RefusedError
from memci.message import Message
from memci.schemas import pages
from memci.schemas.base import Answer, Request
from memci.schemas.tools import pages as shapes
from memci.storage.network.edits import withheld_places
from memci.storage.pages.page_queries import find_pages
from memci.storage.pages.undo_steps import Step, step_to_redo, step_to_undo
from memci.storage.pins import message_by_id

Operation: TypeAlias = Callable[..., Page]
OperationHandler: TypeAlias = Callable[[OperationContext, Any], Answer]


def _changing(operation: Operation, *page_fields: str, **fixed: Any) -> OperationHandler:
    """Return the handler of an operation whose parameters are the fields of its request.

    ``page_fields`` name the fields that hold page indexes; ``detail`` is the text of a note.
    """

    def handle(context: OperationContext, request: Request) -> pages.PageChange:
        return _change(context, operation, page_fields, dict(request) | fixed)

    return handle


def _change(
    context: OperationContext,
    operation: Operation,
    page_fields: Sequence[str],
    values: dict[str, Any],
) -> pages.PageChange:
    """Run an operation, then enforce the limits of the window (P13)."""
    context.load_visible([*(values[each] for each in page_fields), *values.get("children", ())])
    before, text = context.rendering.tokens(), values.pop("detail", None)

    def run() -> Page:
        page = operation(context.tree, context.actor, **values)
        if text is None:
            return page
        version = context.workspace.texts.notes.write(page, text)
        return operations.set_text(context.tree, page.index, version, context.rendering.count(text))

    page, edits = context.do(run)
    context.workspace.enforce_limits()
    return pages.PageChange(
        page=context.out(page),
        changed=[each.index for each in edits],
        **dict(context.effect(before)),
        new_agent=context.is_new_agent,
        new_session=context.tree.viewer.names_new_session,
    )


def _opening(operation: Operation) -> OperationHandler:
    """Return the handler of an operation that opens one page, and refuses one that does not fit.

    The context must be discarded after an error.
    """

    def handle(context: OperationContext, request: Any) -> pages.PageChange:
        index: str = request.index
        context.load_visible([index])
        workspace, tree = context.workspace, context.tree
        over_before = workspace.over
        answer = _change(context, operation, ("index",), {"index": index})
        if answer.changed and index not in answer.changed:  # it was open, in a hidden folder
            answer = answer.model_copy(update={"changed": [*answer.changed, index]})
        is_open = tree[index].expanded and tree.lifecycle(index) is Lifecycle.ACTIVE
        current = tree.latest(tree.viewer.session_id)
        is_current = current is not None and (
            index == current.index or tree[index] in tree.ancestors(current.index)
        )
        if is_current or (is_open and answer.over <= over_before):
            return answer
        cost = opening_cost(workspace.rendering, workspace.rules, index)
        raise RefusedError(
            f"{index} does not fit: it takes {cost.takes:,} tokens, and at most {cost.free:,} of"
            f" {cost.most:,} can be free for it; "
            + ("get_children lists" if tree[index].is_folder else "get_page reads")
            + " what it holds without opening it"
        )

    return handle


def collapse(context: OperationContext, request: shapes.AutoCollapse) -> pages.CollapseAnswer:
    """Hide pages until the window takes at most ``max_tokens``, if possible."""
    tree, rendering, most = context.tree, context.rendering, request.max_tokens
    protected: set[str] = set()
    if context.actor is Actor.AGENT:  # it may not hide these, the archive aside (P5)
        protected = {
            page.index
            for page in tree.pages.values()
            if tree.segment_of(page).permission is not Permission.READ_WRITE
        }
    before = rendering.tokens()
    collapsed, _ = context.do(lambda: collapse_to(rendering, most, protected))
    context.workspace.report_excess()
    after = rendering.tokens()
    return pages.CollapseAnswer(
        collapsed=list(collapsed.hidden),
        tokens_before=before,
        tokens_after=after,
        over=max(0, after - most),
    )


_MOST_ENTRIES = 50


def get_page(context: OperationContext, request: shapes.GetPage) -> pages.PageText:
    """Return a page and its text from an offset on; for an agent at most a part of a long text."""
    page, offset, is_agent = context.page(request.index), request.offset, _is_agent(context)
    content, writer = context.workspace.texts(page), context.rendering.writer
    lines = [f"{writer.speaker(each)}{writer.labels.colon}{each.text}" for each in content.messages]
    text = writer.labels.lost if content.lost else "\n\n".join(lines) or content.text
    part, next_offset = (
        text_part(text, offset, context.rendering.count)
        if is_agent
        else (text_from(text, offset), None)
    )
    entries = page.entries[: _MOST_ENTRIES if is_agent else None]
    return pages.PageText(
        page=context.out(page),
        text=part,
        entries=[] if offset else list(entries),
        next_offset=next_offset,
    )


def get_children(context: OperationContext, request: shapes.GetChildren) -> pages.PageList:
    """Return the pages directly in a folder that the session sees, from an offset on."""
    page, visible = context.page(request.index), context.rendering.visible
    inside = list((visible.children if _is_agent(context) else visible.session_children)(page))
    end = request.offset + request.limit
    listed = _listed(context, inside[request.offset : end])
    return listed.model_copy(update={"next_offset": end}) if len(inside) > end else listed


def get_folders(
    context: OperationContext, request: shapes.GetParent | shapes.GetAncestors
) -> pages.PageList:
    """Return the folder of a page (a root has none), or all folders above it, nearest first."""
    folders = context.tree.ancestors(context.page(request.index).index)
    most = 1 if isinstance(request, shapes.GetParent) else None
    return _listed(context, islice(folders, most))


def find(context: OperationContext, request: shapes.FindPages) -> pages.PageList:
    """Return pages that contain words of a query, best first, removed ones included."""
    words, known = query_words(request.query), context.tree.pages
    loaded = [page for page in known.values() if context.sees(page)]
    in_texts = context.workspace.texts.notes.words_in(context.connection, loaded, words)
    hits = [(match_score(page, words, in_texts.get(page.index, ())), page.index) for page in loaded]
    viewer = context.tree.viewer if _is_agent(context) else UNRESTRICTED_VIEWER
    hits += find_pages(context.connection, context.agent_id, viewer, words, known, request.limit)
    # Newer pages have higher numbers.
    hits.sort(key=lambda hit: (hit[0], int(hit[1].rpartition("-")[2])), reverse=True)
    indexes = [index for score, index in hits[: request.limit] if score]
    context.load(indexes)
    found = [context.tree[index] for index in indexes]
    return _listed(context, [page for page in found if context.sees(page)])


def _is_agent(context: OperationContext) -> bool:
    return context.actor is Actor.AGENT


def _listed(context: OperationContext, found: Iterable[Page]) -> pages.PageList:
    return pages.PageList(pages=[context.out(each) for each in found])


def pin(context: OperationContext, request: pages.Pin) -> pages.PinChange:
    """Pin a text; raises ``NotFoundError`` for no such message, and as ``PinChanges.add``."""
    content = request.text or "" if request.message is None else _message(context, request.message)
    return _pinned(context, lambda: context.pins.add(request.kind, context.actor, content).number)


def unpin(context: OperationContext, request: pages.Unpin) -> pages.PinChange:
    """Unpin a text; raises as ``PinChanges.take_down``."""
    return _pinned(context, lambda: context.pins.take_down(request.pin, context.actor))


def _message(context: OperationContext, message_id: str) -> Message:
    connection, agent_id = context.connection, context.agent_id
    if _is_agent(context):
        caller = session_caller(connection, agent_id, context.rendering.session_id)
        caller.message_seqs(connection, [message_id])
    message = message_by_id(connection, agent_id, message_id)
    if message is None or not message.text.strip():
        raise NotFoundError("there is no message of this id that says something")
    if withheld_places(connection, agent_id, [message.seq]):
        raise ConflictError(
            "a memory of this message was corrected or deleted, so reads do not show all of it:"
            " pin a text instead"
        )
    return message


def _pinned(context: OperationContext, act: Callable[[], int]) -> pages.PinChange:
    before = context.rendering.tokens()
    number, _ = context.do(act)
    context.workspace.enforce_limits()
    return pages.PinChange(pin=number, **dict(context.effect(before)))


def undo_or_redo(context: OperationContext, request: shapes.Undo | shapes.Redo) -> pages.StepAnswer:
    """Undo or redo the agent's last step; raises ``RefusedError`` if it is not possible (P17)."""
    undone, user = isinstance(request, shapes.Undo), context.tree.viewer.user_id
    find_step, apply = (step_to_undo, undo_step) if undone else (step_to_redo, redo_step)
    step = find_step(context.connection, context.agent_id, user)
    if step is None:
        raise RefusedError("there is nothing to undo" if undone else "there is nothing to redo")
    context.load_visible([each.index for each in step.edits])
    context.load(parent_folders(step.edits))
    _check_here(context, step)
    before, was_shown = context.rendering.tokens(), shows_current_interaction(context.tree)
    pinned = visible_developer_pins(context.tree)
    context.workspace.do(lambda: apply(context.tree, step.edits))
    _check_here(context, step)
    if was_shown and not shows_current_interaction(context.tree):
        raise RefusedError(
            "that would hide the interaction that you are answering: try after the user's next"
            " message"
        )
    lost = sorted(index for index, _ in pinned - visible_developer_pins(context.tree))
    if lost:
        what = lost[0] if context.sees(context.tree[lost[0]]) else "a page"
        raise RefusedError(
            f"that would hide or remove {what}, which was pinned by the developer and stays open"
        )
    context.workspace.enforce_limits()
    context.undone_steps[step.number] = undone
    return pages.StepAnswer(
        operations=list(step.operations),
        changed=[each.index for each in step.edits],
        **dict(context.effect(before)),
    )


def _check_here(context: OperationContext, step: Step) -> None:
    """Refuse a step on pages in the chapter of another session of the same user (P5)."""
    tree = context.tree
    elsewhere = [each.index for each in step.edits if tree.is_elsewhere(tree[each.index])]
    if _is_agent(context) and elsewhere:
        raise RefusedError(
            f"the step is about {elsewhere[0]}, in the conversation of another session: it can be"
            " undone and redone there; here, change pages directly"
        )


OPERATION_HANDLERS: Mapping[type[Request], OperationHandler] = {
    shapes.CreateDetailPage: _changing(operations.create_detail_page, "parent"),
    shapes.CreateContentsPage: _changing(operations.create_contents_page, "parent"),
    shapes.MovePage: _changing(operations.move_page, "source", "target"),
    shapes.UpdatePage: _changing(operations.update_page, "index"),
    shapes.ExpandDetails: _opening(operations.expand_details),
    shapes.HideDetails: _changing(operations.hide_details, "index"),
    shapes.RemovePage: _changing(operations.remove_page, "index"),
    shapes.RecallPage: _opening(operations.recall_page),
    shapes.RestorePage: _changing(operations.restore_page, "index", "parent"),
    shapes.PinPage: _changing(operations.pin_page, "index", pinned=True),
    shapes.UnpinPage: _changing(operations.pin_page, "index", pinned=False),
    pages.Pin: pin,
    pages.Unpin: unpin,
    shapes.AutoCollapse: collapse,
    shapes.Undo: undo_or_redo,
    shapes.Redo: undo_or_redo,
    shapes.GetPage: get_page,
    shapes.GetChildren: get_children,
    shapes.GetParent: get_folders,
    shapes.GetAncestors: get_folders,
    shapes.FindPages: find,
    shapes.CreateSegment: _changing(operations.create_segment),
}
