"""Tools of an agent as methods; the table of tools gives their arguments and help."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from inspect import Parameter, Signature
from types import GenericAlias
from typing import Any, Literal, Unpack, get_args, get_origin

from pydantic import RootModel

from memci.client.exchange import Flow, ask, exchange
from memci.client.options import SeenOptions
from memci.client.sync_async import argument_line
from memci.client.verbs.agent_requests import Asking
from memci.client.verbs.paging import PagingVerbs
from memci.domain.pages.block import Format
from memci.errors import InvalidInputError, NotFoundError, shown_name
from memci.schemas.attp import AttpAnswer
from memci.schemas.tools import BY_NAME, REQUIRED, Argument, Tool, arguments_of

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class _Told(RootModel[dict[str, Any]]):
    """What a model is told."""


class ToolVerbs(Asking):
    """Does what a model asks for."""

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | str | None = None,
        **seen: Unpack[SeenOptions],
    ) -> Flow[dict[str, Any]]:
        """Use a tool as the agent's model; return what to tell the model.

        ``arguments`` are as the model gave them: JSON, or what was read from it. Raises
        ``MemciError``, whose text is for the model to read.
        """
        if not _NAME.fullmatch(name):  # models make names up, and this is a part of a path
            raise NotFoundError(f"there is no tool '{shown_name(name)}': tools() lists all")
        request = exchange(
            "POST",
            f"{self._path}/tools/{name}",
            body=_read(arguments) if isinstance(arguments, str) else arguments or {},
            params=seen,
            repeatable=_is_repeatable(name),
        )
        answer = yield from ask(request, _Told, self._habits.retries)
        return answer.root

    def attp(self, text: str, *, session_id: str | None = None) -> Flow[AttpAnswer]:
        """Do what a model's answer in ATTP asks for, all of it or nothing.

        ``text`` is the answer as it is; the ``text`` of what comes back is for the model. What is
        wrong with it or its code raises nothing: ``status`` is ``fail``.
        """
        request = exchange(
            "POST",
            f"{self._path}/pages/attp",
            body={"text": text},
            params={"session_id": session_id},
            repeatable=False,
        )
        return ask(request, AttpAnswer, self._habits.retries)


def _read(arguments: str) -> dict[str, Any]:
    """Read what a model wrote; nothing at all stands for no arguments."""
    try:
        read = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise InvalidInputError("the arguments are no JSON object: write them again")
    return read


def _is_repeatable(name: str) -> bool:
    """Whether what arrived and was not answered may be sent again."""
    tool = BY_NAME.get(name)
    return tool is not None and (tool.idempotent or not tool.changes)


_SESSION = Argument(
    name="session_id",
    type=str | None,
    default=None,
    about="Whose window is meant; none: that of the last message",
    positional=False,
    long=False,
)
_FORMAT = Argument(
    name="format",
    type=Format,
    default=Format.MARKDOWN,
    about="How that is written, as in `window`: what fits, and tokens, are counted in it",
    positional=False,
    long=False,
)
_SEEN = (_SESSION, _FORMAT)


def operation(tool: Tool) -> Callable[..., Flow[Any]]:
    """Return a tool as a verb of ``PagingVerbs``."""
    signature = signature_of(tool)

    def verb(*args: Any, **kwargs: Any) -> Flow[Any]:
        bound = signature.bind(*args, **kwargs)
        asked = dict(bound.arguments)
        verbs: PagingVerbs = asked.pop("self")
        seen: Any = {each.name: asked.pop(each.name) for each in _SEEN if each.name in asked}
        return verbs.use(tool, asked, tool.answer, **seen)

    verb.__name__ = verb.__qualname__ = tool.name
    verb.__doc__ = doc_of(tool)
    vars(verb)["__signature__"] = signature
    return verb


def signature_of(tool: Tool) -> Signature:
    """Return what a tool takes as a method: pages to be named first, all else by name."""
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    parameters += (
        Parameter(
            each.name,
            Parameter.POSITIONAL_OR_KEYWORD if each.positional else Parameter.KEYWORD_ONLY,
            annotation=_accepted(each.type),
            default=Parameter.empty if each.default is REQUIRED else _constant(each.default),
        )
        for each in (*arguments_of(tool), *_SEEN)
    )
    return Signature(parameters, return_annotation=tool.answer)


def doc_of(tool: Tool) -> str:
    """Return what help says of a tool."""
    taken = (*arguments_of(tool), *_SEEN)
    lines = [argument_line(each.name, each.about) for each in taken if each.about]
    return "\n".join([tool.help, "", "Args:", *lines, ""])


def _accepted(kind: Any) -> Any:
    """Return a type as callers may give it: a list as any sequence, a choice by its name."""
    if get_origin(kind) is list:
        return GenericAlias(Sequence, get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind | Literal[tuple(each.value for each in kind)]
    return kind


def _constant(default: Any) -> Any:
    """Return a default that nobody can change."""
    return tuple(default) if isinstance(default, list) else default
