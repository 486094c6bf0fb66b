"""The parts of a running memci: the same command lines as in the Procfile."""

from __future__ import annotations

from collections.abc import Mapping

Command = tuple[str, ...]


def _worker(name: str, queue: str, *pool: str) -> Command:
    quiet = ("--without-gossip", "--without-mingle", "-E")
    return ("celery", "-A", "workers", "worker", "-n", f"{name}@%h", "-Q", queue, *pool, *quiet)


PARTS: Mapping[str, Command] = {
    "api": ("python", "-m", "memci.http"),
    "lane": _worker("lane", "memci.lane", "-P", "threads", "-c", "8"),
    "compress": _worker("compress", "memci.compress", "-P", "threads", "-c", "4"),
    "context": _worker("context", "memci.read", "-P", "threads", "-c", "16"),
    "upkeep": _worker("upkeep", "memci.upkeep", "-P", "solo"),
    "beat": ("celery", "-A", "workers", "beat"),
    "flower": ("python", "-m", "workers.flower"),
}
WORKERS = ("lane", "compress", "context", "upkeep")

# No new work first; the workers end their jobs while the bell and the sweeper still run.
STOP_ORDER: tuple[tuple[str, ...], ...] = (
    ("beat", "api", "flower"),
    ("context", "lane", "compress"),
    ("upkeep",),
)
