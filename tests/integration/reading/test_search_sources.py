"""A search finds pages, summaries, pins and plans (R11)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memci.domain.search.candidate import Source
from memci.reading.search import Search
from memci.schemas.reads import Filters, Hit, SearchRequest
from memci.storage.search.sources import MOST_SEARCHED
from tests.support.insert_sources import page, pin, plan, summary
from tests.support.stored import BEGIN, Reader, Stored

OTHER_SOURCES = ["page", "summary", "pin", "plan"]


def search(reader: Reader, query: str, **fields: Any) -> list[Hit]:
    return Search(*reader.parts).run("alice", SearchRequest(query=query, **fields)).hits


def found(reader: Reader, query: str, **fields: Any) -> list[tuple[str, str]]:
    hits = search(reader, query, sources=fields.pop("sources", OTHER_SOURCES), **fields)
    return sorted((hit.source.value, hit.text.split("\n")[0]) for hit in hits)


@pytest.fixture
def talk(alice: Stored) -> Stored:
    alice.say("The ferry to the island leaves at eight.", user="u1")
    alice.say("Noted, eight it is.", "assistant", user="u1")
    alice.say("Never book seats in the back row. And water the fern.", session="s2", user="u2")
    return alice


@pytest.fixture
def pages(talk: Stored) -> Stored:
    folder = {"kind": "contents"}
    page(talk, "usr-0", None, "ferry root", **folder)
    page(talk, "usr-5", "usr-0", "", **folder)
    page(talk, "usr-2", "usr-5", "Ferry times", first=1, last=2, session="s1",
         entries=["user: when the ferry leaves"])  # fmt: skip
    page(talk, "usr-3", "usr-0", "Ferry of the chapter", first=3, last=3, session="s2")
    page(talk, "usr-4", None, "Ferry gone", first=1, last=1, session="s1", cold=True)
    page(talk, "usr-6", "usr-0", "Quay", description="where ferries moor", text_version=7)
    talk.execute(
        "INSERT INTO page_text (agent_id, page_id, version, text) VALUES (%s, 'usr-6', 7, %s)",
        "Bring coins for the lockers.",
    )
    page(talk, "usr-7", None, "Removed ferry note", cold=True)
    page(talk, "usr-8", "usr-0", "Ada's folder", user="u1", **folder)
    page(talk, "usr-9", "usr-8", "Lockers by the ferry")
    return talk


def test_pins_summaries_and_plans_are_found_with_their_origin(reader: Reader, talk: Stored):
    pin(talk, 4, "Ferry tickets are in the blue folder", kind="constraint", pinned_by="developer")
    summary(talk, "They spoke of the ferry.\nIt leaves at eight.", 1, 2)
    plan(talk, 2, ("Buy ferry tickets", "done"), ("Pack the tent", "active"))
    found = search(reader, "ferry tent", sources=OTHER_SOURCES, k=9)
    hits = {hit.source: hit for hit in found if not hit.text.startswith("Buy")}
    assert set(hits) == {Source.PIN, Source.SUMMARY, Source.PLAN}
    pinned = hits[Source.PIN].pin
    assert pinned is not None
    assert (pinned.pin, pinned.kind, pinned.by) == (4, "constraint", "developer")
    assert hits[Source.PIN].message_ids == []
    assert (hits[Source.SUMMARY].session_id, hits[Source.SUMMARY].message_ids) == (
        "s1",
        ["m1", "m2"],
    )
    assert hits[Source.SUMMARY].created_at == BEGIN + timedelta(minutes=2)
    step = hits[Source.PLAN].step
    assert step is not None
    assert (hits[Source.PLAN].text, step.step, step.state) == ("Pack the tent", 2, "active")
    assert hits[Source.PLAN].channels == {"lexical": 1}


def test_pages_are_found_by_names_and_texts(reader: Reader, pages: Stored):
    names = {hit.page for hit in search(reader, "ferry", sources=["page"], k=20)}
    # Roots, chapters and removed pages of messages are not found.
    assert names == {"usr-2", "usr-6", "usr-7", "usr-9"}
    note = search(reader, "coins for a locker", sources=["page"])[0]
    assert (note.page, note.text.splitlines()[-1]) == ("usr-6", "Bring coins for the lockers.")
    assert note.created_at is not None
    assert search(reader, "Removed ferry", sources=["page"])[0].created_at is None


def test_pages_in_another_users_folder_are_hidden(reader: Reader, pages: Stored):
    def pages_of(user: str) -> set[str | None]:
        return {hit.page for hit in search(reader, "lockers", sources=["page"], user_id=user)}

    assert pages_of("u1") == {"usr-6", "usr-9"}
    assert pages_of("u2") == {"usr-6"}


def test_users_and_sessions_find_their_own_texts(reader: Reader, talk: Stored):
    pin(talk, 1, "Ferry fares for u1", user_id="u1")
    pin(talk, 2, "", 3, kind="task", pinned_by="detector", user_id="u2", start=0, end=33)
    summary(talk, "Ferry of both", 1, 3, users=["u1", "u2"])
    plan(talk, 1, ("Ferry first", "active"), user="u1")
    plan(talk, 3, ("Ferry second", "active"), session="s2", user="u2")
    assert len(found(reader, "ferry", k=20)) == 4
    assert found(reader, "ferry", user_id="u1", k=20) == [
        ("pin", "Ferry fares for u1"), ("plan", "Ferry first"),
    ]  # fmt: skip
    assert ("plan", "Ferry first") not in found(reader, "ferry", session_id="s2", k=20)
    row = "Never book seats in the back row."
    assert found(reader, "back row") == [("pin", row)]
    assert found(reader, "back row", session_id="s2") == [("pin", row)]
    assert found(reader, "back row", session_id="s1") == []


def test_the_user_of_a_search_without_user_is_that_of_its_session(reader: Reader, talk: Stored):
    pin(talk, 1, "Ferry fares for u1", user_id="u1")
    pin(talk, 2, "Ferry fares for u2", user_id="u2")
    pin(talk, 3, "Ferry fares")
    plan(talk, 1, ("Ferry first", "active"), user="u1")
    summary(talk, "Ferry of u1", 1, 2, users=["u1"])
    summary(talk, "Ferry of u2", 3, 3, session="s2", users=["u2"])
    page(talk, "usr-8", None, "Ferry note of u1", user="u1", cold=True)
    of_all, first = ("pin", "Ferry fares"), ("pin", "Ferry fares for u1")
    of_u1 = [
        ("page", "Ferry note of u1"), of_all, first, ("plan", "Ferry first"),
        ("summary", "Ferry of u1"),
    ]  # fmt: skip
    assert found(reader, "ferry", session_id="s1", k=20) == of_u1
    assert found(reader, "ferry", session_id="s2", k=20) == [
        of_all, ("pin", "Ferry fares for u2"), ("summary", "Ferry of u2"),
    ]  # fmt: skip
    assert found(reader, "ferry", session_id="new", k=20) == [of_all]
    assert len(found(reader, "ferry", k=20)) == 7


def test_filters_apply_to_pins_and_plans(reader: Reader, talk: Stored):
    pin(talk, 1, "", 1)
    plan(talk, 3, ("Ferry second", "active"), session="s2")
    both = [("pin", "The ferry to the island leaves at eight."), ("plan", "Ferry second")]
    for filters, expected in (
        ({}, both),
        ({"sessions": ("s2",)}, both[1:]),
        ({"since": BEGIN + timedelta(minutes=2)}, both[1:]),
        ({"until": BEGIN + timedelta(minutes=2)}, both[:1]),
        ({"roles": ("user",)}, []),
        ({"types": ("semantic",)}, []),
    ):
        assert found(reader, "ferry", filters=Filters.model_validate(filters)) == expected
    then = BEGIN + timedelta(minutes=2)
    assert found(reader, "ferry", as_of=then) == both[:1]
    assert found(reader, "ferry", channels=["dense"]) == []


def test_texts_that_repeat_a_message_are_no_hits(reader: Reader, pages: Stored):
    pin(pages, 1, "", 1)
    summary(pages, "The ferry to the island leaves at eight.", 1, 2)
    query = "When does the ferry to the island leave?"
    hits = search(reader, query, k=20)
    assert {hit.source for hit in hits if hit.session_id} == {Source.CHAT}
    # A note repeats no message.
    assert "usr-6" in {hit.page for hit in hits if hit.source is Source.PAGE}
    assert hits[0].message_ids == ["m1"]


def test_chinese_is_found_in_pins(reader: Reader, alice: Stored):
    alice.say("你好")
    pin(alice, 1, "渡轮船票放在蓝色文件夹里")
    assert found(reader, "船票在哪里？") == [("pin", "渡轮船票放在蓝色文件夹里")]


def test_stems_numbers_and_full_width_letters_match(reader: Reader, alice: Stored):
    texts = ["Reliability first", "Hang it up to dry", "It is lying there", "Pay 1,000 euros",
             "Read the ＡＢＣ", "用Python写渡轮"]  # fmt: skip
    for number, text in enumerate(texts, 1):
        pin(alice, number, text)
    queries = ["reliability", "dry", "lying", "1000", "abc", "python"]
    assert [found(reader, each, sources=["pin"]) for each in queries] == [
        [("pin", each)] for each in texts
    ]


def test_only_the_newest_rows_and_the_beginnings_of_texts_are_searched(
    reader: Reader, alice: Stored
):
    alice.say("你好")
    last = MOST_SEARCHED + 1
    numbers = f"FROM (SELECT %s::text AS agent) a CROSS JOIN generate_series(1, {last}) AS n"
    begin = "CASE n WHEN 1 THEN 'oldest' WHEN 2 THEN 'second' ELSE 'quay' END"
    for columns, values in (
        ("pin (agent_id, number, text, kind, pinned_by)", f"n, {begin}, 'note', 'agent'"),
        ("summary (agent_id, session_id, user_id, through_seq, text)", f"'s' || n, '', n, {begin}"),
        (
            "page (agent_id, id, kind, segment, place, name, description, expanded, cold)",
            f"'usr-' || n, 'detail', 'usr', n, {begin}, '', true, true",
        ),
        ("plan (agent_id, made_seq, session_id)", "n, 's' || n"),
        (
            "plan_step (agent_id, made_seq, position, text, said_seq, state)",
            f"n, 1, {begin}, n, 'active'",
        ),
    ):
        alice.execute(f"INSERT INTO {columns} SELECT agent, {values} {numbers}")
    assert found(reader, "oldest", k=20) == []
    assert found(reader, "second", k=20) == [(source, "second") for source in sorted(OTHER_SOURCES)]
    # A session never has so many plans and summaries.
    assert found(reader, "oldest", session_id="s1") == [("plan", "oldest")]
    of_first = Filters(sessions=("s1",))
    assert found(reader, "oldest", filters=of_first) == [("plan", "oldest"), ("summary", "oldest")]
    pin(alice, last + 1, f"fern {'and so on, ' * 2_000} harbour")
    assert len(found(reader, "fern")) == 1
    assert found(reader, "harbour") == []
