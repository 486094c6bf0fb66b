from __future__ import annotations

from collections.abc import Iterator

import pytest

from memci import Memci
from memci.client import Agent
from tests.integration.http.serving import Served, served_alone


@pytest.fixture
def server(database_url: str, broker_url: str) -> Iterator[Served]:
    with served_alone(database_url, broker_url) as running:
        yield running


@pytest.fixture
def agent(server: Served) -> Iterator[Agent]:
    with Memci(server.url) as memci:
        yield memci.agent("alice")
