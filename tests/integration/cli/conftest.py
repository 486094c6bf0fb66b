from __future__ import annotations

from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from memci.config import Settings
from tests.integration.http.serving import Served, served


@pytest.fixture
def server(database_url: str, broker_url: str) -> Iterator[Served]:
    """The API without a worker."""
    settings = Settings(
        database_url=SecretStr(database_url), broker_url=SecretStr(broker_url), read_timeout_ms=300
    )
    with served(settings) as running:
        yield running
