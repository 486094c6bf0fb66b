"""Record chats in memory and add context to them."""

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
from memci.errors import MemciError, UnavailableError
from memci.http.proxy.chat_messages import ChatRequest, parse_messages
from memci.http.proxy.relay import AnswerReader
from memci.language.redaction import Redacted, kinds_of, redact_message
from memci.message import NewMessage, Role
from memci.queue.intake import Append
from memci.reading.lists.listings import tail_of
from memci.runtime import Runtime
from memci.schemas.problems import problem_of
from memci.schemas.reads import ContextAnswer

_log = structlog.get_logger("memci.http.proxy")
# Longer queries give no better results.
_LONGEST_QUERY = 8_000
# Tokens of a message beside its content, and of a list beside its messages (R14).
_QUERY_TOKENS = 7
# Of a long history that a client sends, memory reads the latest messages.
_MOST_SHOWN = 500
# After this time a chat continues without memory.
MEMORY_TIMEOUT_S = 3.0
# Recording takes milliseconds; a later request does not wait longer for it.
_RECORDING_S = 1
_ON = "on"


def notes_of(messages: list[dict[str, Any]], *, ends_with_query: bool) -> list[dict[str, Any]]:
    """Return an assembled list as notes: its system text as one message, then the others.

    The client sends the query itself. Many models refuse system text between turns, so all
    messages of that role come first.
    """
    notes = messages[:-1] if ends_with_query else messages
    system = [each["content"].strip() for each in notes if each["role"] == Role.SYSTEM]
    text = "\n\n".join(filter(None, system))
    turns = [each for each in notes if each["role"] != Role.SYSTEM]
    return [{"role": "system", "content": text}, *turns] if text else turns


@dataclass(slots=True)
class UnrecordedChats:
    """The chats of this process whose answers are not recorded yet.

    A client may send an answer back before it is recorded. Recorded from the request, it would lack
    its model and the mark of a cut answer.
    """

    _chats: list[tuple[ChatRequest, anyio.Event]] = field(default_factory=list)

    @contextmanager
    def hold(self, request: ChatRequest) -> Iterator[None]:
        """List a chat until its answer is recorded."""
        entry = (request, anyio.Event())
        self._chats.append(entry)
        try:
            yield
        finally:
            self._chats = [each for each in self._chats if each is not entry]
            entry[1].set()

    async def wait_for_answers_in(self, request: ChatRequest) -> None:
        """Wait for a moment for the answers that a request contains."""
        recorded = [event for earlier, event in self._chats if _has_answer_to(request, earlier)]
        with anyio.move_on_after(_RECORDING_S):
            for event in recorded:
                await event.wait()


def _has_answer_to(request: ChatRequest, earlier: ChatRequest) -> bool:
    if not earlier.messages or (earlier.agent_id, earlier.session_id) != (
        request.agent_id,
        request.session_id,
    ):
        return False
    last = earlier.messages[-1]
    return any(
        (one.role, one.content) == (last.role, last.content) and following.role is Role.ASSISTANT
        for one, following in pairwise(request.messages)
    )


@dataclass(frozen=True, slots=True)
class Recalled:
    """The result of memory's work before the chat."""

    # Messages to insert.
    notes: Sequence[dict[str, Any]] = ()
    # The outcome, for a header.
    state: str = _ON
    placed: Placed = field(default_factory=lambda: Placed((), frozenset()))
    kinds: frozenset[Redacted] = frozenset()


class ChatMemory:
    """Records chats, and recalls context for them."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._settings = runtime.settings
        runtime.counter.count("")  # loads its table, for which the first chat would wait
        self.unrecorded = UnrecordedChats()

    async def before(self, request: ChatRequest, traceparent: str | None) -> Recalled:
        """Record the new messages of a request and recall its context; raises nothing.

        The chat goes on without memory after ``MEMORY_TIMEOUT_S``.
        """
        work = functools.partial(self._before, request, traceparent)
        try:
            with anyio.fail_after(MEMORY_TIMEOUT_S):
                await self.unrecorded.wait_for_answers_in(request)
                return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except TimeoutError:
            late = UnavailableError(
                f"memory did not answer within {MEMORY_TIMEOUT_S:g} s: are there context workers,"
                " and have they started?"
            )
            return Recalled(state=_off(_log_failure(late)))

    async def after(
        self, request: ChatRequest, recalled: Recalled, answer: AnswerReader, *, whole: bool
    ) -> None:
        """Record the answer as far as it was received; raises nothing, and always runs to its end.

        Callers wait no longer than ``MEMORY_TIMEOUT_S``.
        """
        content = answer.message()
        if content is None:
            return
        parsed = parse_messages([content], max_bytes=self._settings.append_limits.message_bytes)
        if not parsed.messages:
            return
        message = parsed.messages[0]
        chat: dict[str, Any] = {} if whole else {"cut": True}
        if answer.model is not None:
            chat["model"] = answer.model
        message = replace(message, metadata={"chat": chat})
        record = functools.partial(self._record_answer, request, recalled, message)
        with anyio.move_on_after(MEMORY_TIMEOUT_S, shield=True):
            await anyio.to_thread.run_sync(record, abandon_on_cancel=True)

    def _before(self, request: ChatRequest, traceparent: str | None) -> Recalled:
        placed, kinds = Placed((), frozenset()), frozenset[Redacted]()
        try:
            # Stored messages are recognised with the placeholders that they have.
            kinds = self._kinds(request.agent_id)
            request = replace(
                request, messages=[redact_message(each, kinds)[0] for each in request.messages]
            )
            stored = tail_of(
                self._runtime.database, request.agent_id, request.session_id, whole=True
            )
            placed = place(request.messages, stored, request.session_id)
            new = [placed.messages[at] for at in sorted(placed.new)]
            self._record(request, new, traceparent)
            notes = self._recall(request, traceparent) if request.budget_tokens else []
            state = f"{_ON}; not recorded: {request.left_out}" if request.left_out else _ON
            return Recalled(notes, state, placed, kinds)
        except Exception as error:  # noqa: BLE001 - whatever it is, the chat goes on
            return Recalled((), _off(_log_failure(error)), placed, kinds)

    def _recall(self, request: ChatRequest, traceparent: str | None) -> list[dict[str, Any]]:
        """Return messages for the model: system text, and recent messages if the client sends none.

        None of them repeats a message of the client. Raises as the read of a context.
        """
        query = (request.query or "")[:_LONGEST_QUERY]
        shown = [
            {"role": each.role.value, "content": each.content}
            for each in request.messages
            if each.content
        ]
        fields: dict[str, Any] = {
            "budget_tokens": request.budget_tokens
            + self._runtime.counter.count(query)
            + _QUERY_TOKENS,
            "session_id": request.session_id,
            "user_id": request.user_id,
            "shown": shown[-_MOST_SHOWN:],
        }
        if query.strip():
            fields["query"] = query
        if len(request.messages) != 1 or not request.names_session:
            fields["recent"] = 0  # the client sends the conversation itself
        if traceparent is not None:
            fields["traceparent"] = traceparent
        answer = ContextAnswer.model_validate(
            self._runtime.reads.call("assemble", request.agent_id, fields, wait_ms=0)
        )
        return notes_of(answer.as_dicts(), ends_with_query=bool(query.strip()))

    def _record(
        self, request: ChatRequest, messages: Sequence[NewMessage], traceparent: str | None
    ) -> None:
        most = self._runtime.settings.append_limits.messages
        for begin in range(0, len(messages), most):
            self._runtime.intake.append(
                Append(
                    request.agent_id,
                    messages[begin : begin + most],
                    session_id=request.session_id,
                    user_id=request.user_id,
                    remember=self._settings.proxy_remember,
                    skip_erased=True,
                    source=JobSource.HTTP,
                    traceparent=traceparent,
                    paying=request.paying,
                    redact=self._settings.memory.redact,
                )
            )

    def _kinds(self, agent_id: str) -> frozenset[Redacted]:
        default = self._settings.memory.redact
        return kinds_of(self._runtime.intake.redaction_of(agent_id, default))

    def _record_answer(self, request: ChatRequest, recalled: Recalled, message: NewMessage) -> None:
        message, _ = redact_message(message, recalled.kinds)
        last_id = recalled.placed.last_id
        message = replace(message, id=id_after(last_id, message, request.session_id))
        try:
            self._record(request, [message], None)
        except Exception as error:  # noqa: BLE001 - the chat has been answered
            _log_failure(error)


def _log_failure(error: Exception) -> str:
    """Log a failure of memory; return the reason for the client."""
    if isinstance(error, MemciError):
        reason = problem_of(error).detail
        _log.warning("a chat goes on without memory", reason=reason)
        return reason
    _log.exception("a chat goes on without memory")
    return "internal error; the server's log says more"


def _off(reason: str) -> str:
    """Return the header's value, as one line of ASCII."""
    line = " ".join(reason.split()).encode("ascii", "replace").decode()
    return f"off; {line}"
