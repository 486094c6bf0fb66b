"""Laws of windows: their tokens, and the messages of native ones (P11, P12)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.pages.operations import create_contents_page, expand_details, move_page
from memci.domain.pages.page import Lifecycle, session_key
from memci.domain.pages.permission import Actor
from memci.domain.pages.tree import Viewer
from memci.domain.pages.window_text import Format
from memci.domain.session.interaction import units_of
from memci.domain.token_counts import Utterance
from tests.support.chapters import (
    PINS,
    RULES,
    SAID,
    count,
    messages_of_page,
    rendering_of,
    settled_tree,
)
from tests.support.examples import examples

many = settings(max_examples=examples(500))


def chat_messages(page, messages):
    """The messages of a page for a chat API: no tool result without its call."""
    units, _ = units_of(list(messages_of_page(page, messages)))
    return [Utterance.of(message) for unit in units for message in unit]


@many
@given(SAID, RULES, st.sampled_from(["s1", "s2", None]), st.sampled_from(Format), PINS)
def test_tokens_equal_a_recount(said, rules, session, form, pins):
    tree, messages = settled_tree(said, rules, pins=pins)
    rendering = rendering_of(tree, messages, session, form)
    window = rendering.window()
    total = sum(each.tokens(count) for each in window.messages) + (3 if window.messages else 0)
    assert window.tokens == total == rendering.tokens()
    assert sum(window.by_segment.values()) + (3 if window.messages else 0) == total


@many
@given(SAID, RULES, st.sampled_from(["s1", "s2", None]), st.data())
def test_native_tokens_equal_a_recount_after_each_change(said, rules, session, data):
    tree, messages = settled_tree(said, rules)
    updated = rendering_of(tree, messages, session, Format.NATIVE)
    for _ in range(3):
        assert updated.tokens() == rendering_of(tree, messages, session, Format.NATIVE).tokens()
        tree.changed.clear()
        page = tree[data.draw(st.sampled_from(sorted(tree.pages)))]
        pinned_by = data.draw(st.sampled_from(["agent", None]))
        tree.put(replace(page, expanded=not page.expanded, pinned_by=pinned_by))
        updated.refresh(tree.changed)
        window = updated.window()
        total = sum(each.tokens(count) for each in window.messages) + (3 if window.messages else 0)
        assert updated.tokens() == window.tokens == total


@many
@given(SAID, RULES, st.sampled_from(["s1", "s2", None]))
def test_a_native_window_holds_expanded_pages_and_nothing_archived(said, rules, session):
    tree, messages = settled_tree(said, rules)
    window = rendering_of(tree, messages, session, Format.NATIVE).window()
    spoken = [each for each in window.messages if not (each.content or "").startswith("#")]
    open_pages = [
        page
        for page in tree.pages.values()
        if page.expanded
        and page.span is not None
        and page.span.number
        and page.shown_in == session_key(session)
        and tree.lifecycle(page.index) is Lifecycle.ACTIVE
    ]
    expected = [each for page in open_pages for each in chat_messages(page, messages)]
    assert Counter(spoken) == Counter(
        each for each in expected if not (each.content or "").startswith("#")
    )


@many
@given(SAID, RULES, st.sampled_from(["s1", "s2", None]), st.data())
def test_a_native_window_ends_with_the_current_interaction(said, rules, session, data):
    """Also if other pages lie after it: a model answers the last message."""
    tree, messages = settled_tree(said, rules)
    current = tree.latest(session)
    if current is None or tree.lifecycle(current.index) is not Lifecycle.ACTIVE:
        return
    tree.viewer = Viewer(session)
    behind = tree.add_page(replace(current, index="", span=None, place=0))
    moved = data.draw(st.sampled_from([current.index, behind.index]))
    folder = create_contents_page(tree, Actor.AGENT, name="x", description="", parent="usr-0")
    expand_details(tree, Actor.AGENT, index=folder.index)
    move_page(tree, Actor.AGENT, source=moved, target=folder.index)
    window = rendering_of(tree, messages, session, Format.NATIVE).window()
    spoken = chat_messages(current, messages)
    assert list(window.messages[len(window.messages) - len(spoken) :]) == spoken
    assert f"[{current.index}]" in window.messages[-len(spoken) - 1].content
