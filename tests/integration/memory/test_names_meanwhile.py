"""Reads, changes and erasures while pages get their names (P6, P7)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.naming import BACKUP, LUNCH, ROOM, TRAIN, Meanwhile, PagesUnderTest


@pytest.fixture
def pages(ada):
    return PagesUnderTest(ada)


def test_readers_see_the_first_line_until_a_page_is_named(pages):
    pages.tell(ROOM, BACKUP, LUNCH)
    before = pages.shown()
    assert f"[usr-1] {ROOM[0][:79]}" in before
    pages.run()
    after = pages.shown()
    assert "[usr-1] Could you book the blue meeting room for Thursday at ten?" in after
    assert before.count("[usr-") == after.count("[usr-")
    assert LUNCH[1] in after


def test_a_renamed_page_keeps_its_name_and_gets_its_lines(pages):
    pages.tell(ROOM, BACKUP, LUNCH)
    pages.do("update_page", index="usr-1", name="Rooms", description="All about rooms.")
    pages.do("update_page", index="usr-2", name="Mine")
    pages.run()
    room, backup, _ = pages.pages()
    assert (room.name, room.description) == ("Rooms", "All about rooms.")
    assert room.entries[1].startswith("assistant: Done")
    assert backup.name == "Mine"
    assert "snapshots" in backup.description  # only this is shown of a hidden page


def test_a_page_that_is_renamed_meanwhile_keeps_that_name(pages):
    pages.tell(ROOM, LUNCH)
    pages.summarizer = Meanwhile(
        lambda: pages.do("update_page", index="usr-1", name="Rooms", description="D.")
    )
    assert pages.run()["named"] == 1
    room = pages.pages()[0]
    assert (room.name, room.description) == ("Rooms", "D.")
    assert room.entries == ["line 1", "line 2"]


def test_naming_is_no_step_to_undo(pages):
    pages.tell(ROOM, BACKUP, LUNCH)
    pages.do("hide_details", index="usr-2")
    pages.do("update_page", index="usr-1", name="Rooms")
    pages.run()
    pages.do("undo")
    assert not pages.pages()[0].named
    pages.do("undo")
    assert pages.pages()[1].expanded
    assert pages.pages()[1].named
    # The next job names the page that undo has unnamed.
    assert pages.run()["named"] == 1
    assert pages.pages()[0].name.startswith("Could you book")


def test_interactions_added_during_a_job_are_named_by_the_next(pages):
    pages.tell(ROOM, LUNCH)
    pages.run()
    pages.tell(BACKUP)
    effect = pages.handler.prepare(pages.job)  # names LUNCH
    pages.do("create_detail_page", name="Note", description="", detail="x", parent="usr-0")
    pages.tell(TRAIN)
    assert pages.write(effect) == {"settled": 2, "named": 1}
    assert [page.named for page in pages.pages()] == [True, True, False, False]


def test_a_page_that_got_another_index_meanwhile_gets_no_wrong_name(pages):
    pages.tell(ROOM)
    pages.do("update_page", index="usr-0", name="Talk")  # puts the messages on pages
    pages.tell(LUNCH, BACKUP)
    effect = pages.handler.prepare(pages.job)  # would be usr-2 and usr-3
    pages.ada.execute(
        "UPDATE page_tree SET segments = replace(segments::text, '\"next_number\": 2',"
        " '\"next_number\": 7')::jsonb WHERE agent_id = %s"
    )
    assert pages.write(effect) == {"settled": 4, "named": 1}
    assert pages.waiting() == 1  # another job for the changed pages
    assert pages.run()["named"] == 1
    assert {page.id: page.named for page in pages.pages()} == {
        "usr-1": True, "usr-7": True, "usr-8": False,
    }  # fmt: skip


def test_a_message_erased_meanwhile_is_in_no_name(pages):
    pages.tell(ROOM, LUNCH)
    pages.run()
    pages.ada.execute("UPDATE page SET named = false, summarized = false WHERE agent_id = %s")
    effect = pages.handler.prepare(pages.job)
    pages.ada.execute("DELETE FROM message WHERE agent_id = %s AND seq = 2")
    pages.write(effect)
    assert not pages.pages()[0].named
    assert pages.waiting() == 1
    pages.run()
    assert len(pages.pages()[0].entries) == 1
    assert "booked" not in pages.pages()[0].description


def test_operations_and_naming_at_the_same_time_lose_nothing(pages):
    pages.tell(*[(f"Question {n}?", f"Answer {n}.") for n in range(6)])
    pages.run()
    pages.ada.execute("UPDATE page SET named = false, summarized = false WHERE agent_id = %s")

    def note(n: int) -> None:
        pages.do("create_detail_page", name=f"N{n}", description="", detail="x", parent="usr-0")

    with ThreadPoolExecutor(4) as pool:
        notes = [pool.submit(note, n) for n in range(8)]
        pages.run()
        for each in notes:
            each.result()
    assert [page.named for page in pages.pages()] == [True] * 5 + [False]
    count = pages.ada.row("SELECT count(*) AS n FROM page WHERE agent_id = %s AND text_version > 0")
    assert count.n == 8
