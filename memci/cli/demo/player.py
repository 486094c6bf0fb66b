"""A story on its way through the demo."""

from __future__ import annotations

from dataclasses import dataclass

from memci.cli.demo.stories import Story
from memci.client import Agent
from memci.shapes.agent import NodeAnswer

# Nothing in the demo takes that long.
TIMEOUT_S = 120.0
# As far as a recall goes: old memories are far from what the agent talks about now.
DEPTH = 10
_ALL = 500


@dataclass(frozen=True, slots=True)
class Player:
    """A story, and the agent that lives it."""

    story: Story
    agent: Agent

    @property
    def name(self) -> str:
        """The agent's id, which is also the name of its lane."""
        return self.story.agent

    def memories(self) -> list[NodeAnswer]:
        """Return the memories that the agent has now."""
        return self.agent.nodes(kind="memory", limit=_ALL).nodes
