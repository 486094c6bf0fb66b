"""Each user's windows of a shared agent equal those of a tree without other users (R5)."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memci.domain.pages.chapters import settle
from memci.domain.pages.operations import (
    create_contents_page,
    create_detail_page,
    expand_details,
    hide_details,
    move_page,
    remove_page,
    restore_page,
)
from memci.domain.pages.page import Page
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree, Viewer
from memci.domain.pages.window_labels import labels_of
from memci.domain.pages.window_text import BlockWriter, Format, PageContent
from memci.errors import MemciError
from memci.language.detection import Language
from memci.message import Message, Role
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from tests.support.examples import examples

RULES = PageRules(active_pages=2, archive_unused=4)
ROLES = (Role.USER, Role.USER, Role.ASSISTANT, Role.TOOL, Role.SYSTEM)
USERS = ("ann", "bob", None)
SAID = st.lists(
    st.tuples(st.sampled_from(ROLES), st.sampled_from("st"), st.sampled_from(USERS)), max_size=16
)
OPERATIONS = ("note", "folder", "file", "move", "remove", "restore", "expand", "hide")
CALLS = st.tuples(
    st.sampled_from(OPERATIONS),
    st.sampled_from(USERS),
    st.integers(0, 30),
    st.integers(0, 30),
)
CALL_LISTS = st.lists(CALLS, max_size=8)
many = settings(max_examples=examples(150))
count = OfflineTokenCounter().count


def messages_of(said: list[tuple[Role, str, str | None]]) -> list[Message]:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        Message(seq, f"m{seq}", role, f"{user} {seq}", now, session_id=session, user_id=user)
        for seq, (role, session, user) in enumerate(said, 1)
    ]


def rendering_of(tree: Tree, session: str | None = None, form: Format = Format.MARKDOWN):
    def reads(page: Page) -> PageContent:
        return PageContent(text=f"What {page.index} says")

    return Rendering(tree, BlockWriter(form, labels_of(Language.ENGLISH)), count, reads, session)


def tree_of(said, calls) -> Tree:
    tree = Tree.new()
    settle(tree, messages_of(said), RULES, rendering_of(tree).own_tokens, count)
    for each in calls:
        perform(tree, *each)
    return tree


def perform(tree: Tree, operation: str, user: str | None, one: int, other: int) -> None:
    """Do an operation in a user's session, or as a developer; it may be refused."""
    tree.viewer = Viewer("s", user)
    every = [index for index, page in tree.pages.items() if tree.sees(page)]
    page, folder = (every[which % len(every)] for which in (one, other))
    actor = Actor.AGENT if user else Actor.DEVELOPER
    made = {"name": f"Of {user}", "description": "", "parent": folder}
    with suppress(MemciError):
        match operation:
            case "note":
                create_detail_page(tree, actor, **made)
            case "folder":
                create_contents_page(tree, actor, **made)
            case "file":
                create_contents_page(tree, actor, **made, children=[page])
            case "move":
                move_page(tree, actor, source=page, target=folder)
            case "remove":
                remove_page(tree, actor, index=page)
            case "restore":
                restore_page(tree, actor, index=page, parent=folder)
            case "expand":
                expand_details(tree, actor, index=page)
            case "hide":
                hide_details(tree, actor, index=page)


@many
@given(SAID)
def test_a_page_belongs_to_one_user(said):
    tree = Tree.new()
    settle(tree, messages_of(said), RULES, rendering_of(tree).own_tokens, count)
    for message in messages_of(said):
        (page,) = (
            each
            for each in tree.pages.values()
            if each.span is not None
            and each.span.session_id == message.session_id
            and each.span.first_seq <= message.seq <= each.span.last_seq
            and (each.span.number == 0) == (message.role is Role.SYSTEM)
        )
        assert message.user_id in {None, page.user_id}


@many
@given(SAID)
def test_settling_at_once_equals_settling_one_by_one(said):
    at_once, one_by_one = Tree.new(), Tree.new()
    settle(at_once, messages_of(said), RULES, rendering_of(at_once).own_tokens, count)
    for message in messages_of(said):
        settle(one_by_one, [message], RULES, rendering_of(one_by_one).own_tokens, count)
    assert at_once.pages == one_by_one.pages


@pytest.mark.parametrize("form", list(Format))
@many
@given(SAID, CALL_LISTS, st.sampled_from("st"), st.sampled_from(["ann", "bob"]))
def test_a_window_is_as_if_there_were_no_other_users(form, said, calls, session, user):
    tree = tree_of(said, calls)
    tree.viewer = Viewer(session, user)
    current = tree.latest(session)
    assume(current is None or tree.viewer.sees(current))  # a window belongs to the last speaker
    mine = {
        index: page for index, page in tree.pages.items() if page.cold or tree.sees(page)
    }  # fmt: skip
    alone = Tree.from_stored(tree.segments, mine, tree.counters)
    assert rendering_of(tree, session, form).window() == rendering_of(alone, session, form).window()


def seen_by(tree: Tree, user: str) -> tuple[set[str], set[str]]:
    """The pages that a user sees, without and with those that were removed."""
    tree.viewer = Viewer("s", user)
    seen = [page for page in tree.pages.values() if tree.sees(page)]
    return {each.index for each in seen if not each.cold}, {each.index for each in seen}


@many
@given(SAID, CALL_LISTS, st.lists(CALLS, min_size=1, max_size=8))
def test_operations_for_one_user_remove_no_page_of_another(said, calls, then):
    tree = tree_of(said, calls)
    for operation, _, one, other in then:
        before = seen_by(tree, "bob")
        perform(tree, operation, "ann", one, other)
        living, known = seen_by(tree, "bob")
        assert before[0] <= living
        assert before[1] <= known
