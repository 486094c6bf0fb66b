"""The one table of what can be done to an agent's context and memory (P4, P15, R20).

HTTP, CLI, client, JSON function schemas, MCP and ATTP are all made from it. What a model reads of
a tool is the text of its request's class and fields.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from memci.shapes import memory_tools as memory
from memci.shapes import page_tools, pages, pins, plans
from memci.shapes.base import Answer, Request
from memci.shapes.schemas import schema_asked


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
    Tool(pins.Pin, pins.PinChange, undone=False),
    Tool(pins.Unpin, pins.PinChange, undone=False),
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
    Tool(plans.UpdatePlan, plans.PlanAnswer, About.MEMORY, undone=False, idempotent=True),
)
BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}


def tools_of_agents() -> tuple[Tool, ...]:
    """Return the tools that a model may be given."""
    return tuple(tool for tool in TOOLS if tool.for_agents)


def tools_in_code() -> tuple[Tool, ...]:
    """Return the tools that a model's code may call: what they do can be taken back as a whole."""
    return tuple(tool for tool in tools_of_agents() if tool.in_code)
