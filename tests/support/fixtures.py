"""What tests of several kinds stand on; ``tests/conftest.py`` makes it known to all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import redis

from memci.storage.session import Database
from tests.support import fleet as fleets
from tests.support import lanes
from tests.support.databases import Databases


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """The doors to the test's database."""
    with closing(Database(database_url)) as opened:
        yield opened


@pytest.fixture(scope="module")
def module_database(databases: Databases) -> Iterator[Database]:
    """Open one database for all tests of a module, which keep to rows of their own."""
    with databases.lend() as url, closing(Database(url)) as opened:
        yield opened


@pytest.fixture
def client(broker_url: str) -> Iterator[redis.Redis]:
    """A look into the test's broker, which is a Redis; it answers bytes."""
    with closing(redis.Redis.from_url(broker_url)) as made:
        yield made


@pytest.fixture
def producer(database_url: str, broker_url: str) -> Iterator[lanes.Producer]:
    """Puts scripted work in, and reads what came of it."""
    with lanes.producer(database_url, broker_url) as made:
        yield made


@pytest.fixture
def fleet(database_url: str, broker_url: str, tmp_path: Path) -> Iterator[fleets.Fleet]:
    """Starts workers, none of which outlives the test."""
    with fleets.fleet(database_url, broker_url, tmp_path) as made:
        yield made
