from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.http.serving import Served, served_alone


@pytest.fixture
def server(database_url: str, broker_url: str) -> Iterator[Served]:
    """The API without a worker."""
    with served_alone(database_url, broker_url) as running:
        yield running


@pytest.fixture
def settings(server: Served) -> dict[str, str]:
    """Settings of commands that ask this API."""
    return {"MEMCI_API_URL": server.url}
