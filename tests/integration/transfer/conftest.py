from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from memci.embedded import Postgres
from memci.storage.session import Database
from memci.testing import database_copy
from tests.support.lives import a_whole_life
from tests.support.network import AgentUnderTest


@pytest.fixture
def elsewhere(shared_postgres: Postgres) -> Iterator[Database]:
    """Another server's database."""
    with database_copy(shared_postgres) as url, closing(Database(url)) as opened:
        yield opened


@pytest.fixture
def ada(database: Database) -> AgentUnderTest:
    """An agent with rows in every table."""
    return a_whole_life(database)
