"""What the proxy keeps of a chat, and what it brings into one; a chat never fails by it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import anyio.to_thread
import structlog

from memci.domain.lane.job import JobSource
from memci.domain.message import NewMessage
from memci.domain.resent import Placed, id_after, place
from memci.errors import MemciError
from memci.http.proxy.answer import Answer
from memci.http.proxy.asked import Asked
from memci.http.proxy.context import context_for
from memci.http.proxy.said import message_of
from memci.http.proxy.underway import UnderWay
from memci.queue.intake import Append
from memci.reading.tail import tail_of
from memci.runtime import Runtime
from memci.shapes.problem import problem_of

_log = structlog.get_logger("memci.http.proxy")
_ON = "on"
_FAULT = "internal error; the server's log says more"


@dataclass(frozen=True, slots=True)
class Recalled:
    """What memory did before the chat: messages to put in, and how it went, for a header."""

    notes: Sequence[dict[str, Any]] = ()
    state: str = _ON
    placed: Placed = field(default_factory=lambda: Placed((), frozenset()))


class ChatMemory:
    """Records chats, and recalls what helps them."""

    def __init__(self, runtime: Runtime) -> None:
        """Take what the process works with."""
        self._runtime = runtime
        self._settings = runtime.settings
        self.under_way = UnderWay()

    async def before(self, asked: Asked, traceparent: str | None) -> Recalled:
        """Record what is new in a request and recall what helps with it; raises nothing.

        A memory that takes longer than ``MEMCI_PROXY_MEMORY_TIMEOUT_MS`` is gone on without.
        """
        work = functools.partial(self._before, asked, traceparent)
        try:
            with anyio.fail_after(self._settings.proxy_memory_timeout_ms / 1000):
                await self.under_way.settled(asked)
                return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except TimeoutError:
            return Recalled(state=_off("no answer in time"))

    async def after(self, asked: Asked, recalled: Recalled, answer: Answer, *, whole: bool) -> None:
        """Record what was answered, as far as it came; raises nothing, and is not given up.

        Who waits for it waits no longer than ``MEMCI_PROXY_MEMORY_TIMEOUT_MS``.
        """
        said = answer.message()
        if said is None:
            return
        message = message_of(said, max_bytes=self._settings.max_message_bytes)
        if message is None:
            return
        told = {"model": answer.model} | ({} if whole else {"cut": True})
        metadata = {name: value for name, value in told.items() if value is not None}
        before = recalled.placed.last_id
        named = replace(
            message, id=id_after(before, message, asked.session_id), metadata={"chat": metadata}
        )
        record = functools.partial(self._record_answer, asked, named)
        with anyio.move_on_after(self._settings.proxy_memory_timeout_ms / 1000, shield=True):
            await anyio.to_thread.run_sync(record, abandon_on_cancel=True)

    def _before(self, asked: Asked, traceparent: str | None) -> Recalled:
        placed, state = Placed((), frozenset()), _ON
        try:
            stored = tail_of(self._runtime.database, asked.agent_id, asked.session_id)
            placed = place(asked.said, stored, asked.session_id)
            new = [placed.messages[at] for at in sorted(placed.new)]
            self._record(asked, new, traceparent)
            notes = []
            if asked.budget_tokens:
                notes = context_for(self._runtime, asked, traceparent)
            return Recalled(notes, _on(asked.left_out), placed)
        except Exception as error:  # noqa: BLE001 - whatever it is, the chat goes on
            state = _off(_reason(error))
        return Recalled((), state, placed)

    def _record(
        self, asked: Asked, messages: Sequence[NewMessage], traceparent: str | None
    ) -> None:
        most = self._settings.max_messages
        for begin in range(0, len(messages), most):
            self._runtime.intake.append(
                Append(
                    asked.agent_id,
                    messages[begin : begin + most],
                    session_id=asked.session_id,
                    user_id=asked.user_id,
                    remember=self._settings.proxy_remember,
                    skip_erased=True,
                    source=JobSource.HTTP,
                    traceparent=traceparent,
                )
            )

    def _record_answer(self, asked: Asked, message: NewMessage) -> None:
        try:
            self._record(asked, [message], None)
        except Exception as error:  # noqa: BLE001 - the chat has been answered
            _reason(error)


def _reason(error: Exception) -> str:
    """Log why memory did not do its part; return what a client may be told of it."""
    if isinstance(error, MemciError):
        reason = problem_of(error).detail
        _log.warning("a chat goes on without memory", reason=reason)
        return reason
    _log.exception("a chat goes on without memory")
    return _FAULT


def _on(left_out: str | None) -> str:
    """Return the header's value where memory does its part, but for what cannot be recorded."""
    return f"{_ON}; not recorded: {left_out}" if left_out else _ON


def _off(reason: str) -> str:
    """Return the header's value: one line of ASCII."""
    line = " ".join(reason.split()).encode("ascii", "replace").decode()
    return f"off; {line}"
