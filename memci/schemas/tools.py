"""The table of all tools of an agent, their arguments and provider formats (P4, P15, R20).

HTTP, CLI, client, JSON function schemas, MCP and ATTP are all made from it. What a model reads of
a tool is the text of its request's class and fields.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, TypeAlias, get_type_hints

from memci.errors import InvalidInputError
from memci.schemas import memory_tools as memory
from memci.schemas import page_tools, pages
from memci.schemas.base import Answer, Request
from memci.schemas.json_schema import schema_asked
from memci.schemas.page_tools import schema_told
from memci.schemas.pages import INDEX_PATTERN
from memci.schemas.tool_format import ToolFormat


class About(Enum):
    """What a tool works on."""

    PAGES = auto()
    MEMORY = auto()


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: what is asked, what is answered, and who may use it where.

    ``changes`` is false of what only looks; ``for_agents`` of what developers alone may do;
    ``in_code`` of what cannot be part of a call that takes effect as a whole; ``undone`` is
    false of what undo does not take back (P17). ``begins`` is true of what may be done before an
    agent's first message; ``idempotent`` of a change that, asked for twice, is made once;
    ``destroys`` of one that nothing takes back. ``said_to_developers``: what their help says of it,
    where that is not what a model reads.
    """

    request: type[Request]
    answer: type[Answer]
    about: About = About.PAGES
    changes: bool = True
    for_agents: bool = True
    in_code: bool = True
    undone: bool = True
    begins: bool = False
    idempotent: bool = False
    destroys: bool = False
    said_to_developers: str | None = None

    @property
    def name(self) -> str:
        """Its name, everywhere: ``move_page``."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.request.__name__).lower()

    @property
    def description(self) -> str:
        """What a model reads of it."""
        return " ".join((self.request.__doc__ or "").split())

    @property
    def help(self) -> str:
        """What developers read of it: on the command line, in the client and in OpenAPI."""
        return self.said_to_developers or (inspect.getdoc(self.request) or "").strip()

    @property
    def arguments(self) -> tuple[str, ...]:
        """What it takes, by name, in the order in which code may give it: what must be, first."""
        fields = self.request.model_fields
        return tuple(sorted(fields, key=lambda name: not fields[name].is_required()))

    @property
    def parameters(self) -> dict[str, Any]:
        """JSON schema of what is asked, as short as it can be (``schemas``)."""
        return schema_asked(self.request)

    @property
    def function(self) -> dict[str, Any]:
        """The tool as a function schema in the style of OpenAI."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self.parameters,
            },
        }


TOOLS: tuple[Tool, ...] = (
    Tool(page_tools.CreateDetailPage, pages.PageChange, begins=True),
    Tool(page_tools.CreateContentsPage, pages.PageChange, begins=True),
    Tool(page_tools.MovePage, pages.PageChange, idempotent=True),
    Tool(page_tools.UpdatePage, pages.PageChange, idempotent=True),
    Tool(page_tools.ExpandDetails, pages.PageChange, idempotent=True),
    Tool(page_tools.HideDetails, pages.PageChange, idempotent=True),
    Tool(page_tools.RemovePage, pages.PageChange),
    Tool(page_tools.RecallPage, pages.PageChange),
    Tool(page_tools.RestorePage, pages.PageChange),
    Tool(page_tools.PinPage, pages.PageChange, idempotent=True),
    Tool(page_tools.UnpinPage, pages.PageChange, idempotent=True),
    Tool(pages.Pin, pages.PinChange, undone=False),
    Tool(pages.Unpin, pages.PinChange, undone=False),
    Tool(page_tools.AutoCollapse, pages.CollapseAnswer, idempotent=True),
    Tool(
        page_tools.Undo,
        pages.StepAnswer,
        in_code=False,
        said_to_developers=(
            "Take back the agent's own last change to pages, not one of yours; again: the one"
            " before."
        ),
    ),
    Tool(
        page_tools.Redo,
        pages.StepAnswer,
        in_code=False,
        said_to_developers="Do again what was undone last of the agent's own changes to pages.",
    ),
    Tool(page_tools.GetPage, pages.PageText, changes=False),
    Tool(page_tools.GetChildren, pages.PageList, changes=False),
    Tool(page_tools.GetParent, pages.PageList, changes=False),
    Tool(page_tools.GetAncestors, pages.PageList, changes=False),
    Tool(page_tools.FindPages, pages.PageList, changes=False),
    Tool(page_tools.CreateSegment, pages.PageChange, for_agents=False, begins=True),
    Tool(memory.Remember, memory.Noted, About.MEMORY),
    Tool(memory.Update, memory.Noted, About.MEMORY),
    Tool(memory.Erase, memory.Erased, About.MEMORY, in_code=False, destroys=True),
    Tool(memory.Recall, memory.FoundList, About.MEMORY, changes=False),
    Tool(memory.Search, memory.FoundList, About.MEMORY, changes=False),
    Tool(memory.Summarise, memory.Summary, About.MEMORY, changes=False),
    Tool(memory.FilterMemory, memory.FoundList, About.MEMORY, changes=False),
    Tool(memory.Focus, memory.InFocus, About.MEMORY, idempotent=True),
    Tool(pages.UpdatePlan, pages.PlanAnswer, About.MEMORY, undone=False, idempotent=True),
)
BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}


def tools_of_agents() -> tuple[Tool, ...]:
    """Return the tools that a model may be given."""
    return tuple(tool for tool in TOOLS if tool.for_agents)


def tools_in_code() -> tuple[Tool, ...]:
    """Return the tools that a model's code may call: what they do can be taken back as a whole."""
    return tuple(tool for tool in tools_of_agents() if tool.in_code)


REQUIRED: Any = ...


@dataclass(frozen=True, slots=True)
class Argument:
    """One field of what is asked.

    ``type`` is without what pydantic checks; ``default`` is ``REQUIRED`` if there is none.
    ``positional``: it needs no name. ``long``: a text without a limit of its own.
    """

    name: str
    type: Any
    default: Any
    about: str
    positional: bool
    long: bool


def arguments_of(tool: Tool) -> tuple[Argument, ...]:
    """Return what a tool takes, first what needs no name, in the order of its fields.

    Needing no name: the pages that have to be named, or else the only field that is required.
    """
    fields, schemas = tool.request.model_fields, tool.request.model_json_schema()["properties"]
    types = get_type_hints(tool.request)
    required = [name for name, field in fields.items() if field.is_required()]
    named = [name for name in required if _is_index(schemas[name])] or required[
        : len(required) == 1
    ]
    arguments = [
        Argument(
            name=name,
            type=types[name],
            default=REQUIRED if field.is_required() else field.get_default(),
            about=_about(schemas[name]),
            positional=name in named,
            long=types[name] is str and not _has_limit(schemas[name]),
        )
        for name, field in fields.items()
    ]
    return tuple(sorted(arguments, key=lambda each: not each.positional))


def _about(schema: Mapping[str, Any]) -> str:
    """Return what is said of a field, or of what it may be."""
    said = (each.get("description", "") for each in (schema, *schema.get("anyOf", ())))
    return next(filter(None, said), "")


def _is_index(schema: Mapping[str, Any]) -> bool:
    return schema.get("pattern") == INDEX_PATTERN


def _has_limit(schema: Mapping[str, Any]) -> bool:
    return any(
        {"pattern", "maxLength", "enum"} & each.keys()
        for each in (schema, *schema.get("anyOf", ()))
    )


Written: TypeAlias = dict[str, Any]


def tools(
    format: ToolFormat | str = ToolFormat.OPENAI,  # noqa: A002 - the word of the surface
) -> list[Written]:
    """Return all tools that a model may be given, to hand to a provider as they are.

    ``format`` is ``openai``, ``responses``, ``anthropic`` or ``mcp``. Raises ``InvalidInputError``
    for one that there is not.
    """
    if format not in list(ToolFormat):
        known = ", ".join(ToolFormat)
        raise InvalidInputError(f"format: expected one of: {known}", field="format")
    return deepcopy(written(tools_of_agents(), ToolFormat(format)))


def written(listed: Sequence[Tool], form: ToolFormat) -> list[Written]:
    """Return these tools in a format; their schemas are shared: change a copy."""
    return [_WAYS[form](tool) for tool in listed]


def _flat(tool: Tool) -> Written:
    return {"type": "function", **tool.function["function"]}


def _anthropic(tool: Tool) -> Written:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.parameters,
    }


def _mcp(tool: Tool) -> Written:
    hints = {
        "readOnlyHint": not tool.changes,
        "destructiveHint": tool.destroys,
        "idempotentHint": tool.idempotent or not tool.changes,
        "openWorldHint": False,
    }
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.parameters,
        "outputSchema": schema_told(tool.answer),
        "annotations": hints,
    }


_WAYS: Mapping[ToolFormat, Callable[[Tool], Written]] = {
    ToolFormat.OPENAI: lambda tool: tool.function,
    ToolFormat.RESPONSES: _flat,
    ToolFormat.ANTHROPIC: _anthropic,
    ToolFormat.MCP: _mcp,
}
