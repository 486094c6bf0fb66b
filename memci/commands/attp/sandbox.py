"""Run a model's Python in a sandbox: no failure of it is a failure of ours (P15).

The interpreter is pydantic-monty's. It has no files, network or environment, and runs in a process
of its own, a new one for each run, with nothing inherited: what breaks it breaks nothing else, and
no run finds anything of another. It keeps its own limits of time, memory and depth; where it
cannot look (within one long multiplication, say), the process is killed when the time is up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING

from memci.commands.attp.deadline import Deadline
from memci.commands.attp.hosting import Function, Hosting
from memci.commands.attp.imports import first_forbidden, refusal
from memci.commands.attp.outcome import Fault, Outcome, StopError, fault_of
from memci.commands.attp.plain import Plain
from memci.commands.attp.run import Printed, Run
from memci.errors import ConfigurationError, UnavailableError

if TYPE_CHECKING:
    from pydantic_monty import Monty, MontyRuntimeError, MontySession, MontySyntaxError

MIB = 2**20
# Looking up names goes back and forth as well.
_LOOKUPS = 1_000
_ALL_AT_WORK = (
    "all sandboxes are at work; try again in a moment, or set MEMCI_SANDBOX_PROCESSES higher"
)
_LESS = "Do less in one call."
_BROKEN = Fault("SystemError", "the code broke the interpreter", advice="Write it more simply.")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use: seconds by the clock, with all calls; characters of text.

    ``longest`` holds for the arguments and for the answer of one call, ``result`` for
    ``__result__``; what is printed above ``printed`` is cut. ``notes`` are new ones.
    """

    seconds: float = 5.0
    memory_bytes: int = 32 * MIB
    calls: int = 100
    notes: int = 20
    depth: int = 200
    longest: int = 200_000
    result: int = 20_000
    printed: int = 4_000


@dataclass
class Sandbox:
    """Runs code, in at most so many processes at once; other runs wait."""

    limits: Limits = field(default_factory=Limits)
    processes: int = 4
    _pool: Monty | None = None
    _making: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._places = BoundedSemaphore(self.processes)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Wait until a process is free: a run in this block begins at once.

        Raises ``UnavailableError`` when none gets free in the time that a run may take.
        """
        if not self._places.acquire(timeout=self.limits.seconds):
            raise UnavailableError(_ALL_AT_WORK)
        try:
            yield
        finally:
            self._places.release()

    def run(
        self, code: str, functions: Mapping[str, Function], *, seconds: float | None = None
    ) -> Outcome:
        """Run code with functions, for at most so many seconds (None: as the limits say).

        Whatever the code does comes back as an outcome. Raises ``UnavailableError`` when no
        process got free meanwhile, and ``ConfigurationError`` without an interpreter.
        """
        code = code.encode(errors="replace").decode()
        forbidden = first_forbidden(code)
        if forbidden is not None:
            return Outcome(fault=Fault("ImportError", refusal(forbidden.module), forbidden.line))
        hosting = Hosting(functions, self.limits.calls, self.limits.longest)
        run = Run(code, hosting, self.limits.result, Printed(self.limits.printed))
        try:
            result = self._run(run, self.limits.seconds if seconds is None else seconds)
        except StopError as stop:
            return Outcome(printed=run.printed.text, calls=hosting.calls, fault=stop.fault)
        return Outcome(result, run.printed.text, hosting.calls)

    def _run(self, run: Run, seconds: float) -> Plain:
        from pydantic_monty import (  # noqa: PLC0415 - ten megabytes: only where code is run
            MontyCrashedError,
            MontyRuntimeError,
            MontySyntaxError,
        )

        with self._session(seconds) as session, Deadline(session.worker_pid, seconds) as deadline:
            try:
                return run.drive(session, deadline)
            except MontyCrashedError:
                raise StopError(deadline.fault if deadline.passed else _BROKEN) from None
            except (MontyRuntimeError, MontySyntaxError) as error:
                raise StopError(self._fault(error, run.code, deadline)) from None

    def _fault(
        self, error: MontyRuntimeError | MontySyntaxError, code: str, deadline: Deadline
    ) -> Fault:
        fault = fault_of(error, code)
        if "time limit exceeded" in fault.message:
            return deadline.fault
        if fault.kind == "MemoryError" and "limit" in fault.message:
            most = self.limits.memory_bytes // MIB
            return replace(fault, message=f"the code needed more than {most} MiB of memory")
        if fault.kind == "RuntimeError" and "suspension" in fault.message:
            return replace(fault, message="the code made too many calls", advice=_LESS)
        return fault

    @contextmanager
    def _session(self, seconds: float) -> Iterator[MontySession]:
        from pydantic_monty import MontyError  # noqa: PLC0415 - only where code is run

        session = self._processes().checkout(
            limits={
                "max_feed_duration_secs": seconds,
                "max_memory": self.limits.memory_bytes,
                "max_recursion_depth": self.limits.depth,
                "max_suspensions": self.limits.calls + _LOOKUPS,
            },
            os_policy={"sleep": "call_host"},
        )
        with ExitStack() as leaving:
            try:
                leaving.enter_context(session)
            except TimeoutError:
                raise UnavailableError(_ALL_AT_WORK) from None
            except (MontyError, OSError, RuntimeError) as error:
                raise UnavailableError(
                    f"the sandbox does not start ({error}); try again in a moment"
                ) from error
            yield session

    def _processes(self) -> Monty:
        with self._making:
            if self._pool is None:
                self._pool = self._start()
            return self._pool

    def _start(self) -> Monty:
        try:
            from pydantic_monty import Monty  # noqa: PLC0415 - only where code is run

            return Monty(
                max_processes=self.processes,
                checkout_timeout=self.limits.seconds,
                request_timeout=self.limits.seconds + 1,
                max_checkouts_per_worker=1,
            ).__enter__()
        except (ImportError, OSError, RuntimeError) as error:
            raise ConfigurationError(
                f"the sandbox does not start ({error}): install pydantic-monty, whose program "
                "`monty` must be beside python, on the PATH, or named by MONTY_BIN"
            ) from error

    def close(self) -> None:
        """End the processes."""
        with self._making:
            if self._pool is not None:
                self._pool.__exit__(None, None, None)
                self._pool = None
