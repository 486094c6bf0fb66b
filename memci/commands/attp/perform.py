"""Runs the tool calls of a model's ATTP answer: all of them in one transaction, or none (P15, P17).

The code runs on a context that is discarded, without a lock; then its calls run again
and are saved. If the tree has changed meanwhile, the code runs again, as long as its time allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from pydantic import ValidationError

from memci.commands.attp.outcome import Fault, JsonValue, Outcome, StopError, to_toml
from memci.commands.attp.protocol import ToolCall, read_answer
from memci.commands.attp.sandbox import Sandbox
from memci.commands.attp.sandbox_functions import CallError, Function, Kind
from memci.commands.pages.perform import ToolRequest
from memci.commands.pages.workspace import OperationContext, TreeVersion
from memci.commands.tools.tools import Tools
from memci.domain.pages.permission import Actor
from memci.errors import ConflictError, InvalidInputError, MemciError, NotFoundError, RefusedError
from memci.schemas.attp import AttpAnswer, AttpChanges, AttpStatus
from memci.schemas.base import Answer, Request
from memci.schemas.page_tools import CreateDetailPage
from memci.schemas.pages import CollapseAnswer, PageChange, PinChange
from memci.schemas.problems import describe_misuse
from memci.schemas.tools import TOOLS, Tool, tools_in_code

NOTHING_DONE = "Nothing of this call was done."
_KINDS: Mapping[type[MemciError], Kind] = {
    InvalidInputError: "ValueError",
    NotFoundError: "LookupError",
    RefusedError: "PermissionError",
    ConflictError: "RuntimeError",
}


@dataclass
class ToolFunctions:
    """Tools as functions for sandboxed code, working on one context."""

    tools: Tools
    context: OperationContext
    most_notes: int  # limit of new notes: a remote store saves them one by one under the lock
    asked: list[ToolRequest] = field(default_factory=list)  # calls that change something

    def by_name(self) -> Mapping[str, Function]:
        """Return all functions; those that code may not call raise an error."""
        here = {tool.name: self._function(tool) for tool in tools_in_code()}
        others = [tool for tool in TOOLS if tool.name not in here]
        return here | {tool.name: _refusing(tool) for tool in others}

    def _function(self, tool: Tool) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            request = _request(tool, args, kwargs)
            return self._done(ToolRequest(tool, request)).model_dump(mode="json")

        return call

    def _done(self, asked: ToolRequest) -> Answer:
        self._check_notes(asked)
        try:
            answer = self.tools.dry_run(self.context, asked)
        except MemciError as error:
            raise _said(asked.tool, error) from error
        if asked.tool.changes:
            self.asked.append(asked)
        return answer

    def _check_notes(self, asked: ToolRequest) -> None:
        notes = sum(_is_note(each) for each in (*self.asked, asked))
        if _is_note(asked) and notes > self.most_notes:
            raise StopError(
                Fault(
                    "RuntimeError",
                    f"the code writes more than {self.most_notes} notes",
                    advice=f"Write fewer, or the others by another answer. {NOTHING_DONE}",
                )
            )


def _is_note(asked: ToolRequest) -> bool:
    return isinstance(asked.request, CreateDetailPage)


def _request(tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Request:
    names = tool.arguments
    if len(args) > len(names):
        raise CallError("TypeError", f"{tool.name} takes {_listed(names)}, not {len(args)} values")
    given = dict(zip(names, args, strict=False))
    twice = next((name for name in given if name in kwargs), None)
    if twice is not None:
        raise CallError("TypeError", f"{tool.name}: {twice} is given twice")
    try:
        return tool.request.model_validate(given | kwargs)
    except ValidationError as error:
        told = describe_misuse(error, names)
        raise CallError("ValueError", f"{tool.name}({', '.join(names)}): {told}") from None


def _said(tool: Tool, error: MemciError) -> CallError | StopError:
    """Return the error for the code; after a failed change, or if memci fails, the run ends."""
    kind = next((kind for of, kind in _KINDS.items() if isinstance(error, of)), None)
    message = f"{tool.name}: {error}"
    if kind is None:
        return StopError(Fault("RuntimeError", message, advice=NOTHING_DONE))
    if tool.changes:
        return StopError(Fault(kind, message, advice=NOTHING_DONE))
    return CallError(kind, message)


def _refusing(tool: Tool) -> Function:
    def refuse(*_: Any, **__: Any) -> None:
        raise CallError(
            "PermissionError",
            f"{tool.name} cannot be called by code"
            if tool.for_agents
            else f"{tool.name} is for developers alone",
        )

    return refuse


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"


@dataclass(frozen=True, slots=True)
class _DryRun:
    """The result of code on a context that is discarded."""

    outcome: Outcome
    asked: Sequence[ToolRequest]
    mark: TreeVersion
    tokens: int  # of the window before
    over: int  # tokens by which the window would exceed a limit


@dataclass(frozen=True, slots=True)
class AttpCommands:
    """Runs ATTP answers of models."""

    tools: Tools
    sandbox: Sandbox

    def run(self, agent_id: str, text: str, *, session_id: str | None = None) -> AttpAnswer:
        """Run a model's answer on the window of a session (None: the latest).

        Our answer contains errors of the answer, its code and its calls. Raises
        ``NotFoundError`` for no agent, ``UnavailableError`` when all sandboxes are at work, and
        ``ConfigurationError`` without a sandbox.
        """
        try:
            call = read_answer(text)
        except InvalidInputError as error:
            return _failed("", str(error))
        if call.status is AttpStatus.FAIL:
            return _failed(call.target, call.message)
        # First, so that whoever waits holds no connection to the database.
        with self.sandbox.reserve():
            return self._call(agent_id, call, session_id)

    def _call(self, agent_id: str, call: ToolCall, session_id: str | None) -> AttpAnswer:
        end = monotonic() + self.sandbox.limits.seconds
        begun = now = monotonic()
        # As long as another run would be done in time.
        while now + (now - begun) < end:
            begun = now
            answer = self._tried(agent_id, call, session_id, end - begun)
            if answer is not None:
                return answer
            now = monotonic()
        return _failed(
            call.target,
            f"the pages were changed by others meanwhile: look at the window and try again. "
            f"{NOTHING_DONE}",
        )

    def _tried(
        self, agent_id: str, call: ToolCall, session_id: str | None, seconds: float
    ) -> AttpAnswer | None:
        """Run the code and its calls; return None if the pages have changed meanwhile."""
        dry_run = self._dry_run(agent_id, call.code, session_id, seconds)
        fault = dry_run.outcome.fault
        if fault is not None:
            error = str(fault)
            if NOTHING_DONE not in error:
                error = f"{error} {NOTHING_DONE}"
            return _failed(call.target, error, dry_run.outcome.printed)
        try:
            done = self._done(agent_id, dry_run, session_id)
        except ConflictError:
            return None
        except MemciError as error:
            return _failed(call.target, f"{error}. {NOTHING_DONE}", dry_run.outcome.printed)
        return succeeded(call.target, dry_run.outcome, _changes(done, dry_run))

    def _dry_run(self, agent_id: str, code: str, session_id: str | None, seconds: float) -> _DryRun:
        with self.tools.pages.dry_run(agent_id, Actor.AGENT, session_id=session_id) as context:
            functions, tokens = (
                ToolFunctions(self.tools, context, self.sandbox.limits.notes),
                context.tokens,
            )
            outcome = self.sandbox.run(code, functions.by_name(), seconds=seconds)
            # What went wrong may have left the tree half changed.
            over = context.workspace.enforce_if_over() if outcome.fault is None else 0
            return _DryRun(outcome, functions.asked, context.mark, tokens, over)

    def _done(self, agent_id: str, dry_run: _DryRun, session_id: str | None) -> Sequence[Answer]:
        if not dry_run.asked:
            return []
        return self.tools.run_all(
            agent_id, Actor.AGENT, dry_run.asked, session_id=session_id, mark=dry_run.mark
        )


def _changes(done: Sequence[Answer], dry_run: _DryRun) -> AttpChanges:
    pages: dict[str, None] = {}
    collapsed: dict[str, None] = {}
    after = dry_run.tokens
    for each in done:
        if isinstance(each, PageChange):
            pages |= dict.fromkeys(each.changed)
        if isinstance(each, (PageChange, PinChange, CollapseAnswer)):
            collapsed |= dict.fromkeys(each.collapsed)
            after = each.tokens_after
    return AttpChanges(
        pages=list(pages),
        collapsed=list(collapsed),
        tokens_before=dry_run.tokens,
        tokens_after=after,
        over=dry_run.over,
    )


def succeeded(target: str, outcome: Outcome, changes: AttpChanges) -> AttpAnswer:
    """Return the answer to code that ended without an error."""
    shown: dict[str, JsonValue] = {
        "status": AttpStatus.SUCCESS.value,
        "target": target or None,
        "printed": outcome.printed or None,
        "result": outcome.result,
        "changes": changes.model_dump(mode="json"),
    }
    return AttpAnswer(
        text=to_toml(shown),
        status=AttpStatus.SUCCESS,
        target=target,
        result=outcome.result,
        printed=outcome.printed,
        changes=changes,
    )


def _failed(target: str, error: str, printed: str = "") -> AttpAnswer:
    shown = {
        "status": AttpStatus.FAIL.value,
        "target": target or None,
        "error": error,
        "printed": printed or None,
    }
    return AttpAnswer(
        text=to_toml(shown), status=AttpStatus.FAIL, target=target, error=error, printed=printed
    )
