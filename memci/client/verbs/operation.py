"""Tools as verbs: the table says what they take and answer, and what their docstrings say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from inspect import Parameter, Signature
from types import GenericAlias
from typing import Any, Literal, get_args, get_origin

from memci.client.flow import Flow
from memci.client.help import argument_line
from memci.client.verbs.paging import PagingVerbs
from memci.domain.pages.block import Format
from memci.shapes.arguments import REQUIRED, Argument, arguments_of
from memci.shapes.tools import Tool

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
