"""The second step of a search and of a context: find candidates, in one snapshot (R11, R13)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from memci.domain.context.recent_messages import GROWTH
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.recall import Walk
from memci.domain.pages.pins import Pin
from memci.domain.pages.tree import Viewer, VisibleTree
from memci.domain.pages.window_text import ContentReader
from memci.domain.search.candidate import KEPT, Candidate, Source
from memci.domain.session.plan import Plan
from memci.message import Message
from memci.reading.reader import Reader
from memci.reading.understand import Question, restriction_of
from memci.schemas.reads import ContextRequest, Scope, SearchRequest
from memci.storage import agents, documents, plans
from memci.storage.network.edits import withheld_places
from memci.storage.network.links import focus_nodes
from memci.storage.pages.page_queries import listed_pages, request_viewer
from memci.storage.pins import read_pins
from memci.storage.reading import recall as network
from memci.storage.reading.messages import recent_messages
from memci.storage.reading.nodes import important_memories, newest_memories
from memci.storage.reading.snapshot_state import SnapshotState, last_list_state, snapshot_state
from memci.storage.search.find import SearchResult, search
from memci.storage.session import Connection
from memci.storage.summaries import StoredSummary, read_summary

# Without a question, the most important of the memories nearest to the focus are candidates.
_NEAREST = 500
_IMPORTANT = 100
# After this silence a question without a session begins a new conversation.
_SILENCE = timedelta(hours=24)
_RECENT = 8  # interactions of a context, if the request names no number
DEFAULT_HITS = 10  # of a question that is not analysed


@dataclass(frozen=True, slots=True)
class Found:
    """The results of one snapshot. The fields with a default are for contexts only."""

    state: SnapshotState
    parameters: MemoryParameters  # the agent's own
    question: Question | None
    results: Sequence[SearchResult] = ()  # one for each query of the question
    near_focus: Sequence[Candidate] = ()  # without a question; the most important memory first
    messages: Sequence[Message] = ()  # the latest ones of the conversation, ascending
    pins: Sequence[Pin] = ()
    plan: Plan | None = None
    summary: StoredSummary | None = None
    pages: tuple[VisibleTree, ContentReader] | None = None


def find(
    reader: Reader,
    connection: Connection,
    agent_id: str,
    question: Question,
    request: SearchRequest,
) -> Found:
    """Return the candidates of a search."""
    state = snapshot_state(connection, agent_id)
    parameters = agents.own_of(reader.defaults.memory, state.parameters)
    results = _search(connection, agent_id, question, request, state, must_exist=True)
    return Found(state, parameters, question, results)


def _search(
    connection: Connection,
    agent_id: str,
    question: Question,
    scope: Scope,
    state: SnapshotState,
    *,
    must_exist: bool,
) -> list[SearchResult]:
    """Run every query; ``must_exist``: raise ``NotFoundError`` for a missing collection."""
    owners = [agent_id] if state.has_documents else []
    if scope.collections:
        owners += documents.see_collections(connection, scope.collections, must_be_there=must_exist)
    viewer = None
    if (KEPT - state.lacks).intersection(scope.sources):
        viewer = request_viewer(connection, agent_id, scope.session_id, scope.user_id)
    queries = [replace(each.seen_by(viewer), hides=state.has_withheld) for each in question.queries]
    if state.has_vector_index:
        queries = [replace(each, by_index=True) for each in queries]
    found = [search(connection, agent_id, each, owners, state.lacks) for each in queries]
    if not state.has_withheld:
        return found
    seqs = {seq for each in found for seq in each.message_seqs}
    withheld = withheld_places(connection, agent_id, seqs)
    return [each.without(withheld) for each in found]


def find_for_context(
    reader: Reader,
    connection: Connection,
    agent_id: str,
    question: Question | None,
    request: ContextRequest,
) -> Found:
    """Return the candidates and the other parts of a context: messages, pins, plan, pages."""
    state = last_list_state(connection, agent_id, request.session_id)
    parameters = agents.own_of(reader.defaults.memory, state.parameters)
    near: list[Candidate] = []
    results: list[SearchResult] = []
    if question is None:
        near = _near_focus(connection, agent_id, request, parameters.default_search_depth)
    else:
        # A conversation continues, even if a collection that it reads was removed.
        results = _search(connection, agent_id, question, request, state, must_exist=False)
    messages = _messages(connection, agent_id, request)
    found = Found(state, parameters, question, results, near, messages)
    return _with_stored_texts(connection, agent_id, request, found)


def _with_stored_texts(
    connection: Connection, agent_id: str, request: ContextRequest, found: Found
) -> Found:
    """Add pins, plan, summary and pages; only pins if the request has ``as_of``."""
    state, is_now = found.state, request.as_of is None
    viewer = Viewer(request.session_id, request.user_id)
    if state.has_pages or state.holds - {Source.MEMORY}:
        viewer = request_viewer(connection, agent_id, request.session_id, request.user_id)
    pins: list[Pin] = []
    if Source.PIN in state.holds:
        stored = read_pins(connection, agent_id, request.as_of).pins
        pins = [each for each in stored if viewer.sees(each)]
    plan = summary = pages = None
    if is_now and Source.PLAN in state.holds:
        plan = plans.read_plan(connection, agent_id, viewer)
    if is_now and Source.SUMMARY in state.holds.intersection(request.sources):
        summary = read_summary(connection, agent_id, request.session_id, viewer)
    if is_now and state.has_pages and Source.PAGE in request.sources:
        pages = listed_pages(connection, agent_id, viewer)
    return replace(found, pins=pins, plan=plan, summary=summary, pages=pages)


def recent_interactions(request: ContextRequest) -> int:
    """Return the number of recent interactions of a context."""
    return _RECENT if request.recent is None else request.recent


def _messages(connection: Connection, agent_id: str, request: ContextRequest) -> list[Message]:
    """Return the window's messages, those of the summary, and the query if stored.

    The conversation continues if the request names a session, asks for recent messages or has no
    query, or if the last message is recent. If not, only the stored query is returned.
    """
    recent = recent_interactions(request)
    # The largest list before it is cut.
    most = max(GROWTH * recent - 1, 0) if request.recent is None else recent
    messages = recent_messages(
        connection,
        agent_id,
        session_id=request.session_id,
        user_id=request.user_id,
        as_of=request.as_of,
        interactions=most + recent + 2,
    )
    if request.session_id is not None or request.recent is not None or request.query is None:
        return messages
    now = request.as_of or datetime.now(UTC)
    if messages and messages[-1].said_at > now - _SILENCE:
        return messages
    return [each for each in messages[-1:] if each.content == request.query]


def _near_focus(
    connection: Connection, agent_id: str, request: ContextRequest, depth: int
) -> list[Candidate]:
    """Return the memories nearest to the focus, the most important first (M11).

    If links lead to few memories, the newest are added: the current topic may be new.
    """
    if Source.MEMORY not in request.sources:
        return []
    walk = Walk(focus_nodes(connection, agent_id))
    while walk.layer < depth and walk.frontier and len(walk.memories(None)) < _NEAREST:
        walk.advance(network.steps_from(connection, agent_id, walk.frontier, ()))
    nearest = [each.node_id for each in walk.memories(None)[:_NEAREST]]
    restriction = restriction_of(request)
    if len(nearest) < _NEAREST:
        limit = _NEAREST - len(nearest)
        newest = newest_memories(connection, agent_id, restriction, limit=limit)
        nearest = list(dict.fromkeys((*nearest, *newest)))
    return important_memories(connection, agent_id, nearest, restriction, limit=_IMPORTANT)
