"""Laws of recall (M20) on random networks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.memory.node import NodeKind
from memci.domain.memory.recall import Reached, Step, Walk
from tests.support.examples import examples

thoroughly = settings(max_examples=examples(500))

Link = tuple[int, int, float]
NODES = st.integers(0, 9)
LINKS = st.lists(st.tuples(NODES, st.integers(0, 12), st.floats(0.01, 1)), max_size=40)


def steps(links: Iterable[Link], frontier: Sequence[int]) -> list[Step]:
    """The steps that storage returns, in both directions; nodes above 9 were forgotten."""
    found = []
    for source, target, strength in links:
        alive = NodeKind.MEMORY if target <= 9 else None
        if source in frontier:
            found.append(Step(source, target, "about", strength, f"hint {target}", alive))
        if target in frontier:
            found.append(Step(target, source, "about", strength, "", NodeKind.MEMORY))
    return found


def walk(links: Iterable[Link], focus: Iterable[int], depth: int) -> Walk:
    walked = Walk(focus)
    while walked.layer < depth and walked.frontier:
        walked.advance(steps(links, walked.frontier))
    return walked


def best_paths(links: Iterable[Link], focus: set[int], depth: int) -> dict[int, tuple[int, float]]:
    """The same by trying every path: the shortest length and its greatest product."""
    best = dict.fromkeys(focus, (0, 1.0))
    paths = [(each, 1.0) for each in focus]
    for layer in range(1, depth + 1):
        longer: dict[int, float] = {}
        for at, product in paths:
            for step in steps(links, [at]):
                if step.kind is not None and step.neighbour not in best:
                    found = longer.get(step.neighbour, 0.0)
                    longer[step.neighbour] = max(found, product * step.strength)
        best.update({node: (layer, product) for node, product in longer.items()})
        paths = list(longer.items())
    return best


@thoroughly
@given(links=LINKS, focus=st.sets(NODES, max_size=3), depth=st.integers(0, 5))
def test_one_layer_more_finds_a_superset(links: list[Link], focus: set[int], depth: int):
    near = {each.node_id: each for each in walk(links, focus, depth).memories(None)}
    far = {each.node_id: each for each in walk(links, focus, depth + 1).memories(None)}
    assert near.items() <= far.items()


@thoroughly
@given(links=LINKS, focus=st.sets(NODES, max_size=3), depth=st.integers(0, 5))
def test_layers_are_shortest_paths_and_strengths_the_best_of_these(
    links: list[Link], focus: set[int], depth: int
):
    reached = walk(links, focus, depth).reached
    assert {each.node_id: (each.layer, each.strength) for each in reached.values()} == best_paths(
        links, focus, depth
    )


@thoroughly
@given(
    links=LINKS,
    focus=st.sets(NODES, max_size=3),
    matches=st.none() | st.dictionaries(NODES, st.floats(0.5, 1)),
)
def test_memories_come_by_layer_then_strength_then_match(
    links: list[Link], focus: set[int], matches: dict[int, float] | None
):
    found = walk(links, focus, 4).memories(matches)

    def order(each: Reached) -> tuple[float, ...]:
        match = 1.0 if matches is None else matches[each.node_id]
        return (each.layer, -each.strength, -match, each.node_id)

    assert found == sorted(found, key=order)
    assert all(each.kind is NodeKind.MEMORY for each in found)
    assert matches is None or {each.node_id for each in found} <= set(matches)


@thoroughly
@given(links=LINKS, focus=st.sets(NODES, max_size=3), depth=st.integers(0, 5))
def test_all_dangling_links_on_the_way_are_reported(links: list[Link], focus: set[int], depth: int):
    walked = walk(links, focus, depth)
    passed = {each.node_id for each in walked.reached.values() if each.layer < depth}
    assert set(walked.forgotten) == {
        target for source, target, _ in links if source in passed and target > 9
    }
