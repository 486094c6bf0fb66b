"""The tools of agents as functions for sandboxed code, working on one bench (P15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from memci.commands.attp.hosting import CallError, Function, Kind
from memci.commands.attp.outcome import Fault, StopError
from memci.commands.pages.bench import Bench
from memci.commands.pages.perform import Asked
from memci.commands.tools.tools import Tools
from memci.errors import (
    ConflictError,
    InvalidInputError,
    MemciError,
    NotFoundError,
    RefusedError,
)
from memci.shapes.base import Answer, Request
from memci.shapes.faults import describe_misuse
from memci.shapes.page_tools import CreateDetailPage
from memci.shapes.tools import TOOLS, Tool, tools_in_code

NOTHING_DONE = "Nothing of this call was done."
_KINDS: Mapping[type[MemciError], Kind] = {
    InvalidInputError: "ValueError",
    NotFoundError: "LookupError",
    RefusedError: "PermissionError",
    ConflictError: "RuntimeError",
}


@dataclass
class Functions:
    """Tools as functions; ``asked`` are the changes that code has asked for so far.

    ``most_notes``: new notes, whose texts a far store takes one by one while the tree is locked.
    """

    tools: Tools
    bench: Bench
    most_notes: int
    asked: list[Asked] = field(default_factory=list)

    def by_name(self) -> Mapping[str, Function]:
        """Return them all; those that code may not call say why."""
        here = {tool.name: self._function(tool) for tool in tools_in_code()}
        others = [tool for tool in TOOLS if tool.name not in here]
        return here | {tool.name: _refusing(tool) for tool in others}

    def _function(self, tool: Tool) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            request = _request(tool, args, kwargs)
            return self._done(Asked(tool, request)).model_dump(mode="json")

        return call

    def _done(self, asked: Asked) -> Answer:
        self._check_notes(asked)
        try:
            answer = self.tools.rehearse(self.bench, asked)
        except MemciError as error:
            raise _said(asked.tool, error) from error
        if asked.tool.changes:
            self.asked.append(asked)
        return answer

    def _check_notes(self, asked: Asked) -> None:
        notes = sum(_is_note(each) for each in (*self.asked, asked))
        if _is_note(asked) and notes > self.most_notes:
            raise StopError(
                Fault(
                    "RuntimeError",
                    f"the code writes more than {self.most_notes} notes",
                    advice=f"Write fewer, or the others by another answer. {NOTHING_DONE}",
                )
            )


def _is_note(asked: Asked) -> bool:
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
    """Say what was wrong. After a change that failed, the tree is half changed: the call is over.

    So it is when a part of memci does not answer.
    """
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
