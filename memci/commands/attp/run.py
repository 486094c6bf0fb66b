"""One run of a model's code in an interpreter that is its own (P15)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memci.commands.attp.deadline import Deadline
from memci.commands.attp.hosting import CallError, Hosting
from memci.commands.attp.imports import refusal
from memci.commands.attp.outcome import ITS_OWN, Fault, StopError
from memci.commands.attp.plain import NotPlainError, Plain, plain
from memci.commands.attp.prelude import PRELUDE

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
class Printed:
    """What code prints, up to a limit."""

    limit: int
    text: str = ""

    def take(self, _stream: str, text: str) -> None:
        """Keep what there is room for."""
        room = self.limit - len(self.text)
        if room > 0:
            self.text += text if len(text) <= room else f"{text[:room]}…"


@dataclass
class Run:
    """Code, the functions that it may call, and what it printed so far."""

    code: str
    hosting: Hosting
    longest_result: int
    printed: Printed

    def drive(self, session: MontySession, deadline: Deadline) -> Plain:
        """Run the code to its end, and return what it left in ``__result__``.

        Raises ``StopError`` and pydantic-monty's errors.
        """
        session.feed_run(PRELUDE)
        self._complete(session.feed_start(self.code, print_callback=self.printed.take), deadline)
        return self._result(session, deadline)

    def _result(self, session: MontySession, deadline: Deadline) -> Plain:
        found = session.feed_start(RESULT)
        if _is_lookup(found):
            return None
        complete = self._complete(found, deadline)
        try:
            return plain(_value(lambda: complete.output), self.longest_result, RESULT)
        except NotPlainError as error:
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
        except NotPlainError as error:
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
        raise NotPlainError(f"a value cannot cross: {error}") from None


def _refused(snapshot: FunctionSnapshot) -> CallError:
    """Refuse what would reach outside: imports of more modules, files, clocks to wait for."""
    name = snapshot.function_name
    if name == "import":
        return CallError("ImportError", refusal(str(snapshot.args[0])))
    if name.endswith(".sleep"):
        return CallError("RuntimeError", f"{name}: nothing waits here; leave it out")
    return CallError(
        "PermissionError",
        f"{name}: there are no files, environment or network here; use the functions that you were "
        "given",
    )
