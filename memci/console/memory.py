"""The memory network as a graph over its passes, and everything about one node of it."""

from contextlib import suppress

from starlette.responses import Response

from memci.api_keys import Scope
from memci.commands import network_changes
from memci.console.visit import Visit
from memci.domain.memory.node import RemovalReason
from memci.errors import InvalidInputError, NotFoundError
from memci.schemas.network import NetworkAnswer

# Nodes that a graph may show at once, and how many it shows first.
LEVELS = (300, 2_000, 10_000)
# Of nodes and links; scripts draw only the strongest of these links at once.
_MOST_LINKS = 6_000
_PASSES = 200
_EVENTS, _LINKS = 200, 200


def _graph(visit: Visit) -> Response:
    numbers = [
        each.number
        for each in visit.runtime.listings.passes(visit.agent, cursor=None, limit=500).passes
        if each.snapshot
    ]
    return visit.page(
        "memory.html",
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
    """Answer with the network, now or after a pass, in arrays for a script."""
    found = visit.runtime.listings.network(
        visit.agent, number=visit.number("pass"), limit=_level(visit)
    )
    return visit.data(_compact(found))


def _compact(found: NetworkAnswer) -> dict[str, object]:
    return {
        "pass": found.pass_number,
        "nodes": [
            [
                each.id,
                each.kind == "entity",
                each.phrase if each.phrase is not None else f"#{each.id}",
                round(each.importance, 3),
                each.length,
                each.original_length,
                each.focus,
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
    return visit.page(
        "node_panel.html" if "hx-request" in visit.request.headers else "node.html",
        node_id=node_id,
        node=node,
        links=links or [],
        trail=trail,
        gone=reason.event if reason else None,
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
    return visit.back_to("agents", visit.agent, "memory", "nodes", str(node_id), done="restore")


PAGES = (
    ("/agents/{agent}/memory", _graph, Scope.READ),
    ("/agents/{agent}/memory/network", _network, Scope.READ),
    ("/agents/{agent}/memory/fading", _fading, Scope.READ),
    ("/agents/{agent}/memory/nodes/{node:int}", _node, Scope.READ),
)
# Changes of one memory; node_panel.html has a button for each.
ACTIONS = (("/agents/{agent}/memory/nodes/{node:int}/restore", _restore, Scope.WRITE),)
