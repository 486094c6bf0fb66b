"""Erasing for good (M25)."""

from __future__ import annotations

from fastapi import APIRouter

from memci.commands import erase
from memci.commands import erase as erase_preview
from memci.commands.erase import Which
from memci.commands.erase_search import Words, find_messages, find_pages, find_pins
from memci.http.documentation import problems
from memci.http.request import AgentId, Call
from memci.http.routing import AdminRoute
from memci.schemas.agents import ReceiptAnswer
from memci.schemas.erasure import EraseRequest, ErasurePreview

router = APIRouter(prefix="/v1", tags=["erasing"], route_class=AdminRoute)


@router.post("/agents/{agent}/erase", responses=problems(400, 404, 413, 415))
def erase_messages(
    agent: AgentId, body: EraseRequest, call: Call
) -> ReceiptAnswer | ErasurePreview:
    """Erase messages or a session for good, with all that was made of them.

    The answer is a receipt, which is kept: what went, in numbers and ids. With `preview` it says
    what would go. A `query` needs the preview, and finds what holds all of its words: send back
    those of its `message_ids`, `page_indexes` and `pins` that are to go. Messages that shared a
    memory with an erased one are made into memories anew.

    An erased id is refused for good.
    """
    runtime = call.runtime
    database, store = runtime.database, runtime.page_store
    which = Which.of(body)
    if body.query is not None:
        words = Words.of(body.query, runtime.models.lexicon)
        found = find_pages(database, store, agent, words, most=body.k)
        which = Which(
            find_messages(database, agent, words, most=body.k),
            page_indexes=found.indexes,
            pins=find_pins(database, agent, words, most=body.k),
        )
        if not (which.message_ids or which.page_indexes or which.pins):
            told = erase_preview.NOTHING
        else:
            told = erase_preview.preview(database, store, agent, which, words)
        return told.model_copy(update={"unread": found.unread})
    if body.preview:
        return erase_preview.preview(database, store, agent, which)
    pages = runtime.page_commands
    pages.settle_before_erasing(agent)
    return erase.run(database, store, runtime.tokens, agent, which, settle=pages.settle_in)


@router.delete("/agents/{agent}", responses=problems(404))
def erase_agent(agent: AgentId, call: Call) -> ReceiptAnswer:
    """Erase an agent for good: all that it holds, and what waits for it in the broker.

    The next message under its id begins a new life. Ids of erased messages are refused for good.
    """
    runtime = call.runtime
    return erase.run_agent(
        runtime.database, runtime.page_store, runtime.tokens, runtime.agent_queues, agent
    )
