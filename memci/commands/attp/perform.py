"""Runs the tool calls of a model's ATTP answer: all of them in one transaction, or none (P15, P17).

The code runs on a context that is discarded, without a lock; then its calls run again
and are saved. If the tree has changed meanwhile, the code runs again, as long as its time allows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from pydantic import ValidationError

from memci.commands.attp.outcome import Fault, Outcome, StopError, to_toml
from memci.commands.attp.protocol import ToolCall, read_answer
from memci.commands.attp.sandbox import Sandbox
from memci.commands.attp.sandbox_functions import CallError, Function, Kind
from memci.commands.pages.perform import ToolRequest
from memci.commands.pages.workspace import OperationContext
from memci.commands.tools.tools import Tools
from memci.domain.pages.permission import Actor
from memci.errors import (
    ConflictError,
    InvalidInputError,
    MemciError,
    NotFoundError,
    QuotaError,
    RefusedError,
)
from memci.schemas.attp import AttpAnswer, AttpChanges, AttpStatus
from memci.schemas.base import Answer, Request
from memci.schemas.pages import CollapseAnswer, PageChange, PinChange
from memci.schemas.problems import describe_misuse
from memci.schemas.tools.pages import CreateDetailPage
from memci.schemas.tools.table import TOOLS, Tool, tools_in_code
from memci.storage.key_usage import Charge

NOTHING_DONE = "Nothing of this call was done."
_KINDS: Mapping[type[MemciError], Kind] = {
    InvalidInputError: "ValueError",
    NotFoundError: "LookupError",
    RefusedError: "PermissionError",
    ConflictError: "RuntimeError",
}


@dataclass
class ToolFunctions:
    """Tools as functions for sandboxed code, on one context."""

    tools: Tools
    context: OperationContext
    most_notes: int  # limit of new notes: a remote store saves them one by one under the lock
    changes: list[ToolRequest] = field(default_factory=list)  # calls that change something

    def by_name(self) -> Mapping[str, Function]:
        """Return all functions; those that code may not call raise an error."""
        callable_tools = tools_in_code()
        return {
            tool.name: self._function(tool) if tool in callable_tools else _refusing(tool)
            for tool in TOOLS
        }

    def _function(self, tool: Tool) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            request = ToolRequest(tool, _request(tool, args, kwargs))
            self._check_notes(request)
            try:
                answer = self.tools.dry_run(self.context, request)
            except MemciError as error:
                raise _error_for_code(tool, error) from error
            if tool.changes:
                self.changes.append(request)
            return answer.model_dump(mode="json")

        return call

    def _check_notes(self, call: ToolRequest) -> None:
        notes = sum(isinstance(each.request, CreateDetailPage) for each in self.changes)
        if isinstance(call.request, CreateDetailPage) and notes >= self.most_notes:
            advice = f"Write fewer, or the others by another answer. {NOTHING_DONE}"
            message = f"the code writes more than {self.most_notes} notes"
            raise StopError(Fault("RuntimeError", message, advice=advice))


def _request(tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Request:
    names = tool.arguments
    if len(args) > len(names):
        expected = ", ".join(names) or "nothing"
        raise CallError("TypeError", f"{tool.name} takes {expected}, not {len(args)} values")
    named = dict(zip(names, args, strict=False))
    twice = next((name for name in named if name in kwargs), None)
    if twice is not None:
        raise CallError("TypeError", f"{tool.name}: {twice} is given twice")
    try:
        return tool.request.model_validate(named | kwargs)
    except ValidationError as error:
        what = describe_misuse(error, names)
        raise CallError("ValueError", f"{tool.name}({', '.join(names)}): {what}") from None


def _error_for_code(tool: Tool, error: MemciError) -> CallError | StopError:
    """Return the error for the code; after a failed change, or if memci fails, the run ends."""
    kind = next((kind for type_, kind in _KINDS.items() if isinstance(error, type_)), None)
    message = f"{tool.name}: {error}"
    if kind is None or tool.changes:
        return StopError(Fault(kind or "RuntimeError", message, advice=NOTHING_DONE))
    return CallError(kind, message)


def _refusing(tool: Tool) -> Function:
    why = "cannot be called by code" if tool.for_agents else "is for developers alone"

    def refuse(*_: Any, **__: Any) -> None:
        raise CallError("PermissionError", f"{tool.name} {why}")

    return refuse


@dataclass(frozen=True, slots=True)
class AttpCommands:
    """Runs ATTP answers of models."""

    tools: Tools
    sandbox: Sandbox

    def run(
        self,
        agent_id: str,
        text: str,
        *,
        session_id: str | None = None,
        paying: Charge | None = None,
    ) -> AttpAnswer:
        """Run a model's answer on the window of a session (None: the latest).

        The result contains errors of the answer, its code and its calls. Raises ``NotFoundError``
        for no agent, ``QuotaError`` of the key that is ``paying``, ``UnavailableError`` when all
        sandboxes are busy, and ``ConfigurationError`` without a sandbox.
        """
        try:
            call = read_answer(text)
        except InvalidInputError as error:
            return _failed("", str(error))
        if call.status is AttpStatus.FAIL:
            return _failed(call.target, call.message)
        # Before the transaction, so that a waiting request holds no database connection.
        with self.sandbox.reserve():
            begun = now = monotonic()
            end = now + self.sandbox.limits.seconds
            while now + (now - begun) < end:  # as long as a second run would finish in time
                begun = now
                answer = self._try(agent_id, call, session_id, end - begun, paying)
                if answer is not None:
                    return answer
                now = monotonic()
        changed = "the pages were changed by others meanwhile: look at the window and try again."
        return _failed(call.target, f"{changed} {NOTHING_DONE}")

    def _try(
        self,
        agent_id: str,
        call: ToolCall,
        session_id: str | None,
        seconds: float,
        paying: Charge | None,
    ) -> AttpAnswer | None:
        """Run the code on a context that is discarded, then its calls.

        Return None if the pages have changed meanwhile.
        """
        with self.tools.pages.dry_run(agent_id, Actor.AGENT, session_id=session_id) as context:
            functions = ToolFunctions(self.tools, context, self.sandbox.limits.notes)
            before = context.rendering.tokens()
            outcome = self.sandbox.run(call.code, functions.by_name(), seconds=seconds)
            # After an error the tree may be partly changed.
            over = context.workspace.enforce_if_over() if outcome.fault is None else 0
        if outcome.fault is not None:
            error = str(outcome.fault)
            hint = "" if NOTHING_DONE in error else f" {NOTHING_DONE}"
            return _failed(call.target, error + hint, outcome.printed)
        answers: Sequence[Answer] = []
        try:
            if functions.changes:
                answers = self.tools.run_all(
                    agent_id,
                    Actor.AGENT,
                    functions.changes,
                    session_id=session_id,
                    mark=context.mark,
                    paying=paying,
                )
        except ConflictError:
            return None
        except QuotaError:
            raise  # no fault of the model
        except MemciError as error:
            return _failed(call.target, f"{error}. {NOTHING_DONE}", outcome.printed)
        return succeeded(call.target, outcome, _changes(answers, before, over))


def _changes(answers: Sequence[Answer], before: int, over: int) -> AttpChanges:
    pages: dict[str, None] = {}
    collapsed: dict[str, None] = {}
    after = before
    for each in answers:
        if isinstance(each, PageChange):
            pages |= dict.fromkeys(each.changed)
        if isinstance(each, (PageChange, PinChange, CollapseAnswer)):
            collapsed |= dict.fromkeys(each.collapsed)
            after = each.tokens_after
    return AttpChanges(
        pages=list(pages),
        collapsed=list(collapsed),
        tokens_before=before,
        tokens_after=after,
        over=over,
    )


def succeeded(target: str, outcome: Outcome, changes: AttpChanges) -> AttpAnswer:
    """Return the answer to code that ended without an error."""
    return _answer(
        status=AttpStatus.SUCCESS,
        target=target,
        printed=outcome.printed,
        result=outcome.result,
        changes=changes,
    )


def _failed(target: str, error: str, printed: str = "") -> AttpAnswer:
    return _answer(status=AttpStatus.FAIL, target=target, error=error, printed=printed)


def _answer(**fields: Any) -> AttpAnswer:
    """Return an answer with its text for the model, which holds the fields in their order."""
    answer = AttpAnswer(text="", **fields)
    written = answer.model_dump(mode="json")
    shown = {name: written[name] for name in fields if name == "result" or written[name] != ""}
    return answer.model_copy(update={"text": to_toml(shown)})
