"""Run a model's Python in a sandbox, isolated from our process (P15).

The interpreter is pydantic-monty's. It has no files, network or environment. Each run has a new
process, which inherits nothing: a broken interpreter breaks nothing else, and no run sees data of
another. The interpreter enforces limits of time, memory and depth; where it cannot (within one long
multiplication, for example), the process is killed when the time is up.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import BoundedSemaphore, Lock, Timer
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from memci.commands.attp import sandbox_functions as allowed
from memci.commands.attp.outcome import (
    MODEL_CODE,
    Fault,
    JsonValue,
    NotJsonError,
    Outcome,
    StopError,
    fault_of,
    to_json_value,
)
from memci.commands.attp.sandbox_functions import CallError, Function, HostFunctions
from memci.errors import ConfigurationError, UnavailableError

if TYPE_CHECKING:
    import pydantic_monty as monty

# In this time after the deadline the interpreter itself reports it, with the line.
_GRACE_S = 0.2


@dataclass
class Deadline:
    """Kills a process when its time is up, unless the block has ended before."""

    pid: int | None
    seconds: float
    passed: bool = False
    _left: bool = False
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._end = monotonic() + self.seconds
        self._timer = Timer(self.seconds + _GRACE_S, self._kill)
        self._timer.daemon = True
        message = f"the code ran for more than {self.seconds:.3g} s"
        self.fault = Fault("TimeoutError", message, advice=_LESS)

    def check(self) -> None:
        """Raise ``StopError`` if the time is up: the interpreter does not check between calls."""
        if monotonic() >= self._end:
            raise StopError(self.fault)

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        # Afterwards the process id may belong to another process.
        with self._lock:
            self._left = True
        self._timer.cancel()

    def _kill(self) -> None:
        with self._lock:
            if self._left:
                return
            self.passed = True
            if self.pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGKILL)


_RESULT = "__result__"


@dataclass
class SandboxRun:
    """Code, the functions that it may call, and the text that it has printed."""

    code: str
    hosting: HostFunctions
    limits: Limits
    printed: str = ""

    def drive(self, session: monty.MontySession, deadline: Deadline) -> JsonValue:
        """Run the code; return ``__result__``. Raises ``StopError`` and pydantic-monty's errors."""
        import pydantic_monty as monty  # noqa: PLC0415 - ten megabytes: only to run code

        session.feed_run(allowed.PRELUDE)
        self._complete(session.feed_start(self.code, print_callback=self._print), deadline)
        found = session.feed_start(_RESULT)
        if isinstance(found, monty.NameLookupSnapshot):  # there is no such name
            return None
        complete = self._complete(found, deadline)
        try:
            return to_json_value(_read(lambda: complete.output), self.limits.result, _RESULT)
        except NotJsonError as error:
            raise StopError(
                Fault("TypeError", str(error), advice="Leave a smaller or simpler result.")
            ) from None

    def _print(self, _stream: str, text: str) -> None:
        room = self.limits.printed - len(self.printed)
        if room > 0:
            self.printed += text if len(text) <= room else f"{text[:room]}…"

    def _complete(self, snapshot: monty.SyncSnapshot, deadline: Deadline) -> monty.MontyComplete:
        import pydantic_monty as monty  # noqa: PLC0415 - ten megabytes: only to run code

        while not isinstance(snapshot, monty.MontyComplete):
            deadline.check()
            if isinstance(snapshot, monty.FunctionSnapshot):
                snapshot = self._call(snapshot)
            elif isinstance(snapshot, monty.NameLookupSnapshot):
                snapshot = self._look_up(snapshot)
            else:
                raise StopError(
                    Fault("RuntimeError", "the code awaits what does not finish", advice=_NO_WAIT)
                )
        return snapshot

    def _call(self, snapshot: monty.FunctionSnapshot) -> monty.SyncSnapshot:
        try:
            if snapshot.is_os_function:
                raise _refusal(snapshot)
            args, kwargs = _read(lambda: (snapshot.args, snapshot.kwargs))
            answer = self.hosting.call(snapshot.function_name, args, kwargs)
        except NotJsonError as error:
            return snapshot.resume({"exc_type": "TypeError", "message": str(error)})
        except StopError as stop:
            place = snapshot.position
            if place.filename != MODEL_CODE:
                raise
            line = self.code.encode()[: place.start].count(b"\n") + 1
            raise StopError(stop.fault.at(line, self.code)) from None
        except CallError as error:
            return snapshot.resume({"exc_type": error.kind, "message": str(error)})
        return snapshot.resume({"return_value": answer})

    def _look_up(self, snapshot: monty.NameLookupSnapshot) -> monty.SyncSnapshot:
        """Resolve a name that is read but not called, such as ``look`` in ``f = look``."""
        if snapshot.variable_name not in self.hosting.functions:
            return snapshot.resume()

        def named() -> None:
            """Stand for the function: calls of it come to us by its name."""

        named.__name__ = snapshot.variable_name
        return snapshot.resume(value=named)


_NO_WAIT = "Call the functions directly, without await."


def _read(value: Callable[[], Any]) -> Any:
    """Read a value of the sandbox; some cannot be converted, such as endless numbers."""
    try:
        return value()
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise NotJsonError(f"a value cannot be converted: {error}") from None


def _refusal(snapshot: monty.FunctionSnapshot) -> CallError:
    """Return the error for access to the outside: other modules, files, clocks."""
    name = snapshot.function_name
    if name == "import":
        return CallError("ImportError", allowed.import_refusal(str(snapshot.args[0])))
    if name.endswith(".sleep"):
        return CallError("RuntimeError", f"{name}: nothing waits here; leave it out")
    return CallError(
        "PermissionError",
        f"{name}: there are no files, environment or network here; use the functions that you were "
        "given",
    )


MIB = 2**20
# Name lookups also suspend the code.
_LOOKUPS = 1_000
_ALL_AT_WORK = "all sandboxes are in use; try again in a moment"
_LESS = "Do less in one call."
_BROKEN = Fault("SystemError", "the code broke the interpreter", advice="Write it more simply.")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one run."""

    seconds: float = 5.0  # wall clock, including calls
    memory_bytes: int = 32 * MIB
    calls: int = 100
    notes: int = 20  # new ones
    depth: int = 200  # by the code
    # Characters: of the arguments or the answer of one call, of ``__result__``, and printed ones.
    longest: int = 200_000
    result: int = 20_000
    printed: int = 4_000


@dataclass
class Sandbox:
    """Runs code in a limited number of processes; other runs wait."""

    limits: Limits = field(default_factory=Limits)
    processes: int = 4
    _pool: monty.Monty | None = None
    _starting: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._places = BoundedSemaphore(self.processes)

    @contextmanager
    def reserve(self) -> Iterator[None]:
        """Wait until a process is free, so that a run in this block starts at once.

        Raises ``UnavailableError`` if none is free within the time limit of a run.
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
        """Run code with functions, for at most ``seconds`` (None: the limit).

        Every result or error of the code is an outcome. Raises ``UnavailableError`` if no process
        was free in time, and ``ConfigurationError`` without an interpreter.
        """
        code = code.encode(errors="replace").decode()
        forbidden = allowed.first_forbidden_import(code)
        if forbidden is not None:
            message = allowed.import_refusal(forbidden.module)
            return Outcome(fault=Fault("ImportError", message, forbidden.line))
        hosting = HostFunctions(functions, self.limits.calls, self.limits.longest)
        run = SandboxRun(code, hosting, self.limits)
        try:
            result = self._run(run, self.limits.seconds if seconds is None else seconds)
        except StopError as stop:
            return Outcome(printed=run.printed, calls=hosting.calls, fault=stop.fault)
        return Outcome(result, run.printed, hosting.calls)

    def _run(self, run: SandboxRun, seconds: float) -> JsonValue:
        import pydantic_monty as monty  # noqa: PLC0415 - ten megabytes: only to run code

        with self._session(seconds) as session, Deadline(session.worker_pid, seconds) as deadline:
            try:
                return run.drive(session, deadline)
            except monty.MontyCrashedError:
                raise StopError(deadline.fault if deadline.passed else _BROKEN) from None
            except (monty.MontyRuntimeError, monty.MontySyntaxError) as error:
                raise StopError(self._fault(error, run.code, deadline)) from None

    def _fault(
        self, error: monty.MontyRuntimeError | monty.MontySyntaxError, code: str, deadline: Deadline
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
    def _session(self, seconds: float) -> Iterator[monty.MontySession]:
        import pydantic_monty as monty  # noqa: PLC0415 - ten megabytes: only to run code

        with self._starting:
            if self._pool is None:
                self._pool = self._start()
        session = self._pool.checkout(
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
            except (monty.MontyError, OSError, RuntimeError) as error:
                raise UnavailableError(
                    f"the sandbox does not start ({error}); try again in a moment"
                ) from error
            yield session

    def _start(self) -> monty.Monty:
        try:
            import pydantic_monty as monty  # noqa: PLC0415 - ten megabytes: only to run code

            return monty.Monty(
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
        with self._starting:
            if self._pool is not None:
                self._pool.__exit__(None, None, None)
                self._pool = None
