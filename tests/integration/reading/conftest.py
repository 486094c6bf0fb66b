"""An agent whose rows are inserted by SQL, and its reader."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from memci.storage.session import Database
from tests.support.stored import BEGIN, Reader, Stored

CALL = {"id": "c1", "type": "function", "function": {"name": "ferry", "arguments": '{"at":8}'}}


@pytest.fixture
def reader(database_url: str) -> Iterator[Reader]:
    created = Reader(Database(database_url))
    try:
        yield created
    finally:
        created.activity.close()
        created.database.close()


@pytest.fixture
def alice(reader: Reader) -> Stored:
    return Stored(reader, "alice")


@pytest.fixture
def talk(alice: Stored) -> Stored:
    """Two old sessions, and the current one with a tool call."""
    alice.say("The harbour ferry leaves at eight.", session="old", name="Ann")
    alice.say("Noted: ferry at eight.", "assistant", session="old")
    alice.say("My cat Miso is afraid of thunder.", session="older",
              said_at=BEGIN - timedelta(days=3))  # fmt: skip
    alice.remember("Ann likes to sit on deck of the ferry.", session="old")
    alice.say("Is the ferry on time?", session="now")
    alice.say(None, "assistant", session="now", calls=[CALL])
    alice.say("on time", "tool", session="now", answers="c1")
    alice.say("Yes, it is on time.", "assistant", session="now")
    return alice
