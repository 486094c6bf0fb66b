"""What an agent holds, and how it is set."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Unpack
from uuid import UUID

from memci.client.flow import Flow, ask, exchange
from memci.client.options import (
    FadingOptions,
    LinkOptions,
    MessageOptions,
    NetworkOptions,
    NodeOptions,
    Page,
    PlanOptions,
    SummaryOptions,
)
from memci.client.verbs.asking import Asking
from memci.shapes.agent import (
    AgentAnswer,
    FocusList,
    LinkList,
    NodeAnswer,
    NodeList,
    ReceiptAnswer,
    TrailList,
)
from memci.shapes.belief import HistoryAnswer, SessionList
from memci.shapes.message import MessageList
from memci.shapes.network import FadingAnswer, NetworkAnswer, PassList
from memci.shapes.pins import PinList
from memci.shapes.plans import PlanAnswer
from memci.shapes.settings import SettingsAnswer
from memci.shapes.summary import SummaryList
from memci.shapes.usage import UsageAnswer


class LookingVerbs(Asking):
    """Looks, and sets parameters."""

    def about(self) -> Flow[AgentAnswer]:
        """Return what the agent holds, and what is still to do for it."""
        return self._get("", AgentAnswer)

    def messages(self, **options: Unpack[MessageOptions]) -> Flow[MessageList]:
        """List messages by seq."""
        return self._get("/messages", MessageList, options)

    def pins(self) -> Flow[PinList]:
        """List what is pinned: texts that every window and context shows, and pages."""
        return self._get("/pins", PinList)

    def plan(self, session_id: str | None = None) -> Flow[PlanAnswer]:
        """Return what a session follows, step by step; none: that of the last message."""
        return self._get("/plan", PlanAnswer, {"session_id": session_id})

    def update_plan(
        self, session_id: str | None = None, **asked: Unpack[PlanOptions]
    ) -> Flow[PlanAnswer]:
        """Set the steps of a session's plan, all of them; or how far one of them is."""
        request = exchange(
            "POST", f"{self._path}/plan", body=asked, params={"session_id": session_id}
        )
        return ask(request, PlanAnswer, self._habits.retries)

    def nodes(self, **options: Unpack[NodeOptions]) -> Flow[NodeList]:
        """List nodes by id."""
        return self._get("/nodes", NodeList, options)

    def node(self, node_id: int) -> Flow[NodeAnswer]:
        """Return one node."""
        return self._get(f"/nodes/{node_id}", NodeAnswer)

    def trail(self, node_id: int, **page: Unpack[Page]) -> Flow[TrailList]:
        """List what happened to a node, the oldest first."""
        return self._get(f"/nodes/{node_id}/trail", TrailList, page)

    def history(
        self, node_id: int, *, as_of: datetime | str | float | None = None
    ) -> Flow[HistoryAnswer]:
        """List the versions of a memory, before it and after it, the oldest first."""
        return self._get(f"/nodes/{node_id}/history", HistoryAnswer, {"as_of": as_of})

    def sessions(self, **page: Unpack[Page]) -> Flow[SessionList]:
        """List sessions by id."""
        return self._get("/sessions", SessionList, page)

    def summaries(self, **options: Unpack[SummaryOptions]) -> Flow[SummaryList]:
        """List what sessions were about, in short."""
        return self._get("/summaries", SummaryList, options)

    def links(self, **options: Unpack[LinkOptions]) -> Flow[LinkList]:
        """List links by source, then target."""
        return self._get("/links", LinkList, options)

    def focus(self) -> Flow[FocusList]:
        """List what the agent is talking about, the latest mention first."""
        return self._get("/focus", FocusList)

    def network(self, **options: Unpack[NetworkOptions]) -> Flow[NetworkAnswer]:
        """Return nodes, links and focus: now, or as the pass ``number`` left them."""
        params = {"pass": options.get("number"), "limit": options.get("limit")}
        return self._get("/network", NetworkAnswer, params)

    def passes(self, **page: Unpack[Page]) -> Flow[PassList]:
        """List passes, the latest first."""
        return self._get("/passes", PassList, page)

    def fading(self, **options: Unpack[FadingOptions]) -> Flow[FadingAnswer]:
        """Return strengths, importance and length of memories over passes."""
        return self._get("/fading", FadingAnswer, options)

    def receipt(self, receipt_id: UUID) -> Flow[ReceiptAnswer]:
        """Return what an operation did."""
        return self._get(f"/receipts/{receipt_id}", ReceiptAnswer)

    def settings(self) -> Flow[SettingsAnswer]:
        """Return the memory parameters that hold for the agent."""
        return self._get("/settings", SettingsAnswer)

    def configure(self, parameters: Mapping[str, float | str]) -> Flow[SettingsAnswer]:
        """Replace all that the agent has of its own: what is not named is back at its default."""
        request = exchange("PUT", f"{self._path}/settings", body=parameters)
        return ask(request, SettingsAnswer, self._habits.retries)

    def usage(self, *, days: int = 30) -> Flow[UsageAnswer]:
        """Return what language models took for the agent, and its budget of today."""
        return self._get("/usage", UsageAnswer, {"days": days})
