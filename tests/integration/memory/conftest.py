from __future__ import annotations

from collections.abc import Iterator

import pytest

from memci.storage.session import Database
from tests.support.mailbox import Mailbox
from tests.support.network import AgentUnderTest


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    database = Database(database_url)
    yield database
    database.close()


@pytest.fixture
def ada(database: Database) -> AgentUnderTest:
    return AgentUnderTest(database)


@pytest.fixture
def mailbox(ada: AgentUnderTest) -> Mailbox:
    return Mailbox(ada)
