"""M25 of pages: how pages of interactions change when their messages are erased."""

from __future__ import annotations

import pytest

from memci.commands import erase
from memci.commands.erase import ErasureSelection
from memci.errors import NotFoundError, RefusedError
from memci.message import note_metadata
from tests.support.erasing import MARK, Eraser
from tests.support.network import AgentUnderTest
from tests.support.page_folders import Folders, page


def test_a_page_without_messages_is_erased(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    pages.do("hide_details", index="usr-2")
    assert eraser.preview("m3", "m4").pages == 1
    receipt = eraser.erase("m3", "m4")
    assert receipt.body["pages"] == 1
    assert receipt.body["rows"]["page"] == 1
    assert page(ada, "usr-2") is None
    assert "usr-2" not in pages.window()
    with pytest.raises(NotFoundError):
        pages.do("expand_details", index="usr-2")
    ada.say("Something new?")
    assert "[usr-4] Something new?" in pages.window(), "no index comes back"


def test_a_page_is_renamed_after_the_message_that_it_keeps(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    pages.do("update_page", index="usr-1", name="About zero", description="Question 0, answered")
    assert page(ada, "usr-1").named
    receipt = eraser.erase("m1")
    row = page(ada, "usr-1")
    assert (row.name, row.description, row.named) == ("Answer 0.", "", False)
    assert (row.entries, row.first_seq, row.last_seq) == (["assistant: Answer 0."], 2, 2)
    assert receipt.body["pages"] == 1
    assert "page" not in receipt.body["rows"]
    assert page(ada, "usr-2").name == "Question 1?"


def test_a_page_that_keeps_only_a_note_of_the_agent_is_erased(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    ada.say("Question 3?")
    ada.say("The user asks much.", role="assistant", metadata=note_metadata())
    ada.say("Answer 3.", role="assistant")
    pages.do("hide_details", index="usr-3")
    eraser.erase("m7")
    assert page(ada, "usr-4").name == "Answer 3."
    assert page(ada, "usr-4").entries == ["assistant: Answer 3."]
    eraser.erase("m9")
    assert page(ada, "usr-4") is None


def test_a_hidden_page_shows_the_tokens_of_its_remaining_messages(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    ada.say("Question 3?")
    ada.say("word " * 900, "word " * 300, role="assistant")
    ada.say("Question 4?")
    pages.do("hide_details", index="usr-4")
    assert "[usr-4] Question 3? (page, hidden, can be expanded, about 1,200 tokens)" in (
        pages.window()
    )
    eraser.erase("m8")
    assert "[usr-4] Question 3? (page, hidden, can be expanded, about 310 tokens)" in (
        pages.window()
    )
    eraser.erase("m9")
    assert "[usr-4] Question 3? (page, hidden, can be expanded)" in pages.window()


def test_only_the_page_of_an_erased_message_changes(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    """System messages and other sessions have pages of their own in between."""
    ada.say("One?", session="s2")
    ada.say("Be kind.", role="system", session="s2")
    ada.say("Three?", session=None)
    ada.say("Two.", role="assistant", session="s2")
    ada.say("Four.", role="assistant", session=None)
    pages.rename("usr-4", "Of the second")
    pages.rename("usr-5", "Of none")
    eraser.erase("m8")
    assert page(ada, "sys-1") is None
    assert page(ada, "usr-4").name == "Of the second"
    eraser.erase("m9")
    assert page(ada, "usr-5").name == "Four."
    assert page(ada, "usr-4").name == "Of the second"
    eraser.erase(session="s2")
    assert page(ada, "usr-4") is None
    assert page(ada, "usr-5").name == "Four."


def test_steps_that_would_restore_erased_text_go_and_others_stay(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    before = pages.window()
    pages.do("hide_details", index="usr-2")
    pages.do("update_page", index="usr-1", name="Secret")
    eraser.erase("m2")
    assert ada.rows("SELECT number FROM page_step WHERE agent_id = %s")[0].number == 1
    undone = pages.undo()
    assert undone.operations == ["hide_details"]
    assert "Answer 1." in pages.window()
    assert "Secret" not in pages.window()
    assert before != pages.window()
    with pytest.raises(RefusedError, match="nothing to undo"):
        pages.undo()
    assert pages.redo().operations == ["hide_details"]


def test_messages_that_are_on_no_page_yet_are_erased(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    eraser.erase("m3", "m4")
    assert "Question 1?" not in pages.window()
    pages.do("hide_details", index="usr-1")
    assert "[usr-2] Question 2?" in pages.window()


def test_page_indexes_stay_the_same_when_a_message_on_no_page_is_erased(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    pages.do("hide_details", index="usr-1")
    ada.say(f"{MARK}?", session="s2")
    ada.say("Something else?", session="s3")
    assert "[usr-5] Something else?" in pages.window()
    erase.run(
        eraser.database,
        eraser.store,
        eraser.wakeups,
        "ada",
        ErasureSelection(("m7",)),
        settle=pages.commands.settle_in,
    )
    assert page(ada, "usr-4") is None
    assert "[usr-5] Something else?" in pages.window()
    ada.say("More?", session="s4")
    assert "[usr-6] More?" in pages.window()
