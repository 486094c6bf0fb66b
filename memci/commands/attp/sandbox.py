"""Run a model's Python in a sandbox: no failure of it is a failure of ours (P15).

The interpreter is pydantic-monty's. It has no files, network or environment, and runs in a process
of its own, a new one for each run, with nothing inherited: what breaks it breaks nothing else, and
no run finds anything of another. It keeps its own limits of time, memory and depth; where it
cannot look (within one long multiplication, say), the process is killed when the time is up.

The end of a run by the clock: a process that is not done by then is killed.

One run of a model's code in an interpreter that is its own (P15).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import BoundedSemaphore, Lock, Timer
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from memci.commands.attp.outcome import (
    ITS_OWN,
    Fault,
    JsonValue,
    NotJsonError,
    Outcome,
    StopError,
    fault_of,
    to_json_value,
)
from memci.commands.attp.sandbox_functions import (
    PRELUDE,
    CallError,
    Function,
    HostFunctions,
    first_forbidden_import,
    import_refusal,
)
from memci.errors import ConfigurationError, UnavailableError

# Within it the interpreter says itself that the time is up, and in which line.
_GRACE_S = 0.2


@dataclass
class Deadline:
    """Kills a process when its time is up, unless it was left before."""

    pid: int | None
    seconds: float
    passed: bool = False
    _left: bool = False
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._end = monotonic() + self.seconds
        self._timer = Timer(self.seconds + _GRACE_S, self._kill)
        self._timer.daemon = True

    def check(self) -> None:
        """Raise ``StopError`` when the time is up: between two calls of ours nobody else looks."""
        if monotonic() >= self._end:
            raise StopError(self.fault)

    @property
    def fault(self) -> Fault:
        """What to say when the time is up."""
        return Fault(
            "TimeoutError",
            f"the code ran for more than {self.seconds:.3g} s",
            advice="Do less in one call.",
        )

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # After this the number may be that of another process.
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


if TYPE_CHECKING:
    from pydantic_monty import (
        FunctionSnapshot,
        MontyComplete,
        MontySession,
        NameLookupSnapshot,
        SyncSnapshot,
    )

RESULT = "__result__"


@dataclass
class PrintedOutput:
    """What code prints, up to a limit."""

    limit: int
    text: str = ""

    def take(self, _stream: str, text: str) -> None:
        """Keep what there is room for."""
        room = self.limit - len(self.text)
        if room > 0:
            self.text += text if len(text) <= room else f"{text[:room]}…"


@dataclass
class SandboxRun:
    """Code, the functions that it may call, and what it printed so far."""

    code: str
    hosting: HostFunctions
    longest_result: int
    printed: PrintedOutput

    def drive(self, session: MontySession, deadline: Deadline) -> JsonValue:
        """Run the code to its end, and return what it left in ``__result__``.

        Raises ``StopError`` and pydantic-monty's errors.
        """
        session.feed_run(PRELUDE)
        self._complete(session.feed_start(self.code, print_callback=self.printed.take), deadline)
        return self._result(session, deadline)

    def _result(self, session: MontySession, deadline: Deadline) -> JsonValue:
        found = session.feed_start(RESULT)
        if _is_lookup(found):
            return None
        complete = self._complete(found, deadline)
        try:
            return to_json_value(_value(lambda: complete.output), self.longest_result, RESULT)
        except NotJsonError as error:
            raise StopError(
                Fault("TypeError", str(error), advice="Leave a smaller or simpler result.")
            ) from None

    def _complete(self, snapshot: SyncSnapshot, deadline: Deadline) -> MontyComplete:
        from pydantic_monty import (  # noqa: PLC0415 - as in sandbox.py
            FunctionSnapshot,
            MontyComplete,
            NameLookupSnapshot,
        )

        while not isinstance(snapshot, MontyComplete):
            deadline.check()
            if isinstance(snapshot, FunctionSnapshot):
                snapshot = self._called(snapshot)
            elif isinstance(snapshot, NameLookupSnapshot):
                snapshot = self._looked_up(snapshot)
            else:
                raise StopError(
                    Fault("RuntimeError", "the code waits for what never comes", advice=_NO_WAIT)
                )
        return snapshot

    def _called(self, snapshot: FunctionSnapshot) -> SyncSnapshot:
        try:
            if snapshot.is_os_function:
                raise _refused(snapshot)
            args, kwargs = _value(lambda: (snapshot.args, snapshot.kwargs))
            answer = self.hosting.call(snapshot.function_name, args, kwargs)
        except NotJsonError as error:
            return snapshot.resume({"exc_type": "TypeError", "message": str(error)})
        except StopError as stop:
            raise StopError(stop.fault.at(self._line(snapshot), self.code)) from None
        except CallError as error:
            return snapshot.resume({"exc_type": error.kind, "message": str(error)})
        return snapshot.resume({"return_value": answer})

    def _line(self, snapshot: FunctionSnapshot) -> int | None:
        place = snapshot.position
        if place.filename != ITS_OWN:
            return None
        return self.code.encode()[: place.start].count(b"\n") + 1

    def _looked_up(self, snapshot: NameLookupSnapshot) -> SyncSnapshot:
        """Answer for a name that is not called but read: as ``look`` in ``f = look``."""
        function = self.hosting.functions.get(snapshot.variable_name)
        if function is None:
            return snapshot.resume()

        def named() -> None:
            """Stand for the function: calls of it come to us by its name."""

        named.__name__ = snapshot.variable_name
        return snapshot.resume(value=named)


_NO_WAIT = "Call the functions directly, without await."


def _is_lookup(snapshot: SyncSnapshot) -> bool:
    from pydantic_monty import NameLookupSnapshot  # noqa: PLC0415 - as in sandbox.py

    return isinstance(snapshot, NameLookupSnapshot)


def _value(read: Callable[[], Any]) -> Any:
    """Read a value that came from the sandbox; some cannot be made here, as endless numbers."""
    try:
        return read()
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise NotJsonError(f"a value cannot cross: {error}") from None


def _refused(snapshot: FunctionSnapshot) -> CallError:
    """Refuse what would reach outside: imports of more modules, files, clocks to wait for."""
    name = snapshot.function_name
    if name == "import":
        return CallError("ImportError", import_refusal(str(snapshot.args[0])))
    if name.endswith(".sleep"):
        return CallError("RuntimeError", f"{name}: nothing waits here; leave it out")
    return CallError(
        "PermissionError",
        f"{name}: there are no files, environment or network here; use the functions that you were "
        "given",
    )


if TYPE_CHECKING:
    from pydantic_monty import Monty, MontyRuntimeError, MontySession, MontySyntaxError

MIB = 2**20
# Looking up names goes back and forth as well.
_LOOKUPS = 1_000
_ALL_AT_WORK = "all sandboxes are at work; try again in a moment"
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
    def reserve(self) -> Iterator[None]:
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
        forbidden = first_forbidden_import(code)
        if forbidden is not None:
            return Outcome(
                fault=Fault("ImportError", import_refusal(forbidden.module), forbidden.line)
            )
        hosting = HostFunctions(functions, self.limits.calls, self.limits.longest)
        run = SandboxRun(code, hosting, self.limits.result, PrintedOutput(self.limits.printed))
        try:
            result = self._run(run, self.limits.seconds if seconds is None else seconds)
        except StopError as stop:
            return Outcome(printed=run.printed.text, calls=hosting.calls, fault=stop.fault)
        return Outcome(result, run.printed.text, hosting.calls)

    def _run(self, run: SandboxRun, seconds: float) -> JsonValue:
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
