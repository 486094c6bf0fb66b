"""What can be asked of memci, each verb once (see flow.py)."""

from __future__ import annotations

from memci.client.verbs.agent_requests import Habits
from memci.client.verbs.agents import OperatingVerbs
from memci.client.verbs.documents import CollectionVerbs, DocumentVerbs
from memci.client.verbs.memory import MemoryVerbs, MovingVerbs, RebuildingVerbs
from memci.client.verbs.paging import PagingVerbs
from memci.client.verbs.server import ServiceVerbs
from memci.client.verbs.tools import ToolVerbs

__all__ = ["AgentVerbs", "CollectionVerbs", "Habits", "ServiceVerbs"]


class AgentVerbs(
    MemoryVerbs, RebuildingVerbs, OperatingVerbs, PagingVerbs, ToolVerbs, MovingVerbs, DocumentVerbs
):
    """What can be asked about one agent."""
