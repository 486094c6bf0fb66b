"""Laws of the collapse (P13), for any history."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memci.domain.pages.collapse import auto_collapse, collapse_to
from memci.domain.pages.page import Lifecycle
from memci.domain.pages.parameters import PageRules
from memci.message import Role
from tests.support.chapters import RULES, SAID, rendering_of, settled_tree
from tests.support.examples import examples

many = settings(max_examples=examples(500))

LONG_TALK = [Role.USER, Role.ASSISTANT] * 5
NO_ROOM_BELOW = [Role.SYSTEM, *([*[Role.USER] * 3, Role.ASSISTANT] * 2), Role.USER]
# If two pages are hidden at once, the notice that lists them is one token too long.
NOTICE_TOO_LONG = [
    *[(Role.SYSTEM, "s1", text, 0) for text in [*[""] * 7, "`#`", "``````", "#`#`#`#`"]],
    *[(Role.USER, "s1", text, 0) for text in [*[""] * 4, "```````"]],
    *[
        (role, "s1", "", 0)
        for role in (Role.ASSISTANT, *[Role.USER] * 3, Role.ASSISTANT, *[Role.USER] * 3)
    ],
]


@settings(max_examples=examples(5_000))
@given(SAID, RULES, st.integers(20, 1_500), st.data())
def test_a_collapse_keeps_to_the_budget_or_reports_the_excess(said, rules, budget, data):
    tree, messages = settled_tree(said, rules)
    indexes = sorted(tree.pages)
    for index in data.draw(st.sets(st.sampled_from(indexes), max_size=3)):
        if not tree[index].cold:
            tree.put(replace(tree[index], pinned_by="agent"))
    pinned = {page.index for page in tree.pages.values() if page.pinned and page.expanded}
    rendering = rendering_of(tree, messages, "s1")
    done = collapse_to(rendering, budget)
    window = rendering.window()
    assert window == rendering_of(tree, messages, "s1").window()
    assert window.tokens == done.after
    assert done.after <= budget or done.over == done.after - budget
    assert all(tree[each].expanded for each in pinned)
    latest = tree.latest("s1")
    assert latest is None or latest.expanded
    assert all(page.expanded for page in tree.children("sys-0"))
    again = collapse_to(rendering, budget)
    assert again.hidden == ()
    assert rendering.window() == window


@many
@given(SAID, st.integers(100, 800))
@example([(role, "s1", "", 0) for role in NO_ROOM_BELOW], 133)
@example([(role, "s1", "word " * 300, 99) for role in LONG_TALK], 3_300)
@example(NOTICE_TOO_LONG, 354)
def test_auto_collapse_hides_pages_only_in_a_nearly_full_window(said, limit):
    tree, messages = settled_tree(said, PageRules())
    rules = PageRules(window_max_tokens=limit)
    rendering = rendering_of(tree, messages, "s1")
    before = rendering.tokens()
    done = auto_collapse(rendering, rules)
    assert (done is None) == (before <= 0.875 * limit)
    if done is not None:
        assert done.over == max(0, rendering.tokens() - limit)
        low = int(0.75 * limit)
        assert done.hidden == () or rendering.tokens() < before
        further = collapse_to(rendering, low) if rendering.tokens() > low else done
        if further is not done and tokens_with_notice(rendering, done, further) <= low:
            for index in further.hidden:
                assert not saves_tokens(rendering, tree[index]), "it should have been hidden"


def tokens_with_notice(rendering, *done):
    """The tokens of the window if its notice lists the pages of all these collapses."""
    tree, clock = rendering.tree, rendering.tree.counters
    tree.counters = replace(clock, notice=tuple(index for each in done for index in each.hidden))
    tokens = rendering.tokens()
    tree.counters = clock
    return tokens


def saves_tokens(rendering, hidden):
    closed, line = rendering.tokens(), rendering.own_tokens(hidden)
    rendering.put(replace(hidden, expanded=True))
    opened = rendering.tokens()
    rendering.put(hidden)
    return opened - closed >= line


@many
@given(SAID, RULES, st.integers(20, 1_500))
def test_a_collapse_hides_no_more_than_it_must(said, rules, budget):
    tree, messages = settled_tree(said, rules)
    rendering = rendering_of(tree, messages, "s1")
    done = collapse_to(rendering, budget)
    if done.over:
        return
    for index in done.hidden[:-1]:
        if tree.lifecycle(index) is not Lifecycle.ACTIVE:
            continue
        hidden = tree[index]
        rendering.put(replace(hidden, expanded=True))
        tree.counters = replace(
            tree.counters, notice=tuple(each for each in done.hidden if each != index)
        )
        assert rendering.tokens() > budget
        rendering.put(hidden)
        tree.counters = replace(tree.counters, notice=done.hidden)
