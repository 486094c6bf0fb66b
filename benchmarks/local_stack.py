"""All parts of ``memci up``, forked from one process, against each started by itself."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeAlias

from benchmarks.compare import Comparison, Size, alternate
from benchmarks.report import Bar, Finding
from benchmarks.stage import READY_S, ROOT, Stage
from memci.cli.up.addresses import PARTS, Addresses
from memci.cli.up.fork_server import ForkServer
from memci.cli.up.part import Readiness
from memci.embedded.files import free_port
from memci.testing import wait_until

_PASSWORD = "benchmark"  # noqa: S105 - of a Flower that lives for seconds
_STARTED_IN, _TAKES = Bar(0.7, at_most=True), Bar(0.6, at_most=True)

# Starts the parts with an environment, and returns the processes that take memory.
Start: TypeAlias = Callable[[Mapping[str, str], Path, ExitStack], "dict[str, int]"]


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Compare the time until all parts are ready, and their memory, shared pages counted once."""
    memory: dict[Start, list[float]] = {_forked: [], _by_themselves: []}

    def run(start: Start) -> float:
        return _measured(stage, start, memory[start])

    times = alternate(
        lambda: run(_forked),
        lambda: run(_by_themselves),
        size.pick(1, 2, 5),
        "local stack: until all parts are ready, seconds",
    )
    against = "each part started by itself"
    yield times.finding("local stack: until all parts are ready", "s", against, _STARTED_IN)
    taken = Comparison(memory[_forked], memory[_by_themselves])
    yield taken.finding("local stack: memory of all parts", "MB", against, _TAKES)


def _measured(stage: Stage, start: Start, memory: list[float]) -> float:
    addresses = Addresses("127.0.0.1", free_port(), free_port())
    with ExitStack() as stack:
        readiness = stack.enter_context(closing(Readiness(addresses, ("memci", _PASSWORD))))
        environment = {
            **stage.environment,
            "OMP_NUM_THREADS": "1",
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "MEMCI_PORT": str(addresses.port),
            "MEMCI_FLOWER_PORT": str(addresses.flower_port),
            "MEMCI_FLOWER_PASSWORD": _PASSWORD,
            "NOTIFY_SOCKET": readiness.address,
        }
        began = time.perf_counter()
        started = start(environment, stage.folder / "stack.log", stack)
        parts = {name: pid for name, pid in started.items() if name in PARTS}
        wait_until(
            lambda: set(readiness.ready(parts)) == set(PARTS), "all are ready", timeout_s=READY_S
        )
        took = time.perf_counter() - began
        memory.append(_megabytes(started.values()))
    return took


def _forked(environment: Mapping[str, str], log: Path, stack: ExitStack) -> dict[str, int]:
    server = ForkServer(environment, log)
    stack.callback(server.stop)
    server.start()
    with log.open("ab") as output:
        pids = {
            name: server.fork(name, command, environment, output.fileno())
            for name, command in PARTS.items()
        }
    parts = {name: pid for name, pid in pids.items() if pid is not None}
    return {**parts, "server": server.pid}


def _by_themselves(environment: Mapping[str, str], log: Path, stack: ExitStack) -> dict[str, int]:
    with log.open("ab") as output:
        started = {
            name: subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=output, stderr=output,
                executable=_program(command[0]),
            )
            for name, command in PARTS.items()
        }  # fmt: skip
    for each in started.values():
        stack.callback(each.wait)
        stack.callback(each.kill)
    return {name: each.pid for name, each in started.items()}


def _program(name: str) -> str:
    return str(Path(sys.executable).parent / name)


def _megabytes(pids: Collection[int]) -> float:
    """Return the memory of processes; a page that several share counts once."""
    shares = (_share(Path(f"/proc/{pid}/smaps_rollup").read_text()) for pid in pids)
    return sum(shares) / 1024


def _share(rollup: str) -> int:
    line = next(each for each in rollup.splitlines() if each.startswith("Pss:"))
    return int(line.split()[1])
