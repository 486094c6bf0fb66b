"""Records chats in memory and adds context to them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import anyio
import anyio.to_thread
import structlog

from memci.domain.job import JobSource
from memci.domain.resent_messages import Placed, id_after, place
from memci.errors import MemciError
from memci.http.proxy.chat_messages import Asked, message_of
from memci.http.proxy.relay import Answer
from memci.message import NewMessage, Role
from memci.queue.intake import Append
from memci.reading.lists.listings import tail_of
from memci.runtime import Runtime
from memci.schemas.problems import problem_of
from memci.schemas.reads import ContextAnswer

# A chat waits so long for memory, and then continues without it.
MEMORY_TIMEOUT_S = 3.0

# What is longer asks for nothing more precisely.
_LONGEST_QUERY = 8_000
# Tokens that a message takes beside its content, and a list beside its messages (R14).
_QUERY_TOKENS = 7
# Of a long history that a client sends itself, the latest are told to memory.
_MOST_SHOWN = 500


def context_for(runtime: Runtime, asked: Asked, traceparent: str | None) -> list[dict[str, Any]]:
    """Return messages for a model: system text, and, where the client sends one alone, recent ones.

    Nothing that the client sends itself is among them. Raises what a context raises.
    """
    query = (asked.query or "")[:_LONGEST_QUERY]
    request: dict[str, Any] = {
        "budget_tokens": asked.budget_tokens + runtime.counter.count(query) + _QUERY_TOKENS,
        "session_id": asked.session_id,
        "user_id": asked.user_id,
        "shown": _shown(asked),
    }
    if query.strip():
        request["query"] = query
    if not (asked.is_alone and asked.is_named):
        request["recent"] = 0
    if traceparent is not None:
        request["traceparent"] = traceparent
    answer = ContextAnswer.model_validate(
        runtime.reads.call("assemble", asked.agent_id, request, wait_ms=0)
    )
    return notes_of(answer.as_dicts(), asked=bool(query.strip()))


def notes_of(messages: list[dict[str, Any]], *, asked: bool) -> list[dict[str, Any]]:
    """Return an assembled list as notes: its system text as one message, then what was said.

    ``asked``: the list ends with the question, which the client sends itself. Many models refuse
    system text between turns: what was said in that role goes above them, too.
    """
    told = messages[:-1] if asked else messages
    system = [each["content"].strip() for each in told if _is_system(each)]
    text = "\n\n".join(filter(None, system))
    said = [each for each in told if not _is_system(each)]
    return [{"role": "system", "content": text}, *said] if text else said


def _is_system(message: dict[str, Any]) -> bool:
    return bool(message["role"] == Role.SYSTEM)


def _shown(asked: Asked) -> list[dict[str, str]]:
    shown = [
        {"role": each.role.value, "content": each.content} for each in asked.said if each.content
    ]
    return shown[-_MOST_SHOWN:]


# An answer is recorded in milliseconds; one that takes longer is then recorded as it was sent anew.
_WAIT_S = 1


@dataclass(slots=True)
class UnderWay:
    """The chats of this process whose answers pass, or are being recorded.

    A client that does not wait for the end of an answer may send it back before it is recorded.
    Recorded then, it would be without what memci knows of it: which model said it, and whether it
    was cut.
    """

    _chats: list[tuple[Asked, anyio.Event]] = field(default_factory=list)

    @contextmanager
    def chat(self, asked: Asked) -> Iterator[None]:
        """Have the chat among those under way, until its answer is recorded."""
        entry = (asked, anyio.Event())
        self._chats.append(entry)
        try:
            yield
        finally:
            self._chats = [each for each in self._chats if each is not entry]
            entry[1].set()

    async def settled(self, asked: Asked) -> None:
        """Wait, for a moment, for the answers that the request goes on from."""
        awaited = [done for earlier, done in self._chats if _answers(asked, earlier)]
        with anyio.move_on_after(_WAIT_S):
            for done in awaited:
                await done.wait()


def _answers(asked: Asked, earlier: Asked) -> bool:
    """Tell whether a request holds an answer to an earlier one of its session."""
    whose = (earlier.agent_id, earlier.session_id)
    if not earlier.said or whose != (asked.agent_id, asked.session_id):
        return False
    last = earlier.said[-1]
    return any(
        (one.role, one.content) == (last.role, last.content) and other.role is Role.ASSISTANT
        for one, other in pairwise(asked.said)
    )


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
        self.under_way = UnderWay()

    async def before(self, asked: Asked, traceparent: str | None) -> Recalled:
        """Record what is new in a request and recall what helps with it; raises nothing.

        A memory that takes longer than ``MEMORY_TIMEOUT_S`` is gone on without.
        """
        work = functools.partial(self._before, asked, traceparent)
        try:
            with anyio.fail_after(MEMORY_TIMEOUT_S):
                await self.under_way.settled(asked)
                return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except TimeoutError:
            return Recalled(state=_off("no answer in time"))

    async def after(self, asked: Asked, recalled: Recalled, answer: Answer, *, whole: bool) -> None:
        """Record what was answered, as far as it came; raises nothing, and is not given up.

        Who waits for it waits no longer than ``MEMORY_TIMEOUT_S``.
        """
        said = answer.message()
        if said is None:
            return
        message = message_of(said, max_bytes=self._runtime.settings.append_limits.message_bytes)
        if message is None:
            return
        told = {"model": answer.model} | ({} if whole else {"cut": True})
        metadata = {name: value for name, value in told.items() if value is not None}
        before = recalled.placed.last_id
        named = replace(
            message, id=id_after(before, message, asked.session_id), metadata={"chat": metadata}
        )
        record = functools.partial(self._record_answer, asked, named)
        with anyio.move_on_after(MEMORY_TIMEOUT_S, shield=True):
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
        most = self._runtime.settings.append_limits.messages
        for begin in range(0, len(messages), most):
            self._runtime.intake.append(
                Append(
                    asked.agent_id,
                    messages[begin : begin + most],
                    session_id=asked.session_id,
                    user_id=asked.user_id,
                    remember=self._runtime.settings.proxy_remember,
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
