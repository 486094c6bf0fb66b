"""The route of the audit log."""

from typing import Annotated

from fastapi import Query

from memci.http.request import Call, Page
from memci.http.routing import Routes
from memci.schemas.audit import AuditList
from memci.schemas.base import ForeignId

routes = Routes("audit")


@routes.admin.get("/audit")
def list_audit(
    call: Call,
    page: Page,
    agent_id: Annotated[ForeignId | None, Query()] = None,
) -> AuditList:
    """List who administered or erased what, the latest first; of this key's agents only.

    Actions without an agent, such as those on keys, are for keys of the pattern `*`.
    """
    return call.runtime.listings.audit(pattern=call.state.agents, agent_id=agent_id, **page)
