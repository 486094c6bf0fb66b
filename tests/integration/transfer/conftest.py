from __future__ import annotations

from collections.abc import Iterator

import pytest

from memci.storage.session import Database
from tests.support.archives import another_database
from tests.support.complete_agent import complete_agent
from tests.support.databases import Databases
from tests.support.network import AgentUnderTest


@pytest.fixture
def elsewhere(databases: Databases) -> Iterator[Database]:
    """The database of another server."""
    with another_database(databases) as opened:
        yield opened


@pytest.fixture
def ada(database: Database) -> AgentUnderTest:
    """An agent with rows in every table."""
    return complete_agent(database)
