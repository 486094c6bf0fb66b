from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
import redis
from sqlalchemy.engine import make_url

from memci.broker.app import make_app
from memci.broker.wakeup import Wakeups
from memci.storage.session import Database
from tests.support.erasing import Eraser
from tests.support.mailbox import Mailbox
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding


@pytest.fixture
def superuser(shared_postgres: Any, database_url: str) -> Iterator[psycopg.Connection]:
    """A connection as superuser: it sees all rows, whatever the row policies."""
    name = make_url(database_url).database or ""
    with closing(shared_postgres.connect_as_superuser(name)) as connection:
        yield connection


@pytest.fixture
def ada(database: Database) -> AgentUnderTest:
    return AgentUnderTest(database)


@pytest.fixture
def mailbox(ada: AgentUnderTest) -> Mailbox:
    return Mailbox(ada)


@pytest.fixture
def eraser(database: Database, broker_url: str, client: redis.Redis) -> Iterator[Eraser]:
    with make_app(broker_url) as app:
        yield Eraser(database, Wakeups(app), client)


@pytest.fixture
def seeded(mailbox: Mailbox) -> Mailbox:
    """A mailbox whose agent has memories of [Grace] and [Oslo], of [Oslo], and of [Grace]."""
    mailbox.append(
        "one is about [Grace] in [Oslo]", "two is about [Oslo] again", "three is about [Grace] now",
        ids=["m1", "m2", "m3"],
    )  # fmt: skip
    mailbox.run()
    return mailbox


@pytest.fixture
def rebuilding(ada: AgentUnderTest) -> Rebuilding:
    return Rebuilding(ada)
