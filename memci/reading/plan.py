"""The plan of a session (R7)."""

from __future__ import annotations

from memci.shapes.plans import PlanAnswer
from memci.storage.erasure.gone import snapshot_of
from memci.storage.plans import read_plan
from memci.storage.session import Database
from memci.storage.viewers import viewer_in


def show_plan(database: Database, agent_id: str, session_id: str | None) -> PlanAnswer:
    """Return the plan of a session (None: that of the last message).

    Raises ``NotFoundError`` for no agent.
    """
    with snapshot_of(database, agent_id) as connection:
        viewer = viewer_in(connection, agent_id, session_id)
        plan = read_plan(connection, agent_id, viewer)
    return PlanAnswer.of(plan, viewer.session_id)
