"""A question about the last talk finds the messages of the session before (R10, R11)."""

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
# The messages of each session share no word with the questions.
PORTO = ("A trip to Porto in April.", "Flights from Vienna for two.")
TOMATOES = ("My tomatoes have yellow leaves.", "Epsom salt against a lack of magnesium.")
HEATING = ("The landlord ignores the broken heating.", "Set him a deadline of fourteen days.")


@pytest.fixture
def sessions(alice: Stored) -> Stored:
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
    """Return the texts of the best two hits, in no order."""
    request = SearchRequest(query=query, **{"now": NOW, "k": 2} | scope)
    return {each.text for each in Search(*reader.parts).run("alice", request).hits}


@pytest.mark.usefixtures("sessions")
@pytest.mark.parametrize("query", QUESTIONS)
def test_the_last_session_comes_first(reader: Reader, query: str):
    assert leading(reader, query) == leading(reader, query, session_id="new") == set(HEATING)


@pytest.mark.usefixtures("sessions")
def test_the_running_session_is_not_the_last_one(reader: Reader):
    meanwhile = BEGIN + 14 * DAY + 10 * MINUTE
    assert leading(reader, session_id="letter", now=meanwhile) == set(TOMATOES)
    assert leading(reader, session_id="letter") == set(HEATING), "after days it is over"


def test_days_of_silence_divide_a_session_into_talks(sessions: Stored, reader: Reader):
    keep(sessions, ("The flights are booked.", "Window seats."), NOW - DAY, session="trip")
    booked = {"The flights are booked.", "Window seats."}
    assert leading(reader) == booked
    sessions.say(QUESTIONS[0], said_at=NOW, session="trip")
    assert leading(reader, session_id="trip") == booked


def test_a_parallel_session_is_not_part_of_the_last_one(sessions: Stored, reader: Reader):
    for minutes, (name, text) in enumerate(
        [("b", "Bob wants a boat."), ("c", "Carol divorces."), ("b", "A red one.")]
    ):
        sessions.say(text, said_at=NOW - DAY + minutes * MINUTE, session=name)
    assert leading(reader) == {"Bob wants a boat.", "A red one."}


def test_many_messages_of_another_session_do_not_hide_the_last(sessions: Stored, reader: Reader):
    sessions.say("Flights to Porto, and a hotel.", said_at=NOW - 2 * DAY, session="a")
    for minute in range(1, 59):
        at = NOW - 2 * DAY + minute * MINUTE
        sessions.say(f"Busy with number {minute}.", said_at=at, session="b")
    sessions.say("Yes, for two in April.", said_at=NOW - 2 * DAY + 59 * MINUTE, session="a")
    assert leading(reader) == {"Flights to Porto, and a hotel.", "Yes, for two in April."}


def test_a_parallel_session_is_not_part_of_messages_without_session(
    sessions: Stored, reader: Reader
):
    for minutes, (name, text) in enumerate(
        [(None, "Bob wants a boat."), ("d", "Dora is ill."), (None, "A red one.")]
    ):
        sessions.say(text, said_at=NOW - DAY + minutes * MINUTE, session=name)
    assert leading(reader) == {"Bob wants a boat.", "A red one."}


def test_answers_in_a_shared_session_are_for_the_previous_speaker(sessions: Stored, reader: Reader):
    keep(sessions, ("Bob is here, too.",), BEGIN + 1 * DAY, session="shared", user="bob")
    keep(sessions, ("Carol divorces.",), NOW - 2 * DAY, session="shared", user="carol")
    sessions.say("Tell me all.", "assistant", said_at=NOW - 2 * DAY + MINUTE, session="shared")
    sessions.say(QUESTIONS[0], said_at=NOW, session="b2", user="bob")
    assert leading(reader, session_id="b2", k=1) == {"Bob is here, too."}


def test_the_user_of_the_asking_session_selects_the_last_session(sessions: Stored, reader: Reader):
    keep(sessions, ("Bob wants a boat.",), BEGIN + 15 * DAY, session="b1", user="bob")
    sessions.say("A red one.", "assistant", said_at=BEGIN + 15 * DAY + MINUTE, session="b1")
    keep(sessions, ("Carol divorces.", "She tells nobody."), NOW - DAY, session="c", user="carol")
    sessions.say(QUESTIONS[0], said_at=NOW, session="b2", user="bob")
    assert leading(reader, session_id="b2") == {"Bob wants a boat.", "A red one."}


def test_notes_tool_results_and_system_texts_are_no_session(sessions: Stored, reader: Reader):
    note = note_metadata()
    sessions.say("Nightly: 3 mails.", "assistant", said_at=NOW - DAY, session="n", metadata=note)
    sessions.say("22 degrees", "tool", said_at=NOW - DAY, session="t", answers="c1")
    sessions.say("You are kind.", "system", said_at=NOW - DAY, session="s")
    assert leading(reader) == set(HEATING)


def test_the_stored_question_is_not_the_last_session(sessions: Stored, reader: Reader):
    sessions.say(QUESTIONS[0], said_at=NOW, session="now")
    assert leading(reader) == set(HEATING)


def test_the_session_with_the_newest_message_is_the_last_one(sessions: Stored, reader: Reader):
    sessions.say("The Porto flights are booked.", session="trip", said_at=BEGIN + 16 * DAY)
    assert "The Porto flights are booked." in leading(reader)


@pytest.mark.usefixtures("sessions")
def test_the_last_session_depends_on_the_time_of_the_question(reader: Reader):
    assert leading(reader, now=BEGIN + 10 * DAY) == set(TOMATOES)
    assert leading(reader, now=None, as_of=BEGIN + 1 * DAY) == set(PORTO)


def test_a_user_gets_their_own_last_session(sessions: Stored, reader: Reader):
    keep(sessions, ("Bob wants a boat.", "A red one."), BEGIN + 1 * DAY, session="b", user="bob")
    assert leading(reader, user_id="bob") == {"Bob wants a boat.", "A red one."}
    assert leading(reader) == set(HEATING)


@pytest.mark.usefixtures("sessions")
def test_filters_restrict_the_last_session(reader: Reader):
    assert leading(reader, filters=Filters(sessions=("trip", "garden"))) == set(TOMATOES)


def test_silences_divide_messages_without_session(sessions: Stored, reader: Reader):
    keep(sessions, ("A rash on my arm.", "Try the blue ointment."), NOW - 2 * DAY, session=None)
    sessions.say("It rains.", said_at=NOW - 5 * MINUTE, session=None)
    expected = {"A rash on my arm.", "Try the blue ointment."}
    assert leading(reader) == leading(reader, session_id=None, k=2) == expected


def test_a_new_message_without_session_is_not_the_last_session(sessions: Stored, reader: Reader):
    sessions.say("It rains.", said_at=NOW - 5 * MINUTE, session=None)
    assert leading(reader) == set(HEATING)


def test_a_session_not_indexed_yet_can_be_the_last_one(sessions: Stored, reader: Reader):
    new = ("A rash on my arm.", "Try the blue ointment.")
    keep(sessions, new, NOW - DAY, session="doctor", indexed=False, state="pending")
    assert leading(reader) == set(new)


def test_a_context_has_the_last_session(sessions: Stored, reader: Reader):
    sessions.say(QUESTIONS[0], said_at=NOW, session="new")
    request = ContextRequest(query=QUESTIONS[0], session_id="new", budget_tokens=200, now=NOW)
    messages = str(ContextReader(*reader.parts).run("alice", request).messages)
    assert all(text in messages for text in HEATING)


def test_without_an_earlier_session_no_time_is_searched(alice: Stored, reader: Reader):
    assert leading(reader) == set()
    alice.say("The ferry leaves at eight.", session="only", said_at=BEGIN)
    request = SearchRequest(query=QUESTIONS[0], session_id="only", now=BEGIN + MINUTE, explain=True)
    explained = Search(*reader.parts).run("alice", request).explain
    assert explained is not None
    analysis: Any = explained["analysis"]
    assert analysis["times"] == []


@pytest.mark.usefixtures("sessions")
def test_a_date_in_the_question_takes_precedence(reader: Reader):
    query = f"What did we talk about last time, on {BEGIN:%d %B %Y}?"
    assert leading(reader, query) == set(PORTO)
