"""The context window, its pages, and the tools of an agent.

The table of tools gives the methods on pages their arguments and help.
"""

import json
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from inspect import Parameter, Signature
from types import GenericAlias
from typing import Any, Literal, Unpack, get_args, get_origin

from pydantic import RootModel

from memci.client.keyword_arguments import PageOptions, SeenOptions, WindowOptions
from memci.client.method import Methods, TransportT, argument_help, method
from memci.client.requests import Flow
from memci.domain.pages.window_text import Format
from memci.errors import InvalidInputError, NotFoundError, shown_name
from memci.schemas.attp import AttpAnswer
from memci.schemas.pages import PageText, PageTree, WindowAnswer
from memci.schemas.tools.table import BY_NAME, REQUIRED, Argument, Tool, arguments_of

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class _ToolAnswer(RootModel[dict[str, Any]]):
    """The answer of a tool, for the model."""


class PageMethods(Methods[TransportT]):
    """Reads the window and its pages, and uses tools."""

    @method
    def window(self, **options: Unpack[WindowOptions]) -> Flow[WindowAnswer]:
        """Return the window of a session as messages for a model; none: of the last message."""
        return self._get("/window", WindowAnswer, options)

    @method
    def pages(self, **options: Unpack[PageOptions]) -> Flow[PageTree]:
        """Return the tree of a session, or the removed pages, the latest first."""
        return self._get("/pages", PageTree, options)

    @method
    def page(self, index: str) -> Flow[PageText]:
        """Return a page and its content, in whichever state it is."""
        return self._post("/pages/get_page", PageText, {"index": index})

    @method
    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | str | None = None,
        **window: Unpack[SeenOptions],
    ) -> Flow[dict[str, Any]]:
        """Use a tool as the agent's model; return what to tell the model.

        ``arguments`` are as the model gave them: JSON text, or the parsed object. Raises
        ``MemciError``, whose text is for the model to read.
        """
        if not _NAME.fullmatch(name):  # models invent names, and this is a part of a path
            raise NotFoundError(f"there is no tool '{shown_name(name)}': tools() lists all")
        tool = BY_NAME.get(name)
        answer = yield from self._fetch(
            "POST",
            f"/tools/{name}",
            _ToolAnswer,
            json=_parse_arguments(arguments) if isinstance(arguments, str) else arguments or {},
            params=window,
            repeatable=tool is not None and (tool.idempotent or not tool.changes),
        )
        return answer.root

    @method
    def attp(self, text: str, *, session_id: str | None = None) -> Flow[AttpAnswer]:
        """Run a model's answer in ATTP, all of it or nothing.

        ``text`` is the model's answer; the ``text`` of the result is for the model. Faults of the
        model or its code raise no error: ``status`` is ``fail``.
        """
        return self._fetch(
            "POST",
            "/pages/attp",
            AttpAnswer,
            json={"text": text},
            params={"session_id": session_id},
            repeatable=False,
        )


def _parse_arguments(arguments: str) -> dict[str, Any]:
    """Parse what a model wrote; an empty text stands for no arguments."""
    try:
        read = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise InvalidInputError("the arguments are no JSON object: write them again")
    return read


_WINDOW_ARGUMENTS = tuple(
    Argument(name=name, type=kind, default=default, about=about, positional=False, long=False)
    for name, kind, default, about in (
        ("session_id", str | None, None, "Whose window is meant; none: that of the last message"),
        (
            "format",
            Format,
            Format.MARKDOWN,
            "How that is written, as in `window`: what fits, and tokens, are counted in it",
        ),
    )
)


def method_of(tool: Tool) -> Any:
    """Return a method that uses a tool on pages.

    A request that changes pages is not sent again if it may have arrived.
    """
    signature = signature_of(tool)

    def flow(*args: Any, **kwargs: Any) -> Flow[Any]:
        json = dict(signature.bind(*args, **kwargs).arguments)
        self: PageMethods[Any] = json.pop("self")
        names = [each.name for each in _WINDOW_ARGUMENTS if each.name in json]
        return self._fetch(
            "POST",
            f"/pages/{tool.name}",
            tool.answer,
            params={name: json.pop(name) for name in names},
            json=json if tool.request.model_fields else None,
            repeatable=not tool.changes,
        )

    flow.__name__ = flow.__qualname__ = tool.name
    flow.__doc__ = help_of(tool)
    vars(flow)["__signature__"] = signature
    return method(flow)


def signature_of(tool: Tool) -> Signature:
    """Return the signature of a tool's method: pages come first, all else by name."""
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    for each in (*arguments_of(tool), *_WINDOW_ARGUMENTS):
        kind, default = each.type, each.default
        if get_origin(kind) is list:  # any sequence will do; a default must not be changed
            kind, default = GenericAlias(Sequence, get_args(kind)), tuple(default)
        elif isinstance(kind, type) and issubclass(kind, Enum):  # by its name, too
            kind |= Literal[tuple(one.value for one in kind)]
        parameters.append(
            Parameter(
                each.name,
                Parameter.POSITIONAL_OR_KEYWORD if each.positional else Parameter.KEYWORD_ONLY,
                annotation=kind,
                default=Parameter.empty if each.default is REQUIRED else default,
            )
        )
    return Signature(parameters, return_annotation=tool.answer)


def help_of(tool: Tool) -> str:
    """Return the docstring of a tool's method."""
    arguments = (*arguments_of(tool), *_WINDOW_ARGUMENTS)
    lines = [argument_help(each.name, each.about) for each in arguments if each.about]
    return "\n".join([tool.help, "", "Args:", *lines, ""])
