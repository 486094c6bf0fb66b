"""The table of all tools of an agent, their arguments and provider formats (P4, P15, R20).

HTTP, CLI, client, JSON function schemas, MCP and ATTP are all made from it. What a model reads of
a tool is the text of its request's class and fields.
"""

import inspect
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, TypeAlias, get_type_hints

from memci.errors import InvalidInputError
from memci.schemas import pages
from memci.schemas.base import Answer, Request
from memci.schemas.json_schema import schema_asked
from memci.schemas.pages import INDEX_PATTERN
from memci.schemas.tools import memory
from memci.schemas.tools import pages as page_tools
from memci.schemas.tools.format_names import ToolFormat
from memci.schemas.tools.pages import schema_for_model


class About(Enum):
    """The subject of a tool."""

    PAGES = auto()
    MEMORY = auto()


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its arguments, its answer, and who may use it where."""

    request: type[Request]
    answer: type[Answer]
    about: About = About.PAGES
    changes: bool = True  # False: it only reads
    for_agents: bool = True  # False: for developers only
    in_code: bool = True  # False: no part of a program that takes effect as a whole (ATTP)
    undone: bool = True  # False: undo does not take it back (P17)
    begins: bool = False  # True: it may come before an agent's first message
    idempotent: bool = False
    destroys: bool = False  # True: nothing takes it back
    erases: bool = False  # True: messages go, too, for which a key needs scope admin
    developer_help: str | None = None  # where it differs from the text for models

    @property
    def name(self) -> str:
        """Its name, everywhere: ``move_page``."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.request.__name__).lower()

    @property
    def description(self) -> str:
        """The text for models."""
        return " ".join((self.request.__doc__ or "").split())

    @property
    def help(self) -> str:
        """The text for developers: on the command line, in the client and in OpenAPI."""
        return self.developer_help or (inspect.getdoc(self.request) or "").strip()

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of its arguments in the order of positional ones: required ones first."""
        fields = self.request.model_fields
        return tuple(sorted(fields, key=lambda name: not fields[name].is_required()))

    @property
    def parameters(self) -> dict[str, Any]:
        """A short JSON schema of the arguments."""
        return schema_asked(self.request)


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
        developer_help=(
            "Take back the agent's own last change to pages, not one of yours; again: the one"
            " before."
        ),
    ),
    Tool(
        page_tools.Redo,
        pages.StepAnswer,
        in_code=False,
        developer_help="Do again what was undone last of the agent's own changes to pages.",
    ),
    Tool(page_tools.GetPage, pages.PageText, changes=False),
    Tool(page_tools.GetChildren, pages.PageList, changes=False),
    Tool(page_tools.GetParent, pages.PageList, changes=False),
    Tool(page_tools.GetAncestors, pages.PageList, changes=False),
    Tool(page_tools.FindPages, pages.PageList, changes=False),
    Tool(page_tools.CreateSegment, pages.PageChange, for_agents=False, begins=True),
    Tool(memory.Remember, memory.Noted, About.MEMORY, begins=True),
    Tool(memory.Update, memory.Noted, About.MEMORY),
    Tool(memory.Forget, memory.Forgot, About.MEMORY, in_code=False, destroys=True),
    Tool(memory.Erase, memory.Erased, About.MEMORY, in_code=False, destroys=True, erases=True),
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
    """Return the tools that a model's code may call: their changes can be undone as a whole."""
    return tuple(tool for tool in tools_of_agents() if tool.in_code)


REQUIRED: Any = ...


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool."""

    name: str
    type: Any  # without pydantic's constraints
    default: Any  # ``REQUIRED`` if there is none
    about: str
    positional: bool  # it needs no name
    long: bool  # a text without a limit of its own


def arguments_of(tool: Tool) -> tuple[Argument, ...]:
    """Return the arguments of a tool, positional ones first, in the order of its fields.

    Positional are required page indexes, or else the only required field.
    """
    fields, schemas = tool.request.model_fields, tool.request.model_json_schema()["properties"]
    types = get_type_hints(tool.request)
    required = [name for name, field in fields.items() if field.is_required()]
    indexes = [name for name in required if schemas[name].get("pattern") == INDEX_PATTERN]
    positional = indexes or required[: len(required) == 1]
    arguments = []
    for name, field in fields.items():
        parts = (schemas[name], *schemas[name].get("anyOf", ()))
        has_limit = any({"pattern", "maxLength", "enum"} & each.keys() for each in parts)
        argument = Argument(
            name=name,
            type=types[name],
            default=REQUIRED if field.is_required() else field.get_default(),
            about=next(filter(None, (each.get("description", "") for each in parts)), ""),
            positional=name in positional,
            long=types[name] is str and not has_limit,
        )
        arguments.append(argument)
    return tuple(sorted(arguments, key=lambda each: not each.positional))


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
    return [_written(tool, form) for tool in listed]


def _written(tool: Tool, form: ToolFormat) -> Written:
    about = {"name": tool.name, "description": tool.description}
    match form:
        case ToolFormat.OPENAI:
            return {"type": "function", "function": {**about, "parameters": tool.parameters}}
        case ToolFormat.RESPONSES:
            return {"type": "function", **about, "parameters": tool.parameters}
        case ToolFormat.ANTHROPIC:
            return {**about, "input_schema": tool.parameters}
        case ToolFormat.MCP:
            hints = {
                "readOnlyHint": not tool.changes,
                "destructiveHint": tool.destroys,
                "idempotentHint": tool.idempotent or not tool.changes,
                "openWorldHint": False,
            }
            schemas = {
                "inputSchema": tool.parameters,
                "outputSchema": schema_for_model(tool.answer),
            }
            return {**about, **schemas, "annotations": hints}
