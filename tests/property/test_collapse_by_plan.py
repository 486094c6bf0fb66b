"""Pages of finished plan steps are hidden first, those of the active one last (P13, R7)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.pages.collapse import auto_collapse, collapse_to
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.tree import Viewer
from memci.domain.session.plan import Item, StepState, is_finished, made_of, with_states
from memci.message import Role
from tests.support.chapters import rendering_of, settled_tree
from tests.support.examples import examples

TALK = [(role, "s1", "a word " * 40, 99) for role in [Role.USER, Role.ASSISTANT] * 6]


def expanded_window(done_at: int, step: int):
    """A window of six interactions; the second message made the plan."""
    tree, messages = settled_tree(TALK, PageRules())
    tree.viewer = Viewer("s1")
    for page in list(tree.chapter("s1")):
        tree.put(type(page)(**{**_fields(page), "expanded": True}))
    rendering = rendering_of(tree, messages, "s1")
    plan = made_of([Item("Read"), Item("Write"), Item("Ship")], 2, "s1", None)
    rendering.plan = with_states(plan, [(step, StepState.DONE)], done_at) if step else plan
    return tree, rendering


def _fields(page):
    return {name: getattr(page, name) for name in type(page).__dataclass_fields__}


def test_pages_of_finished_steps_are_hidden_first():
    tree, rendering = expanded_window(8, 1)
    done = collapse_to(rendering, rendering.tokens() - 150)
    # Interactions 2 to 4: the first made the plan, the fifth belongs to the next step.
    assert set(done.hidden) & {"usr-2", "usr-3", "usr-4"}
    assert "usr-1" not in done.hidden
    assert tree["usr-1"].expanded


def test_without_a_plan_the_oldest_page_is_hidden_first():
    _, rendering = expanded_window(8, 1)
    rendering.plan = None
    assert "usr-1" in collapse_to(rendering, rendering.tokens() - 150).hidden


def test_the_plan_of_another_session_changes_nothing():
    _, rendering = expanded_window(8, 1)
    plan = made_of([Item("Read"), Item("Write")], 2, "s2", None)
    rendering.plan = with_states(plan, [(1, StepState.DONE)], 8)
    assert "usr-1" in collapse_to(rendering, rendering.tokens() - 150).hidden


def test_pages_of_the_active_step_stay_if_the_limit_allows_it():
    _, rendering = expanded_window(0, 0)  # the first step has all interactions from the second on
    tokens = rendering.tokens()
    rules = PageRules(window_max_tokens=tokens + 10, collapse_above=0.5, collapse_to=0.3)
    done = auto_collapse(rendering, rules)
    assert done is not None
    assert set(done.hidden) <= {"usr-1"}
    tight = auto_collapse(rendering, PageRules(window_max_tokens=tokens // 2))
    assert tight is not None
    assert tight.over == 0


@settings(max_examples=examples(100))
@given(st.integers(3, 12), st.integers(1, 3), st.integers(1, 600))
def test_pages_of_finished_steps_are_hidden_before_others(done_at, step, saved):
    tree, rendering = expanded_window(done_at, step)
    before = {each.index for each in tree.chapter("s1") if each.expanded}
    finished = {
        index
        for index in before
        if (span := tree[index].span) and is_finished(rendering.plan, span.first_seq, span.last_seq)
    }
    latest = tree.latest("s1")
    assert latest is not None
    collapse_to(rendering, max(1, rendering.tokens() - saved))
    hidden = {index for index in before if not tree[index].expanded}
    if hidden - finished:
        left = finished - hidden - {latest.index}
        # Pages left would save less than their lines take, or were expanded again.
        assert not left or len(hidden - finished) <= 1


@pytest.mark.parametrize("seq", [1, 2, 13])
def test_messages_outside_a_finished_step_are_not_finished(seq):
    _, rendering = expanded_window(12, 1)
    assert not is_finished(rendering.plan, seq, seq)
