"""The list of agents, and the overview of one."""

from starlette.responses import Response

from memci.api_keys import Scope
from memci.commands import configure
from memci.console.visit import Visit
from memci.reading.lists.listings import tail_of
from memci.schemas.agents import AgentSummary

_AGENTS, _WORDS = 25, 8


def _listing(visit: Visit) -> Response:
    listed = visit.runtime.listings.agents(
        pattern=visit.request.state.agents,
        find=visit.given("find") or "",
        cursor=visit.given("cursor"),
        limit=_AGENTS,
    )
    said = {each.agent_id: _last_words(visit, each) for each in listed.agents}
    return visit.page("agents.html", listed=listed, said=said, find=visit.given("find") or "")


def _last_words(visit: Visit, agent: AgentSummary) -> str:
    said = tail_of(visit.runtime.database, agent.agent_id, None, 1) if agent.messages else []
    return said[0].content or "" if said else ""


def _overview(visit: Visit) -> Response:
    runtime, agent = visit.runtime, visit.agent
    return visit.live(
        "agent",
        about=runtime.listings.agent(agent),
        passes=runtime.listings.passes(agent, cursor=None, limit=8).passes,
        said=tail_of(runtime.database, agent, None, _WORDS),
        pins=runtime.windows.pins(agent),
        settings=configure.show(runtime.page_commands, agent, runtime.defaults),
    )


PAGES = (
    ("/agents", _listing, Scope.READ),
    ("/agents/{agent}", _overview, Scope.READ),
)
