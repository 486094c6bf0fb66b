"""An agent with three interactions; its page texts are in PostgreSQL or in files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from memci.broker.app import make_app
from memci.broker.wakeup import Wakeups
from memci.storage.page_store.local import FilePageStore
from memci.storage.page_store.port import PageStore
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.session import Database
from tests.support.erasing import Eraser
from tests.support.network import AgentUnderTest
from tests.support.page_folders import Folders


@pytest.fixture(params=["postgres", "files"])
def store(request: pytest.FixtureRequest, database: Database, tmp_path: Path) -> PageStore:
    return PostgresPageStore(database) if request.param == "postgres" else FilePageStore(tmp_path)


@pytest.fixture
def eraser(
    database: Database, store: PageStore, broker_url: str, client: redis.Redis
) -> Iterator[Eraser]:
    with make_app(broker_url) as app:
        yield Eraser(database, Wakeups(app), client, texts=store)


@pytest.fixture
def ada(database: Database) -> AgentUnderTest:
    ada = AgentUnderTest(database)
    for number in range(3):
        ada.say(f"Question {number}?")
        ada.say(f"Answer {number}.", role="assistant")
    ada.execute("UPDATE lane SET written_at = now() WHERE agent_id = %s")
    return ada


@pytest.fixture
def pages(ada: AgentUnderTest, store: PageStore) -> Folders:
    return Folders(ada.database, store)
