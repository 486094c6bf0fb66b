"""Shared fixtures, which ``tests/conftest.py`` exports to all tests."""

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
    """The ``Database`` of the test."""
    with closing(Database(database_url)) as opened:
        yield opened


@pytest.fixture(scope="module")
def module_database(databases: Databases) -> Iterator[Database]:
    """Open one database for all tests of a module; each must use its own rows."""
    with databases.lend() as url, closing(Database(url)) as opened:
        yield opened


@pytest.fixture
def client(broker_url: str) -> Iterator[redis.Redis]:
    """A Redis client for the test's broker; it returns bytes."""
    with closing(redis.Redis.from_url(broker_url)) as made:
        yield made


@pytest.fixture
def producer(database_url: str, broker_url: str) -> Iterator[lanes.Producer]:
    """Sends scripted jobs, and reads their effects."""
    with lanes.producer(database_url, broker_url) as made:
        yield made


@pytest.fixture
def fleet(database_url: str, broker_url: str, tmp_path: Path) -> Iterator[fleets.Fleet]:
    """Starts workers, and stops them after the test."""
    with fleets.fleet(database_url, broker_url, tmp_path) as made:
        yield made
