from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memci.embedded import Postgres, Redis
from tests.integration.http.serving import Served, served_by_workers


@pytest.fixture(scope="module")
def working(
    shared_postgres: Postgres, process_redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """The API, and a worker that reads documents."""
    folder: Path = tmp_path_factory.mktemp("workers")
    servers = (shared_postgres, process_redis)
    app = "tests.support.network_worker_app"
    with served_by_workers(servers, folder, "memci.lane", app=app) as (running, _):
        yield running
