from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from sqlalchemy.engine import make_url

from memci.storage.session import Database
from tests.support.mailbox import Mailbox
from tests.support.network import AgentUnderTest


@pytest.fixture
def superuser(shared_postgres: Any, database_url: str) -> Iterator[psycopg.Connection]:
    """What the server holds, whoever may see it: no policy of rows stands in between."""
    name = make_url(database_url).database or ""
    with closing(shared_postgres.connect_as_superuser(name)) as connection:
        yield connection


@pytest.fixture
def ada(database: Database) -> AgentUnderTest:
    return AgentUnderTest(database)


@pytest.fixture
def mailbox(ada: AgentUnderTest) -> Mailbox:
    return Mailbox(ada)
