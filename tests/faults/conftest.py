"""A pair of servers, a producer and a fleet for each fault."""

from __future__ import annotations

import pytest


@pytest.fixture
def upkeep(fleet):
    """The sweep and the queue watch, as real processes."""
    fleet.start("memci.upkeep", ready=False)
    fleet.start_beat()
