"""Real worker processes that a test can start, kill and freeze; all end with the test."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memci.testing import wait_until
from tests.support.fork_server import ForkedProcess, fork_server

ROOT = Path(__file__).parents[2]
_POOLS = {
    "memci.lane": ["-P", "threads", "-c", "2"],
    "memci.compress": ["-P", "threads", "-c", "1"],
    "memci.read": ["-P", "threads", "-c", "2"],
    "memci.upkeep": ["-P", "threads", "-c", "4"],
}
# For workers that need no vectors: loading an offline model takes many seconds.
NO_MODEL = {
    "MEMCI_MODELS__EMBEDDER__MODEL": "llm:openai/nobody",
    "MEMCI_LLM__API_BASE": "http://127.0.0.1:1",
    "MEMCI_LLM__API_KEY": "none",
    "MEMCI_MODELS__EMBEDDER__DIMENSION": "8",
}


@dataclass
class Worker:
    """One process."""

    name: str
    process: ForkedProcess
    log: Path

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        self.process.wait(10)

    @property
    def log_text(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_ready(self) -> None:
        def ready() -> bool:
            assert self.process.poll() is None, f"{self.name} ended:\n{self.log_text[-3000:]}"
            return " ready." in self.log_text or "beat: Starting" in self.log_text

        wait_until(ready, f"{self.name} is ready", timeout_s=40)


@dataclass
class Fleet:
    """All workers of one test."""

    environment: dict[str, str]
    folder: Path
    app: str = "tests.support.worker_app"
    yields: bool = False  # whether compress workers yield the processor, as in a deployment
    workers: list[Worker] = field(default_factory=list)

    def start(self, queue: str, *, ready: bool = True, **environment: str) -> Worker:
        name = f"w{len(self.workers)}"
        # Only workers of this queue yield the processor. With busy processors, they would lose
        # their short leases.
        queues = f"{queue},memci.none" if queue == "memci.compress" and not self.yields else queue
        return self._launch(
            name,
            ["worker", "-n", f"{name}@test", "-Q", queues, *_POOLS.get(queue, ["-P", "solo"]),
             "--without-gossip", "--without-mingle", "-E", "-l", "INFO"],
            environment,
            ready=ready,
        )  # fmt: skip

    def start_beat(self, **environment: str) -> Worker:
        return self._launch(f"beat{len(self.workers)}", ["beat"], environment, ready=True)

    def _launch(
        self, name: str, arguments: list[str], environment: dict[str, str], *, ready: bool
    ) -> Worker:
        log = self.folder / f"{name}.log"
        log.touch()
        process = fork_server().start(
            ["celery", "-A", self.app, *arguments],
            {**os.environ, "PYTHONPATH": str(ROOT), **self.environment, **environment},
            ROOT,
            *(Path(os.devnull), log, log),
        )
        worker = Worker(name, process, log)
        self.workers.append(worker)
        if ready:
            worker.wait_ready()
        return worker

    def close(self) -> None:
        for worker in self.workers:
            if worker.process.poll() is None:
                worker.send(signal.SIGCONT)
                worker.send(signal.SIGKILL)
            worker.process.wait(10)
            # pytest shows the end of the log when the test fails.
            print(worker.name, worker.log_text[-2000:], sep="\n")  # noqa: T201


@contextmanager
def fleet(database_url: str, broker_url: str, folder: Path, **environment: str) -> Iterator[Fleet]:
    """Lend a fleet with short leases, so that they expire soon."""
    made = Fleet(
        {
            "MEMCI_DATABASE_URL": database_url,
            "MEMCI_BROKER_URL": broker_url,
            "MEMCI_TEST_FOLDER": str(folder),
            "MEMCI_QUEUE_LEASE_MS": "1500",
            **environment,
        },
        folder,
    )
    try:
        yield made
    finally:
        made.close()
