"""What was said in the session before the one in which it is asked for (R10, R11)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from memci.message import note_metadata
from memci.reading.context import ContextReader
from memci.reading.search import Search
from memci.schemas.reads import ContextRequest, Filters, SearchRequest
from tests.support.stored import BEGIN, Reader, Stored

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
NOW = BEGIN + 20 * DAY
QUESTIONS = ("What did we talk about last time?", "Where did we leave off?", "我们上次聊了什么？")
# Of each session, by its day: nothing that the questions say.
PORTO = ("A trip to Porto in April.", "Flights from Vienna for two.")
TOMATOES = ("My tomatoes have yellow leaves.", "Epsom salt against a lack of magnesium.")
HEATING = ("The landlord ignores the broken heating.", "Set him a deadline of fourteen days.")


@pytest.fixture
def visited(alice: Stored) -> Stored:
    """Three sessions, a week apart."""
    for week, (name, texts) in enumerate(
        {"trip": PORTO, "garden": TOMATOES, "letter": HEATING}.items()
    ):
        keep(alice, texts, BEGIN + 7 * week * DAY, session=name)
    return alice


def keep(stored: Stored, texts: tuple[str, ...], at: datetime, **of: Any) -> None:
    for minutes, text in enumerate(texts):
        stored.say(text, said_at=at + minutes * MINUTE, **of)


def leading(reader: Reader, query: str = QUESTIONS[0], **scope: Any) -> set[str]:
    """The texts of the best two hits, whatever their order."""
    request = SearchRequest(query=query, **{"now": NOW, "k": 2} | scope)
    return {each.text for each in Search(*reader.parts).run("alice", request).hits}


@pytest.mark.usefixtures("visited")
@pytest.mark.parametrize("query", QUESTIONS)
def test_the_last_session_comes_first(reader: Reader, query: str):
    assert leading(reader, query) == leading(reader, query, session_id="new") == set(HEATING)


@pytest.mark.usefixtures("visited")
def test_it_is_another_than_the_one_that_goes_on(reader: Reader):
    meanwhile = BEGIN + 14 * DAY + 10 * MINUTE
    assert leading(reader, session_id="letter", now=meanwhile) == set(TOMATOES)
    assert leading(reader, session_id="letter") == set(HEATING), "after days it is over"


def test_a_session_that_goes_on_for_weeks_is_several_talks(visited: Stored, reader: Reader):
    keep(visited, ("The flights are booked.", "Window seats."), NOW - DAY, session="trip")
    booked = {"The flights are booked.", "Window seats."}
    assert leading(reader) == booked
    visited.say(QUESTIONS[0], said_at=NOW, session="trip")
    assert leading(reader, session_id="trip") == booked


def test_what_others_say_meanwhile_is_not_of_it(visited: Stored, reader: Reader):
    for minutes, (name, text) in enumerate(
        [("b", "Bob wants a boat."), ("c", "Carol divorces."), ("b", "A red one.")]
    ):
        visited.say(text, said_at=NOW - DAY + minutes * MINUTE, session=name)
    assert leading(reader) == {"Bob wants a boat.", "A red one."}


def test_others_do_not_crowd_it_out(visited: Stored, reader: Reader):
    visited.say("Flights to Porto, and a hotel.", said_at=NOW - 2 * DAY, session="a")
    for minute in range(1, 59):
        at = NOW - 2 * DAY + minute * MINUTE
        visited.say(f"Busy with number {minute}.", said_at=at, session="b")
    visited.say("Yes, for two in April.", said_at=NOW - 2 * DAY + 59 * MINUTE, session="a")
    assert leading(reader) == {"Flights to Porto, and a hotel.", "Yes, for two in April."}


def test_what_is_said_in_sessions_meanwhile_is_not_of_what_is_said_in_none(
    visited: Stored, reader: Reader
):
    for minutes, (name, text) in enumerate(
        [(None, "Bob wants a boat."), ("d", "Dora is ill."), (None, "A red one.")]
    ):
        visited.say(text, said_at=NOW - DAY + minutes * MINUTE, session=name)
    assert leading(reader) == {"Bob wants a boat.", "A red one."}


def test_in_a_shared_session_answers_are_for_who_spoke_before(visited: Stored, reader: Reader):
    keep(visited, ("Bob is here, too.",), BEGIN + 1 * DAY, session="shared", user="bob")
    keep(visited, ("Carol divorces.",), NOW - 2 * DAY, session="shared", user="carol")
    visited.say("Tell me all.", "assistant", said_at=NOW - 2 * DAY + MINUTE, session="shared")
    visited.say(QUESTIONS[0], said_at=NOW, session="b2", user="bob")
    assert leading(reader, session_id="b2", k=1) == {"Bob is here, too."}


def test_it_is_of_the_user_whom_a_session_is_with(visited: Stored, reader: Reader):
    keep(visited, ("Bob wants a boat.",), BEGIN + 15 * DAY, session="b1", user="bob")
    visited.say("A red one.", "assistant", said_at=BEGIN + 15 * DAY + MINUTE, session="b1")
    keep(visited, ("Carol divorces.", "She tells nobody."), NOW - DAY, session="c", user="carol")
    visited.say(QUESTIONS[0], said_at=NOW, session="b2", user="bob")
    assert leading(reader, session_id="b2") == {"Bob wants a boat.", "A red one."}


def test_notes_and_results_of_tools_are_no_talk(visited: Stored, reader: Reader):
    note = note_metadata()
    visited.say("Nightly: 3 mails.", "assistant", said_at=NOW - DAY, session="n", metadata=note)
    visited.say("22 degrees", "tool", said_at=NOW - DAY, session="t", answers="c1")
    visited.say("You are kind.", "system", said_at=NOW - DAY, session="s")
    assert leading(reader) == set(HEATING)


def test_the_question_itself_is_none(visited: Stored, reader: Reader):
    visited.say(QUESTIONS[0], said_at=NOW, session="now")
    assert leading(reader) == set(HEATING)


def test_it_is_the_one_in_which_something_was_said_last(visited: Stored, reader: Reader):
    visited.say("The Porto flights are booked.", session="trip", said_at=BEGIN + 16 * DAY)
    assert "The Porto flights are booked." in leading(reader)


@pytest.mark.usefixtures("visited")
def test_it_is_seen_from_when_it_is_asked(reader: Reader):
    assert leading(reader, now=BEGIN + 10 * DAY) == set(TOMATOES)
    assert leading(reader, now=None, as_of=BEGIN + 1 * DAY) == set(PORTO)


def test_it_is_the_users_own(visited: Stored, reader: Reader):
    keep(visited, ("Bob wants a boat.", "A red one."), BEGIN + 1 * DAY, session="b", user="bob")
    assert leading(reader, user_id="bob") == {"Bob wants a boat.", "A red one."}
    assert leading(reader) == set(HEATING)


@pytest.mark.usefixtures("visited")
def test_it_is_among_what_the_filters_leave(reader: Reader):
    assert leading(reader, filters=Filters(sessions=("trip", "garden"))) == set(TOMATOES)


def test_what_was_said_in_no_session_is_cut_by_silences(visited: Stored, reader: Reader):
    keep(visited, ("A rash on my arm.", "Try the blue ointment."), NOW - 2 * DAY, session=None)
    visited.say("It rains.", said_at=NOW - 5 * MINUTE, session=None)
    expected = {"A rash on my arm.", "Try the blue ointment."}
    assert leading(reader) == leading(reader, session_id=None, k=2) == expected


def test_it_rains_on_and_the_last_session_is_still_the_last(visited: Stored, reader: Reader):
    visited.say("It rains.", said_at=NOW - 5 * MINUTE, session=None)
    assert leading(reader) == set(HEATING)


def test_what_is_not_indexed_yet_is_the_last_all_the_same(visited: Stored, reader: Reader):
    new = ("A rash on my arm.", "Try the blue ointment.")
    keep(visited, new, NOW - DAY, session="doctor", indexed=False, state="pending")
    assert leading(reader) == set(new)


def test_a_context_holds_it(visited: Stored, reader: Reader):
    visited.say(QUESTIONS[0], said_at=NOW, session="new")
    request = ContextRequest(query=QUESTIONS[0], session_id="new", budget_tokens=200, now=NOW)
    told = str(ContextReader(*reader.parts).run("alice", request).messages)
    assert all(text in told for text in HEATING)


def test_where_there_was_none_nothing_is_asked_for(alice: Stored, reader: Reader):
    assert leading(reader) == set()
    alice.say("The ferry leaves at eight.", session="only", said_at=BEGIN)
    request = SearchRequest(query=QUESTIONS[0], session_id="only", now=BEGIN + MINUTE, explain=True)
    explained = Search(*reader.parts).run("alice", request).explain
    assert explained is not None
    analysis: Any = explained["analysis"]
    assert analysis["times"] == []


@pytest.mark.usefixtures("visited")
def test_another_time_that_is_named_counts(reader: Reader):
    query = f"What did we talk about last time, on {BEGIN:%d %B %Y}?"
    assert leading(reader, query) == set(PORTO)
