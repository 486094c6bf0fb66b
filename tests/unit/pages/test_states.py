"""Each page has one state (P2, P3)."""

from __future__ import annotations

from datetime import UTC, datetime

from memci.domain.pages.chapters import settle
from memci.domain.pages.operations import create_contents_page, hide_details, remove_page
from memci.domain.pages.page import Lifecycle
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.tree import PageState, Tree, Viewer, page_state
from memci.message import Message, Role

AGENT = Actor.AGENT


def conversation() -> Tree:
    """Return a tree with two interactions, and the oldest one on the Contents Page."""
    tree, now = Tree.new(), datetime(2026, 1, 1, tzinfo=UTC)
    roles = (Role.USER, Role.ASSISTANT)
    messages = [Message(seq, f"m{seq}", roles[1 - seq % 2], f"{seq}", now) for seq in range(1, 6)]
    settle(tree, messages, PageRules(active_pages=2), lambda _: 10, len)
    return tree


def states(tree: Tree) -> dict[str, str]:
    return {index: page_state(tree, index) for index in tree.pages if not index.startswith("sys")}


def test_each_state_has_its_own_word():
    tree = conversation()
    (contents,) = (each for each in (tree.counters.archive,) if each)
    expected = {"usr-0": "expanded", "usr-1": "archived", "usr-2": "expanded", "usr-3": "expanded"}
    assert states(tree) == {**expected, contents: "expanded"}
    hide_details(tree, AGENT, index="usr-2")
    assert states(tree)["usr-2"] == "hidden"
    folder = create_contents_page(
        tree, AGENT, name="Old", description="", parent="usr-0", children=["usr-2"]
    )
    assert states(tree)["usr-2"] == "inside a hidden folder"
    hide_details(tree, AGENT, index="usr-0")
    assert set(states(tree).values()) == {"hidden", "archived", "inside a hidden folder"}
    assert states(tree)["usr-1"] == "archived", "also when the Contents Page is not seen"
    remove_page(tree, AGENT, index=folder.index)
    assert states(tree)["usr-2"] == states(tree)[folder.index] == "removed"


def test_each_state_belongs_to_one_lifecycle():
    tree = conversation()
    create_contents_page(
        tree, AGENT, name="Old", description="", parent="usr-0", children=["usr-2"]
    )
    lifecycles = {
        PageState.EXPANDED: Lifecycle.ACTIVE,
        PageState.HIDDEN: Lifecycle.ACTIVE,
        PageState.INSIDE_HIDDEN: Lifecycle.HOT_ARCHIVED,
        PageState.ELSEWHERE: Lifecycle.ACTIVE,
        PageState.ARCHIVED: Lifecycle.HOT_ARCHIVED,
        PageState.REMOVED: Lifecycle.COLD_ARCHIVED,
    }
    assert all(lifecycles[page_state(tree, index)] is tree.lifecycle(index) for index in tree.pages)
    assert set(lifecycles) == set(PageState)
    tree.viewer = Viewer("another")
    assert states(tree)["usr-3"] == "in another session"
    assert states(tree)["usr-2"] == "inside a hidden folder", "folders are for all sessions"
    assert all(lifecycles[page_state(tree, index)] is tree.lifecycle(index) for index in tree.pages)
