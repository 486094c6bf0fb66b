"""The laws of memory-network.md, on the rules alone."""

from __future__ import annotations

import math
from random import Random

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from memci.domain.memory.compression_scan import (
    Compress,
    Forgotten,
    Protected,
    ScannedNode,
    Unchanged,
    judge,
    scan,
    shrunk_keywords,
    shrunk_phrase,
)
from memci.domain.memory.creation import draw, least_important
from memci.domain.memory.node import NodeKind
from memci.domain.memory.parameters import MemoryParameters
from memci.language.detection import language_of
from tests.support.examples import examples
from tests.support.models import keep_beginning
from tests.support.pure_network import PureNetwork, PureNode, decayed, segment

thoroughly = settings(max_examples=examples(500), suppress_health_check=[HealthCheck.too_slow])

NAMES = ("Grace", "Luigi", "Oslo", "小明", "图书馆", "Kitchen", "winter")

parameters = st.builds(
    MemoryParameters,
    focus_limit=st.integers(0, 6),
    decay_rate=st.floats(0.5, 0.99),
    link_initial_strength=st.floats(0.02, 1),
    min_shrink=st.floats(0, 0.5),
    delete_threshold=st.integers(1, 20),
)
segments = st.lists(
    st.tuples(
        st.text("abcdefg 你好世界天气", min_size=1, max_size=60).filter(str.strip),
        st.lists(st.sampled_from(NAMES), max_size=4),
        st.sampled_from(["s1", "s2", None]),
    ),
    min_size=1,
    max_size=5,
)


@st.composite
def networks(draw_: st.DrawFn) -> PureNetwork:
    """Networks made by creations and passes."""
    network = PureNetwork(draw_(parameters), keep_beginning)
    for job in draw_(st.lists(segments, min_size=1, max_size=4)):
        network.remember([segment(text, names, (), session) for text, names, session in job])
        for _ in range(draw_(st.integers(0, 3))):
            network.run_pass()
    return network


def scanned(network: PureNetwork) -> tuple[list[ScannedNode], dict[int, dict[int, float]]]:
    """All nodes in scan order, and what supports them."""
    supports: dict[int, dict[int, float]] = {}
    for (source, target), strength in network.links.items():
        if target in network.nodes:
            supports.setdefault(source, {})[target] = strength
    found = ((node, network.nodes[node]) for node in network.order())
    return [ScannedNode(i, n.kind, len(n.content), n.original_length) for i, n in found], supports


@thoroughly
@given(networks(), st.integers(1, 5))
def test_without_new_links_no_importance_or_length_rises(network: PureNetwork, passes: int) -> None:
    for _ in range(passes):
        importance = {node: network.importance_of(node) for node in network.nodes}
        lengths = {i: len(node.content) for i, node in network.nodes.items()}
        network.run_pass()
        for node in network.nodes:
            assert network.importance_of(node) <= importance[node]
            assert len(network.nodes[node].content) <= lengths[node]
        assert all(0 <= strength <= 1 for strength in network.links.values())


@thoroughly
@given(parameters, st.lists(segments, min_size=1, max_size=4))
def test_every_new_memory_has_a_link(
    values: MemoryParameters, jobs: list[list[tuple[str, list[str], str | None]]]
) -> None:
    assume(values.focus_limit > 0)
    network = PureNetwork(values, keep_beginning)
    for job in jobs:
        network.remember([segment(text, names, (), session) for text, names, session in job])
    for node, stored in network.nodes.items():
        if stored.kind is NodeKind.MEMORY:
            assert network.importance_of(node) >= 1


@thoroughly
@given(networks())
def test_a_node_of_importance_one_or_more_keeps_its_content(network: PureNetwork) -> None:
    nodes, supports = scanned(network)
    forgotten: set[int] = set()
    for node, verdict in scan(nodes, supports, network.focus_ids, network.parameters):
        links = supports.get(node.id, {})
        if math.fsum(links[target] for target in links if target not in forgotten) >= 1:
            assert isinstance(verdict, Unchanged | Protected)
        if isinstance(verdict, Forgotten):
            forgotten.add(node.id)


@thoroughly
@given(networks(), st.integers(1, 20))
def test_focus_points_and_their_links_stay(network: PureNetwork, passes: int) -> None:
    def at_focus() -> tuple[object, ...]:
        focus = set(network.focus_ids)
        own = {pair: s for pair, s in network.links.items() if pair[0] in focus}
        return own, {node: network.nodes[node].content for node in focus}

    before = at_focus()
    inward = {p: s for p, s in network.links.items() if p[1] in network.focus_ids}
    for _ in range(passes):
        network.run_pass()
    assert at_focus() == before
    kept = {p: s for p, s in inward.items() if p[0] in network.nodes}
    assert {p: network.links[p] for p in kept} == kept


@thoroughly
@given(networks())
def test_without_focus_every_network_empties(network: PureNetwork) -> None:
    network.focus, network.focus_ids = (), ()
    rate, threshold = network.parameters.decay_rate, network.parameters.link_break_threshold
    scans = math.ceil(math.log(threshold) / math.log(rate)) + 1
    for _ in range(scans + len(network.nodes) + 1):
        network.run_pass()
    assert not network.nodes
    assert not network.links


@thoroughly
@given(networks(), st.randoms(use_true_random=False))
def test_the_order_of_scans_matters_only_through_forgotten_nodes(
    network: PureNetwork, random: Random
) -> None:
    nodes, supports = scanned(network)
    shuffled = random.sample(nodes, len(nodes))

    def verdicts(order: list[ScannedNode]) -> dict[int, object]:
        found = scan(order, supports, network.focus_ids, network.parameters)
        return {node.id: verdict for node, verdict in found}

    one, other = verdicts(nodes), verdicts(shuffled)
    forgotten = {
        node for found in (one, other) for node in found if isinstance(found[node], Forgotten)
    }
    for node in one:
        if not forgotten & set(supports.get(node, {})):
            assert one[node] == other[node]


def scans_until_broken(strength: float, values: MemoryParameters) -> int:
    left: float | None = strength
    scans = 0
    while left is not None:
        left = decayed(left, values)
        scans += 1
    return scans


def test_a_link_of_one_half_breaks_after_129_scans() -> None:
    assert scans_until_broken(0.5, MemoryParameters()) == 129


@thoroughly
@given(st.floats(0.02, 1), st.floats(0.5, 0.99), st.floats(0.001, 0.02))
def test_links_break_after_the_computed_number_of_scans(
    strength: float, rate: float, threshold: float
) -> None:
    values = MemoryParameters(decay_rate=rate, link_break_threshold=threshold)
    exact = math.log(threshold / strength) / math.log(rate)
    assume(abs(exact - round(exact)) > 1e-6)
    assert scans_until_broken(strength, values) == math.ceil(exact)


@thoroughly
@given(
    st.integers(0, 2000),
    st.integers(0, 2000),
    st.floats(0, 3, allow_subnormal=False),
    parameters,
)
def test_a_compression_target_is_shorter_than_the_text(
    length: int, lost: int, importance: float, values: MemoryParameters
) -> None:
    node = ScannedNode(1, NodeKind.MEMORY, length, length + lost)
    verdict = judge(node, importance, values)
    if isinstance(verdict, Compress):
        assert values.delete_threshold <= verdict.target < length
        assert length - verdict.target >= values.min_shrink * length
        assert importance < 1


@thoroughly
@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=10)), st.text(min_size=1))
def test_phrase_and_keywords_never_grow(phrase: str, keywords: list[str], content: str) -> None:
    kept = shrunk_keywords(keywords, content)
    left = shrunk_phrase(phrase, kept, content, language_of(content))
    assert len(left) <= len(phrase)
    # Where half of the content has room for no word, one remains.
    words = {*content.split(" "), *content.split()}
    assert len(left) <= max(4, len(content) // 2) or left in {*kept, phrase, *words}
    assert set(kept) <= set(keywords)
    assert all(word.casefold() in content.casefold() for word in kept if word.isascii())


@thoroughly
@given(st.dictionaries(st.integers(), st.floats(0, 9), min_size=1), st.randoms())
def test_the_victim_is_the_least_important_of_those_drawn(
    importances: dict[int, float], random: Random
) -> None:
    drawn = draw(sorted(importances), random)
    assert len(drawn) == min(64, len(importances))
    (victim,) = least_important([drawn], importances)
    assert all(importances[victim] <= importances[node] for node in drawn)
    again = least_important([drawn, drawn], importances)
    assert len(again) == min(2, len(drawn))
    assert victim in again


def test_pure_nodes_count_their_scans() -> None:
    network = PureNetwork(MemoryParameters(), keep_beginning)
    network.remember([segment("a talk with Grace", ["Grace"])])
    network.run_pass()
    network.run_pass()
    assert {node.scan_count for node in network.nodes.values()} == {2}
    assert network.nodes[2] == PureNode(NodeKind.MEMORY, "a talk with Grace", 17, "s1", 2)
