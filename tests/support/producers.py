"""For tests of producers without memci: a worker for all queues, and reads of its results."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import redis

from memci.broker.names import (
    AGENT_PREFIX,
    COMPRESS_QUEUE,
    LANE_QUEUE,
    READ_QUEUE,
    UPKEEP_QUEUE,
)
from memci.testing import wait_until
from tests.support import parts

_ALL_QUEUES = ",".join([LANE_QUEUE, COMPRESS_QUEUE, READ_QUEUE, UPKEEP_QUEUE])
_WORKER = (
    f"celery -A workers worker -n everything@%h -Q {_ALL_QUEUES} -P threads -c 6"
    " --without-gossip --without-mingle -E"
).split()


@dataclass(frozen=True)
class Deployment:
    """memci as a producer uses it: a broker, with a worker for all queues."""

    database_url: str
    broker_url: str

    def job(self, job_id: str) -> dict[str, Any] | None:
        """State, kind and last seq of a job."""
        return self._row("SELECT state, kind, last_seq, source FROM job WHERE id = %s", job_id)

    def wait_done(self, job_id: str) -> dict[str, Any]:
        def done() -> dict[str, Any] | None:
            job = self.job(job_id)
            return job if job and job["state"] != "queued" else None

        return wait_until(done, f"job {job_id} is done", timeout_s=60)

    def requested_passes(self, agent_id: str) -> int:
        row = self._row("SELECT compress_req FROM lane WHERE agent_id = %s", agent_id)
        return row["compress_req"] if row else 0

    def wait_idle(self, agent_id: str) -> None:
        """Wait until no job is queued and no pass is due."""
        query = """
            SELECT 1 AS idle FROM lane WHERE agent_id = %s AND compress_req = compress_done
            AND lease_until IS NULL AND NOT EXISTS
            (SELECT FROM job WHERE job.agent_id = lane.agent_id AND state = 'queued')
        """
        wait_until(lambda: self._row(query, agent_id), f"{agent_id} is idle", timeout_s=60)

    def keys_of(self, agent_id: str) -> set[str]:
        """Every key of the broker that names the agent's queue."""
        with closing(redis.Redis.from_url(self.broker_url, decode_responses=True)) as client:
            return {key for key in client.scan_iter() if f"{AGENT_PREFIX}{agent_id}" in key}

    def _row(self, query: str, *values: object) -> dict[str, Any] | None:
        url = self.database_url.replace("postgresql+psycopg://", "postgresql://")
        with psycopg.connect(url, row_factory=psycopg.rows.dict_row) as connection:
            connection.execute("SET ROLE memci_app")
            return connection.execute(query, values).fetchone()  # type: ignore[arg-type]


def identity_fields(command: Sequence[str], folder: Path, **environment: str) -> str:
    """The output of a producer's program that runs in this folder."""
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        timeout=90,
        check=True,
        text=True,
    ).stdout


@contextmanager
def deploy(database_url: str, broker_url: str, folder: Path) -> Iterator[Deployment]:
    """Start one real worker for all queues."""
    command = {"everything": _WORKER}
    with parts.start("everything", database_url, broker_url, folder, commands=command) as worker:
        worker.wait_ready()
        yield Deployment(database_url, broker_url)
        assert worker.stop() == 0, worker.log_text[-3000:]
