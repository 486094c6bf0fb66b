"""A page tree is read from the database as it was written."""

from __future__ import annotations

import pytest

from memci.domain.pages.chapters import settle
from memci.domain.pages.operations import create_contents_page, create_detail_page, remove_page
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.storage.pages.texts import shown_messages, unsettled_messages
from memci.storage.pages.tree import load_pages, lock_tree, read_tree, save_tree
from tests.support.network import AgentUnderTest

RULES = PageRules()


@pytest.fixture
def ada(database):
    return AgentUnderTest(database)


def settle_messages(ada, sessions, rules=RULES):
    with ada.database.agent_transaction("ada") as connection:
        lock_tree(connection, "ada")
        stored = read_tree(connection, "ada", sessions)
        messages = unsettled_messages(connection, "ada", stored.tree.counters.settled_seq, 1_000)
        settle(stored.tree, messages, rules, lambda page: 10, len)
        save_tree(connection, "ada", stored.tree, stored.version + 1)
        return stored.tree


def read(ada, *sessions, named=()):
    with ada.database.agent_snapshot("ada") as connection:
        stored = read_tree(connection, "ada", sessions)
        load_pages(connection, "ada", stored.tree, named)
        return stored


def test_a_written_tree_is_read_unchanged(ada):
    ada.say("Hello", role="system", session=None)
    for number in range(5):
        ada.say(f"Question {number}", session="s1")
        ada.say(f"Answer {number}", role="assistant", session="s1")
    ada.say("Alone", session=None)
    made = settle_messages(ada, ["s1", None], PageRules(active_pages=3))
    stored = read(ada, "s1", None)
    assert stored.tree.pages == made.pages
    assert stored.tree.counters == made.counters
    assert stored.tree.segments == made.segments
    assert stored.version == 1
    assert [each.index for each in stored.tree.children("usr-0")] == [
        each.index for each in made.children("usr-0")
    ]


def test_pages_of_other_sessions_are_not_read(ada):
    ada.say("In one", session="s1")
    ada.say("In two", session="s2")
    ada.say("In none", session=None)
    settle_messages(ada, ["s1", "s2", None])
    names = {page.name for page in read(ada, "s2").tree.pages.values() if page.span}
    assert names == {"In two"}
    assert {page.name for page in read(ada, None).tree.pages.values() if page.span} == {"In none"}
    with ada.database.agent_transaction("ada") as connection:
        stored = read_tree(connection, "ada", ["s1"])
        remove_page(stored.tree, Actor.DEVELOPER, index="usr-1")
        save_tree(connection, "ada", stored.tree, 2)
    assert read(ada, "s1").tree.latest("s1").cold
    assert "usr-1" not in read(ada, "s2").tree.pages


def test_a_removed_page_is_read_with_all_pages_removed_with_it(ada):
    ada.say("Something", session="s1")
    settle_messages(ada, ["s1"])
    with ada.database.agent_transaction("ada") as connection:
        tree = read_tree(connection, "ada", []).tree
        top = create_contents_page(tree, Actor.AGENT, name="Top", description="", parent="usr-0")
        inside = create_contents_page(
            tree, Actor.AGENT, name="Inside", description="", parent=top.index
        )
        note = create_detail_page(
            tree, Actor.AGENT, name="Note", description="", parent=inside.index
        )
        remove_page(tree, Actor.AGENT, index=top.index)
        save_tree(connection, "ada", tree, 2)
    assert top.index not in read(ada, "s1").tree.pages
    for named in (top, inside, note):
        tree = read(ada, named=[named.index]).tree
        assert {top.index, inside.index, note.index} <= tree.pages.keys()
        assert tree.pages.keys() & {"usr-1"} == set()


def test_pages_show_their_messages(ada):
    ada.say("Rules", role="system", session="s1")
    ada.say("Question", session="s1")
    ada.say("Elsewhere", session="s2")
    ada.say("Answer", role="assistant", session="s1")
    tree = settle_messages(ada, ["s1", "s2"])
    with ada.database.agent_snapshot("ada") as connection:
        shown = shown_messages(connection, "ada", tree.pages.values())
    assert {index: [each.text for each in messages] for index, messages in shown.items()} == {
        "sys-1": ["Rules"],
        "usr-1": ["Question", "Answer"],
        "usr-2": ["Elsewhere"],
    }
