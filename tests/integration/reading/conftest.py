"""One agent with rows put in by SQL, and what reads it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memci.storage.session import Database
from tests.support.stored import Reader, Stored


@pytest.fixture
def reader(database_url: str) -> Iterator[Reader]:
    made = Reader(Database(database_url))
    try:
        yield made
    finally:
        made.activity.close()
        made.database.close()


@pytest.fixture
def alice(reader: Reader) -> Stored:
    return Stored(reader, "alice")
