"""Agents: who there is, and what one holds."""

from __future__ import annotations

from memci.domain.agent import no_agent
from memci.reading.page import agent_after, agent_cursor, page_of
from memci.shapes.agent import AgentAnswer, AgentList, AgentSummary, Lease, PassProgress
from memci.storage.reading.agents import Holdings, holdings, list_agents, pass_under_way
from memci.storage.reading.nodes import list_focus
from memci.storage.reading.state import progress
from memci.storage.session import Connection, Database


class AgentListings:
    """Reads lanes, and what belongs to one agent."""

    def __init__(self, database: Database) -> None:
        """Take where it all is."""
        self._database = database

    def agents(self, *, pattern: str, cursor: str | None, limit: int) -> AgentList:
        """List agents whose ids match a pattern of * and ?, by id.

        Raises ``InvalidInputError`` for a cursor that this list did not give.
        """
        after = agent_after(cursor)
        with self._database.lane_transaction(durable=False) as connection:
            rows = list_agents(connection, pattern=pattern, after=after, limit=limit + 1)
        page, following = page_of(rows, limit, lambda row: agent_cursor(row["agent_id"]))
        return AgentList(agents=[AgentSummary(**row) for row in page], next_cursor=following)

    def agent(self, agent_id: str) -> AgentAnswer:
        """Return what an agent holds, or raise ``NotFoundError`` if it is not there."""
        with self._database.agent_snapshot(agent_id) as connection:
            held = holdings(connection, agent_id)
            if held is None:
                raise no_agent(agent_id)
            return _answer(connection, agent_id, held)


def _answer(connection: Connection, agent_id: str, held: Holdings) -> AgentAnswer:
    now = progress(connection, agent_id)
    under_way = None
    if held.pass_number is not None:
        under_way = pass_under_way(connection, agent_id, held.pass_number)
    return AgentAnswer(
        agent_id=agent_id,
        messages=held.messages,
        nodes=held.nodes,
        links=held.links,
        dangling=held.dangling,
        pages=held.pages,
        documents=held.documents,
        items=held.items,
        checkpoints=held.checkpoints,
        summaries=held.summaries,
        pins=held.pins,
        plans=held.plans,
        focus=[row["name"] for row in list_focus(connection, agent_id)],
        queued=held.queued,
        dead=held.dead,
        seq=now.seq,
        pending=now.pending,
        lease=held.lease_until and Lease(until=held.lease_until, fence=held.fence),
        pass_progress=under_way
        and PassProgress(number=under_way.number, scanned=under_way.scanned, left=under_way.left),
        passes=held.passes,
        paused=held.paused,
        halted_by=held.halted_by,
        idle=not (held.queued or held.lease_until or held.compress or held.pass_number),
    )
