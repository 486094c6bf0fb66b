"""Contexts show the Contents Page and the page tree (R13, R14); receipts name them (R16)."""

from __future__ import annotations

from typing import Any

import pytest

from memci.domain.pages.page import LONGEST_NAME
from memci.reading.context import ContextReader
from memci.reading.lists.listings import Listings
from memci.schemas.reads import ContextAnswer, ContextRequest
from tests.support.insert_sources import page, pin, plan, plant, summary
from tests.support.stored import Reader, Stored


def assemble(
    reader: Reader, query: str = "When?", budget: int = 4_000, **fields: Any
) -> ContextAnswer:
    request = ContextRequest(query=query, budget_tokens=budget, **fields)
    return ContextReader(*reader.parts).run("alice", request)


def text_of(answer: ContextAnswer, section: str) -> str:
    return "".join(each.text for each in answer.items if each.section == section)


@pytest.fixture
def archived(alice: Stored) -> Stored:
    for turn in range(4):
        alice.say(f"Ferry question {turn}", session="s1")
        alice.say(f"Ferry answer {turn}", "assistant", session="s1")
    folder = {"kind": "contents"}
    page(alice, "usr-0", None, "", **folder)
    page(alice, "usr-9", "usr-0", "", managed=True, **folder)
    for at in (1, 2):
        page(alice, f"usr-{at}", "usr-9", f"Ferry talk {at}", first=2 * at - 1, last=2 * at,
             session="s1", entries=[f"user: about ferry {at}"])  # fmt: skip
    page(alice, "usr-3", "usr-0", "Of the chapter", first=5, last=6, session="s1")
    return alice


def test_a_tree_without_operations_and_notes_is_not_shown(reader: Reader, archived: Stored):
    plant(archived, "usr-9")
    answer = assemble(reader)
    assert {"contents", "tree"}.isdisjoint(each.section for each in answer.items)


def test_contents_page_hits_and_tree_are_in_this_order(reader: Reader, archived: Stored):
    plant(archived, "usr-9")
    page(archived, "usr-4", "usr-0", "Rules", description="how to book", text_version=7)
    archived.execute(
        "INSERT INTO page_text (agent_id, page_id, version, text) VALUES (%s, 'usr-4', 7, %s)",
        "Ask for the window seat.",
    )
    page(archived, "usr-5", "usr-0", "Another user's", user="u7")
    answer = assemble(reader, "Which ferry?", user_id="u1", session_id="s9")
    sections = list(dict.fromkeys(each.section for each in answer.items))
    assert sections == ["contents", "tree", "query"]
    assert text_of(answer, "contents") == (
        "# [usr-9] Contents Page (folder, expanded)\n\n"
        "Archived interactions; recall_page brings one back by its index.\n\n"
        "## [usr-1] Ferry talk 1 (never recalled)\n\n- user: about ferry 1\n\n"
        "## [usr-2] Ferry talk 2 (never recalled)\n\n- user: about ferry 2\n\n"
    )
    assert text_of(answer, "tree") == (
        "# [usr-0] Conversation (folder, expanded)\n\n"
        "## [usr-4] Rules (page, expanded)\n\nhow to book\n\n```\nAsk for the window seat.\n```\n\n"
    )
    both = assemble(reader, "Which ferry?", session_id="s1")
    order = list(dict.fromkeys(each.section for each in both.items))
    assert order[0] == "contents"
    assert order.index("tree") < order.index("recent")
    without = assemble(reader, session_id="s1", sources=["chat"])
    assert {"contents", "tree"}.isdisjoint(each.section for each in without.items)
    small = assemble(reader, session_id="s1", budget=900)
    assert {"contents", "tree"}.isdisjoint(each.section for each in small.items)


def test_a_long_note_is_shown_hidden_and_later_notes_stay(reader: Reader, archived: Stored):
    plant(archived, "usr-9")
    page(archived, "usr-4", "usr-0", "Rules", description="how to book", text_version=7)
    page(archived, "usr-5", "usr-0", "Quay", description="where ferries moor")
    archived.execute(
        "INSERT INTO page_text (agent_id, page_id, version, text) VALUES (%s, 'usr-4', 7, %s)",
        "Ask for the window seat. " * 200,
    )
    tree = text_of(assemble(reader, budget=2_000), "tree")
    closed = "## [usr-4] Rules (page, hidden, can be expanded)\n\nhow to book\n\n"
    assert closed + "## [usr-5] Quay" in tree
    assert "window seat" not in tree


def test_the_contents_page_is_the_same_for_all_questions(reader: Reader, archived: Stored):
    plant(archived, "usr-9", steps=1)
    for at in range(10, 50):
        page(archived, f"usr-{at}", "usr-9", "Long talk " * (LONGEST_NAME // 10), first=1, last=2,
             session="s1")  # fmt: skip
    short = text_of(assemble(reader, "Why?", 2_000, session_id="s1"), "contents")
    long = text_of(assemble(reader, "Why? " + "Because of the sea. " * 90, 2_000, session_id="s1"),
                "contents")  # fmt: skip
    assert short == long
    # Only the newest lines have room.
    assert "[usr-49]" in short
    assert "[usr-1]" not in short


def test_a_receipt_names_the_source_of_each_item(reader: Reader, archived: Stored):
    plant(archived, "usr-9", steps=1)
    pin(archived, 6, "Never fly")
    plan(archived, 3, ("Book", "active"))
    summary(archived, "They spoke of ferries.", 1, 4)
    answer = assemble(reader, "ferry", session_id="s1", recent=1)
    body = Listings(reader.database).receipt("alice", answer.receipt_id).body
    items: Any = body["items"]
    first_of = {each["section"]: each for each in reversed(items)}
    assert first_of["pins"]["pin"] == 6
    assert first_of["plan"]["plan_seq"] == 3
    source = {name: first_of["summary"][name] for name in ("session_id", "from_seq", "through_seq")}
    assert source == {"session_id": "s1", "from_seq": 1, "through_seq": 4}
    pages = [each["page"] for each in items if each["section"] == "contents"]
    assert pages == ["usr-1", "usr-2"]
    hidden = assemble(reader, "ferry", session_id="s1", recent=1, sources=["chat"])
    assert "They spoke of ferries." not in text_of(hidden, "summary")
    assert text_of(hidden, "pins")


def note(stored: Stored, index: str, name: str, text: str, **fields: Any) -> None:
    page(stored, index, "usr-0", name, text_version=7, **fields)
    stored.execute(
        "INSERT INTO page_text (agent_id, page_id, version, text) VALUES (%s, %s, 7, %s)",
        index,
        text,
    )


def test_a_note_that_answers_is_given_even_if_it_has_no_room_in_the_tree(
    reader: Reader, archived: Stored
):
    plant(archived, "usr-9")
    note(archived, "usr-4", "Rollback steps", "Restore snapshot 42. " + "Wait a while. " * 200)
    note(archived, "usr-5", "回滚步骤", "恢复第42号快照。" + "等一会儿。" * 300)
    note(archived, "usr-6", "Rollback of Bob", "Restore snapshot 7.", user="bob")
    answer = assemble(reader, "How do I rollback a snapshot?", 1_000, user_id="ann")
    assert "Restore snapshot 42." in text_of(answer, "page")
    assert "snapshot 7" not in "".join(each.text for each in answer.items)
    body = Listings(reader.database).receipt("alice", answer.receipt_id).body
    items: Any = body["items"]
    assert [each["page"] for each in items if each["section"] == "page"] == ["usr-4"]
    assert "恢复第42号快照。" in text_of(assemble(reader, "怎么回滚到快照？", 1_000), "page")
    assert not text_of(assemble(reader, "rollback a snapshot?", 1_000, sources=["chat"]), "page")


def test_a_note_is_in_a_context_once(reader: Reader, archived: Stored):
    plant(archived, "usr-9")
    note(archived, "usr-4", "Rollback steps", "Restore snapshot 42.")
    answer = assemble(reader, "How do I rollback a snapshot?", 2_000)
    assert "Restore snapshot 42." in text_of(answer, "tree")
    assert not text_of(answer, "page")
    # Below 1,000 tokens no tree is shown.
    assert "Restore snapshot 42." in text_of(assemble(reader, "Rollback a snapshot?", 600), "page")
