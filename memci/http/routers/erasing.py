"""Erasing for good (M25)."""

from __future__ import annotations

from fastapi import APIRouter

from memci.commands import erase
from memci.http.call import Call
from memci.http.documentation import problems
from memci.http.parameters import AgentId
from memci.http.route import AdminRoute
from memci.shapes.agent import ReceiptAnswer
from memci.shapes.erasure import EraseRequest, ErasurePreview
from memci.shapes.read import SearchAnswer, SearchRequest

router = APIRouter(prefix="/v1", tags=["erasing"], route_class=AdminRoute)


@router.post("/agents/{agent}/erase", responses=problems(400, 404, 413, 415))
def erase_messages(
    agent: AgentId, body: EraseRequest, call: Call
) -> ReceiptAnswer | ErasurePreview:
    """Erase messages or a session for good, with all that was made of them.

    The answer is a receipt, which is kept: what went, in numbers and ids. With `preview` it says
    what would go. A `query` needs the preview: send back those of its `message_ids` that are to
    go. Messages that shared a memory with an erased one are made into memories anew.

    An erased id is refused for good.
    """
    runtime = call.runtime
    which = erase.Which.of(body)
    if body.query is not None:
        which = erase.Which(_found(call, agent, body.query, body.k))
        if not which.message_ids:
            return erase.NOTHING
    if body.preview:
        return erase.preview(runtime.database, agent, which)
    return erase.run(runtime.database, runtime.tokens, agent, which)


@router.delete("/agents/{agent}", responses=problems(404))
def erase_agent(agent: AgentId, call: Call) -> ReceiptAnswer:
    """Erase an agent for good: all that it holds, and what waits for it in the broker.

    The next message under its id begins a new life. Ids of erased messages are refused for good.
    """
    runtime = call.runtime
    return erase.run_agent(runtime.database, runtime.tokens, runtime.agent_queues, agent)


def _found(call: Call, agent_id: str, query: str, k: int) -> list[str]:
    """Return the messages that a query finds, the best first."""
    request = SearchRequest(query=query, k=k)
    fields = request.model_dump(mode="json", exclude_unset=True)
    answer = SearchAnswer(**call.runtime.reads.call("search", agent_id, fields))
    return list(dict.fromkeys(each for hit in answer.hits for each in hit.message_ids))
