"""Laws of interactions' pages and the archive (P6 to P10), for any history."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import dropwhile, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.pages.chapters import settle
from memci.domain.pages.operations import remove_page, restore_page
from memci.domain.pages.page import Lifecycle, session_key
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.tree import PageState, Tree, Viewer, page_state
from memci.message import Role, note_metadata
from tests.support.chapters import (
    PINS,
    RULES,
    SAID,
    count,
    indexes,
    messages_of,
    messages_of_page,
    pin,
    rendering_of,
    settled_tree,
    unpinned,
)
from tests.support.examples import examples

many = settings(max_examples=examples(500))

USERS = {"s1": "alice", "s2": "bob", None: None}


@many
@given(SAID, RULES)
def test_every_message_is_on_one_page_and_all_can_be_reached(said, rules):
    tree, messages = settled_tree(said, rules)
    reached = Counter(
        each.seq for page in tree.pages.values() for each in messages_of_page(page, messages)
    )
    assert reached == Counter(each.seq for each in messages)


@many
@given(SAID, RULES, st.sets(st.integers(1, 40)))
def test_notes_of_an_agent_change_only_the_last_seq_of_pages(said, rules, noted):
    def with_note(message):
        note = message.role is Role.ASSISTANT and message.seq in noted
        return replace(message, metadata=note_metadata()) if note else message

    def settled_tree(messages):
        tree = Tree.new()
        rendering = rendering_of(tree, messages)
        settle(tree, messages, rules, rendering.own_tokens, rendering.count)
        return tree

    messages = [with_note(each) for each in messages_of(said)]
    without_notes = settled_tree([each for each in messages if not each.is_note])
    with_notes = settled_tree(messages)

    def without_last_seq(page):
        return replace(page, span=page.span and replace(page.span, last_seq=page.span.first_seq))

    assert list(map(without_last_seq, with_notes.pages.values())) == list(
        map(without_last_seq, without_notes.pages.values())
    )
    for page in with_notes.pages.values():
        assert page.span is None or page.span.last_seq >= without_notes[page.index].span.last_seq


@many
@given(SAID, RULES)
def test_a_page_holds_user_messages_and_then_their_answers(said, rules):
    tree, messages = settled_tree(said, rules)
    for page in tree.pages.values():
        roles = [each.role for each in messages_of_page(page, messages)]
        answers = list(dropwhile(lambda role: role is Role.USER, roles))
        assert Role.USER not in answers
        if page.span and page.span.number:
            assert len(page.entries) == len(roles)


@many
@given(SAID, RULES)
def test_settling_at_once_equals_settling_one_by_one(said, rules):
    said = [(role, session, text, 99) for role, session, text, _ in said]
    one_by_one, messages = settled_tree(said, rules)
    at_once = Tree.new()
    settle(at_once, messages, rules, rendering_of(at_once, messages).own_tokens, count)
    assert at_once.pages == one_by_one.pages
    assert at_once.counters == one_by_one.counters


@many
@given(SAID, RULES, PINS)
def test_settling_at_once_equals_one_by_one_with_pins_between(said, rules, pins):
    said = [(role, session, text, 99) for role, session, text, _ in said]
    one_by_one, messages = settled_tree(said, rules, pins=pins)
    at_once = Tree.new()
    breaks = sorted({*(each for each in {1, *pins} if each <= len(said)), len(said) + 1})
    for first, behind in pairwise(breaks):
        pin(at_once, pins.get(first))
        rendering = rendering_of(at_once, messages)
        settle(at_once, messages[first - 1 : behind - 1], rules, rendering.own_tokens, count)
    assert at_once.pages == one_by_one.pages
    assert at_once.counters == one_by_one.counters


@pytest.mark.parametrize("role", [Role.SYSTEM, Role.ASSISTANT, Role.TOOL])
def test_an_unpinned_page_moves_no_other_until_an_interaction_begins(role):
    """Other messages move no page (P7), so until then the chapter has one page too many."""
    roles = [Role.USER, Role.ASSISTANT, Role.USER, Role.ASSISTANT, role, Role.USER]
    said = [(each, "s1", "", 99) for each in roles]
    pins = {2: 2, 5: 2}  # page 2 is usr-1, after both roots
    tree, _ = settled_tree(said[:-1], PageRules(active_pages=1), pins=pins)
    assert indexes(unpinned(tree, "s1")) == ["usr-1", "usr-2"]
    tree, _ = settled_tree(said, PageRules(active_pages=1), pins=pins)
    assert indexes(unpinned(tree, "s1")) == ["usr-3"]


@many
@given(SAID, SAID, RULES)
def test_settling_at_once_equals_one_by_one_in_the_chapter_of_another_session(before, after, rules):
    """The page is archived although its interaction goes on, and its line grows."""
    before, after = ([(*each[:3], 99) for each in said] for said in (before, after))
    messages = messages_of([*before, *after])
    trees = []
    for _ in range(2):
        tree, _ = settled_tree(before, rules)
        for session, other in (("s1", "s2"), ("s2", "s1")):
            if latest := tree.latest(session):
                tree.put(replace(latest, chapter=session_key(other)))
        trees.append(tree)
    one_by_one, at_once = trees
    for message in messages[len(before) :]:
        own_tokens = rendering_of(one_by_one, messages).own_tokens
        settle(one_by_one, [message], rules, own_tokens, count)
    settle(
        at_once, messages[len(before) :], rules, rendering_of(at_once, messages).own_tokens, count
    )
    assert at_once.pages == one_by_one.pages
    assert at_once.counters == one_by_one.counters


@many
@given(SAID, RULES, PINS)
def test_pinned_pages_stay_and_do_not_count_as_active(said, rules, pins):
    tree, messages = Tree.new(), messages_of(said)
    for message in messages:
        pin(tree, pins.get(message.seq))
        before = dict(tree.pages)
        rendering = rendering_of(tree, messages)
        settle(tree, [message], rules, rendering.own_tokens, rendering.count)
        for page in (each for each in before.values() if each.pinned):
            now = tree[page.index]
            assert (now.parent, now.place, now.cold) == (page.parent, page.place, page.cold)
            assert not tree.is_archived(now)
        if any(tree.is_archived(tree[each]) and before[each].parent == "usr-0" for each in before):
            assert len(unpinned(tree, message.session_id)) == rules.active_pages


@many
@given(SAID, RULES, st.sampled_from([USERS, None]))
def test_archived_pages_leave_the_contents_page_when_their_time_is_over(said, rules, users):
    tree, messages = settled_tree(said, rules, users)
    now, rendering = tree.counters.interactions, rendering_of(tree, messages)
    lines = tree.children(tree.counters.archive) if tree.counters.archive else []
    for page in lines:
        assert tree.lifecycle(page.index) is Lifecycle.HOT_ARCHIVED
        assert page_state(tree, page.index) is PageState.ARCHIVED
        if page.recalls.count:
            assert now - page.recalls.last_at < rules.archive_unrecalled
        else:
            assert now - page.recalls.archived_at < rules.archive_unused
    for user in {page.user_id for page in lines}:
        seen = [page for page in lines if Viewer(None, user, is_new=user is None).sees(page)]
        listed = [tree[tree.counters.archive], *seen]
        assert sum(map(rendering.own_tokens, listed)) <= rules.contents_max_tokens


@many
@given(SAID, RULES)
def test_a_removed_and_restored_page_holds_the_same_messages(said, rules):
    """P10: no other page moves, and nothing is copied."""
    tree, messages = settled_tree(said, rules)
    for page in [each for each in tree.children("usr-0") if each.span]:
        before = [list(messages_of_page(each, messages)) for each in tree.children("usr-0")]
        remove_page(tree, Actor.DEVELOPER, index=page.index)
        restore_page(tree, Actor.AGENT, index=page.index, parent="usr-0")
        after = {
            each.index: list(messages_of_page(each, messages)) for each in tree.children("usr-0")
        }
        assert after[page.index] == list(messages_of_page(page, messages))
        assert sorted(map(str, after.values())) == sorted(map(str, before))
