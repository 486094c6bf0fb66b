"""Fixtures for tests of faults."""

from __future__ import annotations

import pytest


@pytest.fixture
def upkeep(fleet):
    """Starts the sweep and the queue watch as real processes."""
    fleet.start("memci.upkeep", ready=False)
    fleet.start_beat()
