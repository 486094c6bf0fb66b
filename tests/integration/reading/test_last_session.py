"""What was said in the session before the one in which it is asked for (R10, R11)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from memci.reading.assemble import Assemble
from memci.reading.search import Search
from memci.shapes.read import ContextRequest, Filters, SearchRequest
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
    assert leading(reader, session_id="letter") == set(TOMATOES)


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
    assert leading(reader) == expected
    assert leading(reader, session_id="letter") == expected


def test_what_is_not_indexed_yet_is_the_last_all_the_same(visited: Stored, reader: Reader):
    new = ("A rash on my arm.", "Try the blue ointment.")
    keep(visited, new, NOW - DAY, session="doctor", indexed=False, state="pending")
    assert leading(reader) == set(new)


def test_a_context_holds_it(visited: Stored, reader: Reader):
    visited.say(QUESTIONS[0], said_at=NOW, session="new")
    request = ContextRequest(query=QUESTIONS[0], session_id="new", budget_tokens=200, now=NOW)
    told = str(Assemble(*reader.parts).run("alice", request).messages)
    assert all(text in told for text in HEATING)


def test_where_there_was_none_nothing_is_asked_for(alice: Stored, reader: Reader):
    assert leading(reader) == set()
    alice.say("The ferry leaves at eight.", session="only", said_at=BEGIN)
    request = SearchRequest(query=QUESTIONS[0], session_id="only", now=NOW, explain=True)
    explained = Search(*reader.parts).run("alice", request).explain
    assert explained is not None
    analysis: Any = explained["analysis"]
    assert analysis["times"] == []


@pytest.mark.usefixtures("visited")
def test_another_time_that_is_named_counts(reader: Reader):
    query = f"What did we talk about last time, on {BEGIN:%d %B %Y}?"
    assert leading(reader, query) == set(PORTO)
