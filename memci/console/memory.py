"""The memory network as a graph over its passes, and everything about one node of it."""

from collections.abc import Mapping
from contextlib import suppress

from starlette.responses import Response

from memci.api_keys import Scope
from memci.commands import edit_memories, network_changes
from memci.console.visit import Visit
from memci.domain.memory.node import RemovalReason
from memci.errors import InvalidInputError, NotFoundError
from memci.reading.lists.memory_listings import NodeFilters
from memci.schemas.memories import AddRequest, NumberedEdit
from memci.schemas.network import NetworkAnswer

# Nodes that a graph may show at once, and how many it shows first.
LEVELS = (300, 2_000, 10_000)
# Of nodes and links; scripts draw only the strongest of these links at once.
_MOST_LINKS = 6_000
_PASSES = 200
_EVENTS, _LINKS, _PINNED = 200, 200, 500
_BEGINNING = 160  # characters of a text in the list
_ARE_PINNED = NodeFilters(
    kind="memory", type=None, tier=None, pinned=True, text=None, session_id=None, user_id=None,
    since=None, until=None, as_of=None,
)  # fmt: skip


def _graph(visit: Visit) -> Response:
    numbers = [
        each.number
        for each in visit.runtime.listings.passes(visit.agent, cursor=None, limit=500).passes
        if each.snapshot
    ]
    return visit.live(
        "memory",
        about=visit.runtime.listings.agent(visit.agent),
        passes=numbers[::-1][-_PASSES:],
        levels=LEVELS,
        level=_level(visit),
        node=visit.number("node"),
    )


def _level(visit: Visit) -> int:
    level = visit.number("nodes") or LEVELS[0]
    if not 1 <= level <= LEVELS[-1]:
        raise InvalidInputError(f"expected 1 to {LEVELS[-1]} nodes", field="nodes")
    return level


def _network(visit: Visit) -> Response:
    """Answer with the network, now or after a pass, in arrays for a script.

    The present one has the beginnings of texts, the others phrases.
    """
    listings, agent = visit.runtime.listings, visit.agent
    found = listings.network(agent, number=visit.number("pass"), limit=_level(visit))
    pinned = listings.nodes(agent, _ARE_PINNED, cursor=None, limit=_PINNED).nodes
    ids = [] if found.pass_number else [each.id for each in found.nodes]
    texts = listings.beginnings(agent, ids, characters=_BEGINNING)
    return visit.data(_compact(found, {each.id for each in pinned}, texts))


def _compact(found: NetworkAnswer, pinned: set[int], texts: Mapping[int, str]) -> dict[str, object]:
    return {
        "pass": found.pass_number,
        "nodes": [
            [
                each.id,
                each.kind == "entity",
                texts.get(each.id) or each.phrase or f"#{each.id}",
                round(each.importance, 3),
                each.length,
                each.original_length,
                each.focus,
                each.id in pinned,
            ]
            for each in found.nodes
        ],
        "links": [
            [each.source, each.target, round(each.strength, 3), each.dangling]
            for each in found.links[:_MOST_LINKS]
        ],
        "left_out": found.left_out.nodes,
    }


def _fading(visit: Visit) -> Response:
    """Answer with the number, median importance and median length of memories over passes."""
    fading = visit.runtime.listings.fading(visit.agent, passes=40, limit=400)
    shares = [
        [each and each / max(1, memory.original_length) for each in memory.lengths]
        for memory in fading.memories
    ]
    return visit.data(
        {
            "passes": [each.number for each in fading.passes],
            "memories": [each.memories for each in fading.passes],
            "importance": _means([each.importances for each in fading.memories]),
            "length": _means(shares),
        }
    )


def _means(lines: list[list[float | None]]) -> list[float]:
    """Return the mean over all that live, for each pass."""
    columns = [[each for each in column if each is not None] for column in zip(*lines, strict=True)]
    return [round(sum(each) / len(each), 4) if each else 0.0 for each in columns]


def _node(visit: Visit) -> Response:
    """Show one node; in the graph's own page when a script asks, or else alone."""
    listings, agent = visit.runtime.listings, visit.agent
    node_id = _node_id(visit)
    trail = listings.trail(agent, node_id, cursor=None, limit=_EVENTS).events
    node = links = None
    with suppress(NotFoundError):  # then its trail says what became of it
        node = listings.node(agent, node_id)
        both = listings.links(agent, node_id=node_id, cursor=None, limit=_LINKS).links
        links = [each for each in both if each.source == node_id]
    reason = None if node else next((e for e in reversed(trail) if e.event in _REMOVALS), None)
    versions = listings.history(agent, node_id, None).versions
    gone = reason.event if reason else None
    asked = {visit.given("done"), visit.given("waits_for")}
    return visit.page(
        "node_panel.html" if "hx-request" in visit.request.headers else "node.html",
        node_id=node_id,
        node=node,
        links=links or [],
        trail=trail,
        gone=gone,
        successor=reason and reason.details.get("as"),
        # Until a job has made the memory of the new text, or the restored one.
        waits=(gone == RemovalReason.CORRECTED and versions[-1].node_id == node_id)
        or (gone == RemovalReason.FORGOTTEN and "restore" in asked),
        passes=listings.node_passes(agent, node_id),
        messages=listings.node_messages(agent, node_id),
        versions=versions if len(versions) > 1 else [],
    )


def _node_id(visit: Visit) -> int:
    node_id: int = visit.request.path_params["node"]
    if node_id >= 2**63:
        raise NotFoundError("there never was such a node")
    return node_id


_REMOVALS = frozenset(each.value for each in RemovalReason)


def _restore(visit: Visit) -> Response:
    runtime, node_id = visit.runtime, _node_id(visit)
    network_changes.restore_memory(runtime.database, runtime.wakeups, visit.agent, node_id)
    return _back(visit, "restore")


def _correct(visit: Visit) -> Response:
    text = visit.given("text") or ""
    with suppress(NotFoundError):  # a removed one has no text; the edit says what became of it
        before = visit.runtime.listings.node(visit.agent, _node_id(visit)).content
        if text.split() == before.split():  # forms change the ends of lines
            return _back(visit, "unchanged")
    return _edit(visit, "correct", text=text)


def _pin(visit: Visit) -> Response:
    return _edit(visit, "pin", pinned=True)


def _unpin(visit: Visit) -> Response:
    return _edit(visit, "unpin", pinned=False)


def _edit(visit: Visit, done: str, **change: object) -> Response:
    runtime = visit.runtime
    request = visit.asked(NumberedEdit, node_id=_node_id(visit), **change)
    edit_memories.edit(
        runtime.database,
        runtime.wakeups,
        visit.agent,
        [request],
        redact=runtime.settings.memory.redact,
        paying=visit.request.state.paying,
    )
    return _back(visit, done)


def _delete(visit: Visit) -> Response:
    runtime = visit.runtime
    edit_memories.delete(runtime.database, runtime.wakeups, visit.agent, [_node_id(visit)])
    return _back(visit, "delete")


def _back(visit: Visit, done: str) -> Response:
    node_id = str(_node_id(visit))
    return visit.back_to("agents", visit.agent, "memory", "nodes", node_id, done=done)


def _add(visit: Visit) -> Response:
    stated = {name: visit.given(name) for name in ("type", "worth") if visit.given(name)}
    memory = {"text": visit.given("text") or "", "pinned": visit.given("pinned") == "1", **stated}
    request = visit.asked(AddRequest, memories=[memory], user_id=visit.given("user_id"))
    edit_memories.add(
        visit.runtime.intake,
        visit.agent,
        request,
        None,
        redact=visit.runtime.settings.memory.redact,
        paying=visit.request.state.paying,
    )
    return visit.back_to("agents", visit.agent, "memory", done="add")


PAGES = (
    ("/agents/{agent}/memory", _graph, Scope.READ),
    ("/agents/{agent}/memory/network", _network, Scope.READ),
    ("/agents/{agent}/memory/fading", _fading, Scope.READ),
    ("/agents/{agent}/memory/nodes/{node:int}", _node, Scope.READ),
)
# Changes of one memory; node_panel.html has a form for each.
_OF_ONE = {
    "restore": _restore,
    "correct": _correct,
    "pin": _pin,
    "unpin": _unpin,
    "delete": _delete,
}
ACTIONS = (
    *(
        (f"/agents/{{agent}}/memory/nodes/{{node:int}}/{name}", do, Scope.WRITE)
        for name, do in _OF_ONE.items()
    ),
    ("/agents/{agent}/memory", _add, Scope.WRITE),
)
