"""Jobs that run the script in their message, and record the order of their effects.

A message's metadata is the script: ``wait_ms``, ``until`` (a file in the test's folder that the
job waits for and removes; ``.waits`` is there meanwhile), ``die`` ("prepare" or "always"),
``raise`` ("transient" or "bug"). Each effect is one row of ``trail``: node_id = seq, in the order
of ids.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memci.domain.job import Job
from memci.errors import SmallModelUnavailableError
from memci.queue.runner import Effect, Handler
from memci.storage.session import Database
from memci.telemetry.traces import Traces
from memci.testing import wait_until
from tests.support.lanes import messages_of

_RECORD = """
INSERT INTO trail (agent_id, node_id, event, pass_number, details)
SELECT %s, unnest(%s::bigint[]), %s, 0, '{}'
"""


def die_once(marker: Path) -> None:
    """Kill this process with SIGKILL, but only the first time."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


class ScriptedHandler:
    """Runs one kind of job by the script in its messages."""

    triggers_compression = False

    def __init__(self, kind: str, database: Database, folder: Path) -> None:
        self.kind = kind
        self._database = database
        self._folder = folder

    def prepare(self, job: Job) -> Effect:
        first, last = job.first_seq or 0, job.last_seq or -1
        messages = messages_of(self._database, job.agent_id, first, last)
        for message in messages:
            self._follow(message.metadata, job)
        seqs = [message.seq for message in messages]

        def effect(connection):
            connection.exec_driver_sql(_RECORD, (job.agent_id, seqs, "effect"))
            return {"messages": len(seqs)}

        return effect

    def _follow(self, script: Mapping[str, Any], job: Job) -> None:
        time.sleep(script.get("wait_ms", 0) / 1000)
        if "until" in script:
            file = self._folder / script["until"]
            waits = file.with_suffix(".waits")
            waits.touch()
            wait_until(file.exists, "the file is there", timeout_s=60)
            file.unlink()
            waits.unlink()
        match script.get("die"):
            case "prepare":
                die_once(self._folder / f"prepare-{job.id}")
            case "always":
                os.kill(os.getpid(), signal.SIGKILL)
        match script.get("raise"):
            case "transient":
                raise SmallModelUnavailableError
            case "bug":
                raise ZeroDivisionError("secret text")


class NoIndexing:
    """Does nothing for the jobs that index messages of dead and cancelled jobs."""

    kind = "memci.message.index"
    triggers_compression = False

    def prepare(self, job: Job) -> Effect:
        return lambda connection: {"indexed": 0}


class NodeByNode:
    """A pass whose scan of a node takes as many milliseconds as the node's content says."""

    def __init__(self, database: Database, slice_ms: int) -> None:
        self._database = database
        self._slice_ms = slice_ms

    def slice_ms(self, agent_id: str) -> int:
        return self._slice_ms

    def step(self, lease, *, budget_ms: int) -> bool:
        with self._database.agent_snapshot(lease.agent_id) as connection:
            row = connection.exec_driver_sql(
                "SELECT id, content::int FROM node WHERE agent_id = %s AND last_pass = 0"
                " ORDER BY id LIMIT 1",
                (lease.agent_id,),
            ).first()
        if row is not None:
            time.sleep(row[1] / 1000)
        with lease.effect() as connection:
            if row is None:
                connection.exec_driver_sql(
                    "UPDATE lane SET compress_done = compress_req WHERE agent_id = %s",
                    (lease.agent_id,),
                )
                return False
            connection.exec_driver_sql(
                "UPDATE node SET last_pass = 1 WHERE agent_id = %s AND id = %s",
                (lease.agent_id, row[0]),
            )
            connection.exec_driver_sql(_RECORD, (lease.agent_id, [row[0]], "scan"))
            return True


def scripted_handlers(database: Database, folder: Path) -> dict[str, Handler]:
    """The ``handlers`` of the runtime in these tests."""
    create = ScriptedHandler("memci.memory.create", database, folder)
    return {create.kind: create, NoIndexing.kind: NoIndexing()}


class DyingTraces(Traces):
    """Kills the process once, right after the commit of an effect."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    @contextmanager
    def span(self, name, *, parent=None, **attributes):
        yield parent
        die_once(self._marker)


class DyingQueues:
    """Agents' queues that kill the process once between COMMIT and removal."""

    def __init__(self, queues, marker: Path) -> None:
        self._queues = queues
        self._marker = marker

    def __getattr__(self, name):
        return getattr(self._queues, name)

    def take(self, *request):
        return DyingBatch(self._queues.take(*request), self._marker)


class DyingBatch:
    def __init__(self, batch, marker: Path) -> None:
        self._batch = batch
        self._marker = marker

    def __getattr__(self, name):
        return getattr(self._batch, name)

    def confirm(self) -> None:
        if self._batch.raw:
            die_once(self._marker)
        self._batch.confirm()
