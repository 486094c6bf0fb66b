"""What an agent did last is taken back, and done again (P17)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memci.commands.pages.bench import Bench
from memci.domain.pages.permission import Actor, shown_as_pinned, shows_current
from memci.domain.pages.tree import Tree
from memci.domain.pages.undo import Edit, do_again, folders_of, take_back
from memci.errors import RefusedError
from memci.shapes.pages import StepAnswer
from memci.storage.page_steps import Step, step_to_redo, step_to_undo


def undo(bench: Bench) -> StepAnswer:
    """Take back what the agent did last; ``RefusedError`` when that cannot be done (P17)."""
    step = step_to_undo(bench.connection, bench.agent_id, bench.tree.viewer.user_id)
    if step is None:
        raise RefusedError("there is nothing to undo")
    return _turn(bench, step, take_back, undone=True)


def redo(bench: Bench) -> StepAnswer:
    """Do again what was undone last; ``RefusedError`` when that cannot be done (P17)."""
    step = step_to_redo(bench.connection, bench.agent_id, bench.tree.viewer.user_id)
    if step is None:
        raise RefusedError("there is nothing to redo")
    return _turn(bench, step, do_again, undone=False)


def _turn(
    bench: Bench, step: Step, turn: Callable[[Tree, Sequence[Edit]], None], *, undone: bool
) -> StepAnswer:
    bench.know([each.index for each in step.edits])
    bench.fetch(folders_of(step.edits))
    _check_here(bench, step)
    before, was_shown = bench.tokens, shows_current(bench.tree)
    pinned = shown_as_pinned(bench.tree)
    bench.desk.do(lambda: turn(bench.tree, step.edits))
    _check_here(bench, step)
    if was_shown and not shows_current(bench.tree):
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


def _check_here(bench: Bench, step: Step) -> None:
    """Refuse to turn what has to do with the chapter of another session of the same user (P5)."""
    tree = bench.tree
    there = [each.index for each in step.edits if tree.is_elsewhere(tree[each.index])]
    if bench.actor is Actor.AGENT and there:
        raise RefusedError(
            f"the step is about {there[0]}, in the conversation of another session: it can be"
            " undone and redone there; here, change pages directly"
        )


def _check_pinned(bench: Bench, before: set[tuple[str, bool]]) -> None:
    """Refuse to turn what would put out of sight a page that a developer has pinned since."""
    lost = sorted(index for index, _ in before - shown_as_pinned(bench.tree))
    if lost:
        what = lost[0] if bench.sees(bench.tree[lost[0]]) else "a page"
        raise RefusedError(
            f"that would hide or remove {what}, which was pinned by the developer and stays open"
        )
