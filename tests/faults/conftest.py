"""A pair of servers, a producer and a fleet for each fault."""

from __future__ import annotations

import pytest

from tests.support import fleet as fleets
from tests.support import lanes


@pytest.fixture
def producer(database_url, broker_url):
    with lanes.producer(database_url, broker_url) as made:
        yield made


@pytest.fixture
def fleet(database_url, broker_url, tmp_path):
    with fleets.fleet(database_url, broker_url, tmp_path) as made:
        yield made


@pytest.fixture
def upkeep(fleet):
    """The sweeper and the bell, as real processes."""
    fleet.start("memci.upkeep", ready=False)
    fleet.start_beat()
