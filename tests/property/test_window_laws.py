"""Laws of a window: its tokens, and what a native one says, after any history (P11, P12)."""

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
from tests.support.chapters import PINS, RULES, SAID, count, rendering_of, shown, told
from tests.support.examples import examples

many = settings(max_examples=examples(500))


def spoken_on(page, messages):
    """What a chat API takes of it: no result of a tool without its call."""
    units, _ = units_of(list(shown(page, messages)))
    return [Utterance.of(message) for unit in units for message in unit]


@many
@given(SAID, RULES, st.sampled_from(["s1", "s2", None]), st.sampled_from(Format), PINS)
def test_tokens_are_what_a_recount_says(said, rules, session, form, pins):
    tree, messages = told(said, rules, pins=pins)
    rendering = rendering_of(tree, messages, session, form)
    window = rendering.window()
    whole = sum(each.tokens(count) for each in window.messages) + (3 if window.messages else 0)
    assert window.tokens == whole == rendering.tokens()
    assert sum(window.by_segment.values()) + (3 if window.messages else 0) == whole


@many
@given(SAID, RULES, st.sampled_from(["s1", "s2", None]), st.data())
def test_native_tokens_are_what_a_recount_says_after_each_change(said, rules, session, data):
    tree, messages = told(said, rules)
    kept_up = rendering_of(tree, messages, session, Format.NATIVE)
    for _ in range(3):
        assert kept_up.tokens() == rendering_of(tree, messages, session, Format.NATIVE).tokens()
        tree.changed.clear()
        page = tree[data.draw(st.sampled_from(sorted(tree.pages)))]
        pinned_by = data.draw(st.sampled_from(["agent", None]))
        tree.put(replace(page, expanded=not page.expanded, pinned_by=pinned_by))
        kept_up.refresh(tree.changed)
        window = kept_up.window()
        whole = sum(each.tokens(count) for each in window.messages) + (3 if window.messages else 0)
        assert kept_up.tokens() == window.tokens == whole


@many
@given(SAID, RULES, st.sampled_from(["s1", "s2", None]))
def test_a_native_window_says_what_is_open_and_nothing_of_the_archive(said, rules, session):
    tree, messages = told(said, rules)
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
    said_there = [each for page in open_pages for each in spoken_on(page, messages)]
    assert Counter(spoken) == Counter(
        each for each in said_there if not (each.content or "").startswith("#")
    )


@many
@given(SAID, RULES, st.sampled_from(["s1", "s2", None]), st.data())
def test_a_native_window_ends_with_the_current_interaction(said, rules, session, data):
    """Whatever was put behind it: a model answers what it reads last."""
    tree, messages = told(said, rules)
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
    spoken = spoken_on(current, messages)
    assert list(window.messages[len(window.messages) - len(spoken) :]) == spoken
    assert f"[{current.index}]" in window.messages[-len(spoken) - 1].content
