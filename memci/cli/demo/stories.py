"""The two conversations of the demo, and how they are printed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.rule import Rule
from rich.text import Text

from memci.cli.output import console, print_table, printable
from memci.client import Agent
from memci.schemas.agents import NodeAnswer

_MARGIN = 2


class Screen:
    """Prints steps, lines and tables on standard output."""

    def __init__(self) -> None:
        """Begin with step 1."""
        self._console = console()
        self._steps = 0

    def step(self, name: str, what: str) -> None:
        """Begin the next step."""
        self._steps += 1
        self._console.print()
        if self._console.is_terminal:
            self._console.print(Rule(style="dim"))
        self._console.print(Text.assemble((f"{self._steps}  {name}", "bold cyan"), f"  {what}"))

    def say(self, text: str = "", *, style: str = "") -> None:
        """Print a line."""
        margin = " " * _MARGIN
        text = margin + printable(text).replace("\n", f"\n{margin}")
        self._console.print(Text(text, style=style), soft_wrap=True)

    def heading(self, text: str) -> None:
        """Print a bold line after an empty one."""
        self._console.print()
        self.say(text, style="bold")

    def table(self, columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
        """Print a table; numbers go to the right."""
        print_table(columns, rows, indent=_MARGIN)


@dataclass(frozen=True, slots=True)
class Story:
    """A conversation of one agent, and words for the three kinds of recall."""

    agent: str
    language: str
    file: str
    watched: str  # a word of the memory that is watched as it shrinks
    found: str
    forgotten: str  # of the oldest small talk: it goes first
    never: str
    system: str
    question: str

    def days(self) -> Mapping[str, list[dict[str, Any]]]:
        """Return the messages of each day, the days in order."""
        text = files(__package__).joinpath(self.file).read_text(encoding="utf-8")
        days: dict[str, list[dict[str, Any]]] = {}
        for line in text.splitlines():
            message = json.loads(line)
            days.setdefault(message["timestamp"][:10], []).append(message)
        return days


STORIES = (
    Story(
        agent="mira",
        language="English",
        file="english.jsonl",
        watched="pottery",
        found="Biscuit",
        forgotten="umbrella",
        never="submarine",
        system="You are Mira's assistant. Answer briefly.",
        question="The dog sitter comes tomorrow. What does she have to know about Biscuit?",
    ),
    Story(
        agent="chen",
        language="中文",
        file="chinese.jsonl",
        watched="书法",
        found="霸王龙",
        forgotten="赛马",
        never="潜水艇",
        system="你是老陈的助手，直接给结论。",
        question="乐乐周末又要来家里玩，我要注意什么？",
    ),
)


def write_stories(folder: Path) -> list[Path]:
    """Write both conversations as JSON lines into a folder, and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / story.file for story in STORIES]
    for path in written:
        path.write_bytes(files(__package__).joinpath(path.name).read_bytes())
    return written


# Nothing in the demo takes that long.
TIMEOUT_S = 120.0
# The largest depth of a recall: old memories are far from the focus.
DEPTH = 10
_ALL = 500


@dataclass(frozen=True, slots=True)
class DemoAgent:
    """A story and its agent."""

    story: Story
    agent: Agent

    @property
    def name(self) -> str:
        """The agent's id, which is also the name of its lane."""
        return self.story.agent

    def memories(self) -> list[NodeAnswer]:
        """Return the memories that the agent has now."""
        return self.agent.nodes(kind="memory", limit=_ALL).nodes
