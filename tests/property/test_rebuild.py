"""A network that is rebuilt from what has made it is the network that is there (M24)."""

from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memci.domain.memory import slots
from memci.domain.memory.parameters import MemoryParameters
from memci.errors import ConflictError
from memci.jobs import compress
from memci.storage.session import Database
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same

FEW = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
NAMES = st.sampled_from(["Grace", "Luigi", "Oslo", "小明"])

sayings = st.tuples(
    st.just("say"),
    st.lists(
        st.tuples(
            st.text("abc def 你好\n", min_size=1, max_size=60).filter(str.strip),
            st.lists(NAMES, max_size=3),
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(["s1", "s2"]),
)
events = (
    sayings
    | st.tuples(st.just("pass"), st.integers(1, 3))
    | st.tuples(st.just("part"), st.just(0))  # of a pass, in which other things happen
    | st.tuples(st.just("mention"), NAMES)
    | st.tuples(st.just("restore"), st.integers(0, 5))
)
histories = st.lists(events, min_size=2, max_size=14)


def live(ada: AgentUnderTest, rebuilding: Rebuilding, history: list[tuple[object, ...]]) -> None:
    """Let all that happen."""
    for kind, *how in history:
        match kind, how:
            case "say", [said, session]:
                texts = [
                    f"{text} {' '.join(f'[{name}]' for name in names)}" for text, names in said
                ]
                ada.remember(*texts, session=session)
            case "pass", [passes]:
                ada.compress(passes)
            case "part", _:
                ada.ask_for_pass()
                ada.compression().step(ada.lease(), budget_ms=0)
            case "mention", [name]:
                mention(ada, rebuilding, name)
            case "restore", [which]:
                restore(ada, rebuilding, which)


def mention(ada: AgentUnderTest, rebuilding: Rebuilding, name: str) -> None:
    if ada.lane().message_seq:
        rebuilding.mention(name)


def restore(ada: AgentUnderTest, rebuilding: Rebuilding, which: int) -> None:
    gone = ada.rows(
        "SELECT node_id FROM trail WHERE agent_id = %s AND event = 'forgotten' ORDER BY id"
    )
    if which < len(gone):
        try:
            rebuilding.restore(gone[which].node_id)
        except ConflictError:
            return  # an entity, or restored before
        rebuilding.run()


@FEW
@given(
    history=histories,
    focus_limit=st.integers(1, 3),
    rate=st.sampled_from([0.97, 0.7, 0.3]),
    capacity=st.sampled_from([0, 6]),
    batch=st.sampled_from([1, 3, 500]),
)
@example(  # a memory that was born in the middle of a pass
    history=[
        ("say", [("a", ["Grace"]), ("b", [])], "s1"),
        ("part", 0),
        ("say", [("c", ["Oslo"])], "s2"),
        ("pass", 2),
    ],
    focus_limit=1,
    rate=0.3,
    capacity=0,
    batch=1,
)
def test_a_rebuilt_network_is_the_network(
    database: Database,
    history: list[tuple[object, ...]],
    focus_limit: int,
    rate: float,
    capacity: int,
    batch: int,
) -> None:
    values = MemoryParameters(
        focus_limit=focus_limit, decay_rate=rate, min_shrink=0, node_capacity=capacity
    )
    ada = AgentUnderTest(database, uuid4().hex, values)
    rebuilding = Rebuilding(ada)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compress, "BATCH", batch)
        patch.setattr(slots, "DRAWN", 2)
        live(ada, rebuilding, history)
        if not ada.lane().message_seq:
            return
        found = rebuilding.rebuilt()
        beside = rebuilding.beside()
        assert is_same(found), found
        assert beside.focus() == ada.focus()
        assert scans(beside) == scans(ada)
        before = scans(ada), ada.focus(), len(ada.links())
        rebuilding.switch()
        rebuilding.run()
        assert (scans(ada), ada.focus(), len(ada.links())) == before
        # What is there now can be rebuilt again, and goes on as the other would have.
        ada.compress()
        ada.remember("something more [Luigi]")
        assert is_same(rebuilding.rebuilt())


def scans(ada: AgentUnderTest) -> list[tuple[str, int, int]]:
    return [(node.content, node.scan_count, node.last_pass) for node in ada.nodes()]
