"""Snapshots of the network after passes, and the lists that show them."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memci.domain.memory.parameters import MemoryParameters
from memci.errors import NotFoundError
from memci.reading.lists.listings import Listings
from memci.reading.lists.network_history import spans
from memci.schemas.network import NetworkAnswer
from memci.storage.network.passes import snapshot_weights
from memci.storage.session import Database
from tests.support.examples import examples
from tests.support.fading import LONG, NO_FOCUS, remember_shrinking_texts
from tests.support.network import AgentUnderTest


class NetworkView(NamedTuple):
    """The parts of a network that are compared."""

    nodes: dict[int, tuple[str, int, int, bool, Any]]
    links: dict[tuple[int, int], tuple[bool, Any]]
    focus: list[int]


def from_lists(listings: Listings, agent_id: str) -> NetworkView:
    page: dict[str, Any] = {"cursor": None, "limit": 500}
    nodes = listings.nodes(agent_id, {}, **page).nodes
    links = listings.links(agent_id, node_id=None, **page).links
    return NetworkView(
        {
            each.id: (each.kind, each.length, each.original_length, each.focus,
                      pytest.approx(each.importance, rel=1e-5))
            for each in nodes
        },
        {
            (each.source, each.target): (each.dangling, pytest.approx(each.strength, rel=1e-5))
            for each in links
        },
        [each.node_id for each in listings.focus(agent_id).focus],
    )  # fmt: skip


def from_answer(network: NetworkAnswer) -> NetworkView:
    assert network.left_out.nodes == network.left_out.links == 0
    return NetworkView(
        {
            each.id: (each.kind, each.length, each.original_length, each.focus, each.importance)
            for each in network.nodes
        },
        {(each.source, each.target): (each.dangling, each.strength) for each in network.links},
        network.focus,
    )


def numbers(ada: AgentUnderTest) -> list[int]:
    rows = ada.rows("SELECT number FROM pass_snapshot WHERE agent_id = %s ORDER BY number")
    return [row.number for row in rows]


@pytest.fixture
def listings(database: Database) -> Listings:
    return Listings(database)


histories = st.lists(
    st.just("pass")
    | st.lists(
        st.tuples(
            st.text("abc def 你好", min_size=1, max_size=40).filter(str.strip),
            st.lists(st.sampled_from(["Grace", "Luigi", "Oslo", "小明"]), max_size=3),
        ),
        min_size=1,
        max_size=3,
    ),
    min_size=2,
    max_size=10,
)


@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    history=histories,
    focus_limit=st.integers(0, 3),
    rate=st.sampled_from([0.97, 0.6, 0.2]),
    capacity=st.sampled_from([0, 4]),
)
def test_a_snapshot_is_the_network_that_was_listed_after_its_pass(
    database: Database, history: list[Any], focus_limit: int, rate: float, capacity: int
) -> None:
    parameters = MemoryParameters(
        focus_limit=focus_limit, decay_rate=rate, node_capacity=capacity, min_shrink=0
    )
    ada, listings = AgentUnderTest(database, uuid4().hex, parameters), Listings(database)
    views: dict[int, NetworkView] = {}
    for event in history:
        if event == "pass":
            ada.compress()
            views[len(views) + 1] = from_lists(listings, ada.agent_id)
        else:
            ada.remember(*(f"{text} {' '.join(f'[{n}]' for n in names)}" for text, names in event))
        now = listings.network(ada.agent_id, number=None, limit=500)
        assert from_answer(now) == from_lists(listings, ada.agent_id)
        assert not any(each.forgotten for each in now.nodes)
        assert all(each.relation is not None for each in now.links)
    for number, view in views.items():
        network = listings.network(ada.agent_id, number=number, limit=500)
        assert (network.pass_number, from_answer(network)) == (number, view)
        living = {node.id for node in ada.nodes()}
        assert {each.id for each in network.nodes if not each.forgotten} == living & set(view.nodes)


def test_the_last_snapshot_before_a_pass_is_used_for_it(
    ada: AgentUnderTest, listings: Listings
) -> None:
    ada.remember(f"A [Grace] {LONG}")
    with pytest.raises(NotFoundError, match="no snapshot of this agent's network is kept"):
        listings.network("ada", number=1, limit=10)
    ada.compress(passes=4)
    ada.execute("DELETE FROM pass_snapshot WHERE agent_id = %s AND number IN (1, 3)")
    assert listings.network("ada", number=3, limit=10).pass_number == 2
    with pytest.raises(NotFoundError, match=r"of pass 1 or before is kept; .* of passes 2, 4$"):
        listings.network("ada", number=1, limit=10)


def test_an_unknown_pass_is_refused_with_a_list_of_the_snapshots(
    ada: AgentUnderTest, listings: Listings
) -> None:
    ada.remember(f"A [Grace] {LONG}")
    with pytest.raises(NotFoundError, match="no pass 1, there was none yet; no snapshot"):
        listings.network("ada", number=1, limit=10)
    ada.compress(passes=5)
    ada.execute("DELETE FROM pass_snapshot WHERE agent_id = %s AND number = 3")
    kept = r"there is no pass 99, the last one is 5; snapshots are kept of passes 1 to 2, 4 to 5"
    with pytest.raises(NotFoundError, match=f"^{kept}$"):
        listings.network("ada", number=99, limit=10)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [([], []), ([3], ["3"]), ([1, 2, 3], ["1 to 3"]), ([1, 3, 4, 9], ["1", "3 to 4", "9"])],
)
def test_consecutive_numbers_are_one_span(numbers: list[int], expected: list[str]) -> None:
    assert spans(numbers) == expected


def test_snapshots_mark_forgotten_nodes(ada: AgentUnderTest, listings: Listings) -> None:
    ada.parameters = NO_FOCUS
    ada.remember(f"A {LONG}", f"B {LONG}")
    a, b = (node.id for node in ada.nodes("memory"))
    ada.compress()
    ada.execute("UPDATE link SET strength = 0.02 WHERE agent_id = %s AND source = %s", b)
    ada.compress()
    network = listings.network("ada", number=1, limit=10)
    left, forgotten = sorted(network.nodes, key=lambda each: each.id)
    assert (forgotten.id, forgotten.forgotten, forgotten.phrase) == (b, True, None)
    assert forgotten.last_event is not None
    assert (forgotten.last_event.event, forgotten.last_event.pass_number) == ("forgotten", 2)
    assert forgotten.last_event.details == {"reason": "threshold", "tier": "short"}
    assert (left.id, left.forgotten, left.last_event) == (a, False, None)
    words = {(each.source, each.target): (each.relation, each.dangling) for each in network.links}
    # The link of the forgotten node has lost its name. Neither link dangled then.
    assert words == {(a, b): ("next", False), (b, a): (None, False)}
    (dangling,) = listings.network("ada", number=None, limit=10).links
    assert (dangling.dangling, dangling.hint) == (True, "when, dinner, spoke")


def test_a_pass_that_the_next_one_cuts_short_has_a_snapshot(
    ada: AgentUnderTest, listings: Listings
) -> None:
    remember_shrinking_texts(ada)
    assert ada.compression().step(ada.lease(), budget_ms=0)
    after = from_lists(listings, "ada")
    (under_way,) = listings.passes("ada", cursor=None, limit=5).passes
    assert (under_way.state, under_way.snapshot) == ("under_way", False)
    ada.ask_for_pass()
    assert ada.compression().step(ada.lease(), budget_ms=0)
    states = [(each.number, each.state, each.snapshot)
              for each in listings.passes("ada", cursor=None, limit=5).passes]  # fmt: skip
    assert states == [(2, "under_way", False), (1, "cut_short", True)]
    assert from_answer(listings.network("ada", number=1, limit=50)) == after


def test_a_cancelled_pass_has_no_snapshot(ada: AgentUnderTest, listings: Listings) -> None:
    remember_shrinking_texts(ada)
    assert ada.compression().step(ada.lease(), budget_ms=0)
    ada.execute(
        "UPDATE lane SET compress_cursor = NULL, compress_done = compress_req WHERE agent_id = %s"
    )
    assert not ada.compression().step(ada.lease(), budget_ms=0)
    (only,) = listings.passes("ada", cursor=None, limit=5).passes
    assert (only.state, only.snapshot, only.scanned) == ("cut_short", False, 1)


def test_older_snapshots_are_thinned_out_to_fit_the_size_limit(ada: AgentUnderTest) -> None:
    ada.snapshot_bytes = 6_000
    ada.remember(f"A [Grace] {LONG}", f"B [Luigi] {LONG}")
    weights = []
    for _ in range(60):
        ada.compress()
        with ada.database.agent_snapshot("ada") as connection:
            weights.append(sum(snapshot_weights(connection, "ada").values()))
    assert max(weights) <= 6_000
    kept = numbers(ada)
    assert (kept[0], kept[-1]) == (1, 60)
    assert 6 < len(kept) < 40
    assert kept[-3:] == [58, 59, 60]
    gaps = [after - before for before, after in itertools.pairwise(kept)]
    assert max(gaps) > 1 == min(gaps)


def test_the_newest_snapshot_is_kept_whatever_its_size(ada: AgentUnderTest) -> None:
    ada.snapshot_bytes = 1
    ada.remember(f"A [Grace] {LONG}")
    ada.compress(passes=3)
    assert numbers(ada) == [3]


def test_no_snapshot_is_stored_if_the_size_limit_is_zero(ada: AgentUnderTest) -> None:
    ada.snapshot_bytes = 0
    ada.remember(f"A [Grace] {LONG}")
    ada.compress(passes=2)
    assert numbers(ada) == []


def test_an_empty_network_has_a_snapshot(ada: AgentUnderTest, listings: Listings) -> None:
    ada.compress()
    network = listings.network("ada", number=1, limit=5)
    assert (network.pass_number, network.nodes, network.links, network.focus) == (1, [], [], [])
    fading = listings.fading("ada", passes=5, limit=5)
    assert [each.strengths.quantiles for each in fading.passes] == [[]]


def test_a_large_network_is_shown_in_part(ada: AgentUnderTest, listings: Listings) -> None:
    ada.parameters = MemoryParameters(focus_limit=1, related_links=0)
    ada.remember(*(f"{each} {LONG}" for each in range(12)), "last [Grace] one")
    ada.compress()
    whole = listings.network("ada", number=1, limit=50)
    part = listings.network("ada", number=1, limit=3)
    assert part.nodes == whole.nodes[:3]
    assert part.nodes[0].focus
    rest = [each.importance for each in whole.nodes[1:]]
    assert rest == sorted(rest, reverse=True)
    assert part.left_out.nodes == len(whole.nodes) - 3
    assert part.left_out.links == len(whole.links) - len(part.links)
    ids = {each.id for each in part.nodes}
    assert part.links == [
        each for each in whole.links if {each.source, each.target} <= ids
    ]  # fmt: skip


def test_fading_shows_memories_over_passes(ada: AgentUnderTest, listings: Listings) -> None:
    ada.parameters = NO_FOCUS
    ada.remember(f"A {LONG}", f"B {LONG}")
    a, b = (node.id for node in ada.nodes("memory"))
    ada.compress()
    ada.execute("UPDATE link SET strength = 0.02 WHERE agent_id = %s AND source = %s", b)
    ada.compress()
    ada.remember(f"C {LONG}", f"D {LONG}", session="s2")
    ada.compress()
    fading = listings.fading("ada", passes=10, limit=10)
    assert [each.number for each in fading.passes] == [1, 2, 3]
    assert [each.memories for each in fading.passes] == [2, 1, 2]
    assert [each.strengths.dangling for each in fading.passes] == [0, 1, 0]
    assert fading.passes[0].strengths.quantiles == pytest.approx([0.485] * 7)
    first, second, third, _ = fading.memories
    assert (second.id, second.forgotten, second.phrase) == (b, True, None)
    assert second.lengths[1:] == [None, None]
    assert (first.id, first.forgotten, first.original_length) == (a, True, len(f"A {LONG}"))
    assert first.importances == [pytest.approx(0.485), 0.0, None]
    assert (third.forgotten, third.id) == (False, b + 1)
    assert third.importances == [None, None, pytest.approx(0.485)]


def test_long_histories_are_sampled_evenly(ada: AgentUnderTest, listings: Listings) -> None:
    ada.remember(*(f"{each} [Grace] {LONG}" for each in range(7)))
    ada.compress(passes=9)
    fading = listings.fading("ada", passes=3, limit=4)
    assert [each.number for each in fading.passes] == [1, 5, 9]
    memories = [node.id for node in ada.nodes("memory")]
    assert [each.id for each in fading.memories] == memories[::2]
    assert fading.left_out == 3
    (last,) = listings.fading("ada", passes=1, limit=1).passes
    assert last.number == 9


def test_passes_are_listed_latest_first_in_pages(ada: AgentUnderTest, listings: Listings) -> None:
    ada.remember(f"A [Grace] {LONG}")
    ada.compress(passes=5)
    found, cursor = [], None
    while True:
        page = listings.passes("ada", cursor=cursor, limit=2)
        found.append([each.number for each in page.passes])
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == [[5, 4], [3, 2], [1]]
    latest = listings.passes("ada", cursor=None, limit=1).passes[0]
    assert (latest.scanned, latest.message_seq, latest.state) == (2, 1, "finished")


def test_other_agents_do_not_see_the_snapshots(ada: AgentUnderTest, listings: Listings) -> None:
    ada.remember(f"A [Grace] {LONG}")
    ada.compress()
    bob = AgentUnderTest(ada.database, "bob")
    assert listings.network("bob", number=None, limit=5).nodes == []
    assert listings.passes("bob", cursor=None, limit=5).passes == []
    assert listings.fading("bob", passes=5, limit=5).passes == []
    with pytest.raises(NotFoundError):
        listings.network("bob", number=1, limit=5)
    bob.compress()
    assert listings.network("bob", number=1, limit=5).nodes == []
    assert listings.network("ada", number=1, limit=5).nodes != []


def test_very_small_strengths_are_shown_as_zero(ada: AgentUnderTest, listings: Listings) -> None:
    ada.parameters = MemoryParameters(focus_limit=0, link_break_threshold=0)
    ada.remember(f"A {LONG}", f"B {LONG}")
    ada.execute("UPDATE link SET strength = 1e-60 WHERE agent_id = %s AND source = 1")
    network = listings.network("ada", number=None, limit=5)
    assert {each.source: each.strength for each in network.links} == {1: 0.0, 2: 0.5}
    ada.compress()
    assert listings.network("ada", number=1, limit=5).pass_number == 1
