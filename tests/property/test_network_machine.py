"""Any history of an agent, step by step, against the rules written once more (M5 to M18, M22)."""

from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from memci.domain.memory.parameters import MemoryParameters
from memci.jobs import compress
from memci.storage.session import Database
from tests.support.network import AgentUnderTest
from tests.support.simple_network import SimpleNetwork

NAMES = ["Grace", "Luigi", "Oslo", "小明", "boat"]
THOROUGH = settings(
    max_examples=500,
    stateful_step_count=8,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

told = st.text("abcd efg 你好天气", min_size=1, max_size=40).filter(str.strip)
texts = st.builds(
    lambda text, names: " ".join([text, *(f"[{name}]" for name in names)]).strip(),
    told,
    st.lists(st.sampled_from(NAMES), max_size=3),
)


class History(RuleBasedStateMachine):
    """Remembers and scans, in the database and on paper."""

    database: Database

    @initialize(
        focus_limit=st.integers(0, 3),
        rate=st.sampled_from([0.97, 0.7, 0.3]),
        min_shrink=st.sampled_from([0.0, 0.1, 0.4]),
        base=st.sampled_from(["original", "current"]),
    )
    def begin(self, focus_limit: int, rate: float, min_shrink: float, base: str) -> None:
        parameters = MemoryParameters().with_values(
            {
                "focus_limit": focus_limit,
                "decay_rate": rate,
                "min_shrink": min_shrink,
                "compression_base": base,
                "related_links": 0,
                "simplemem_enabled": False,
            }
        )
        self.ada = AgentUnderTest(self.database, uuid4().hex, parameters)
        self.paper = SimpleNetwork(focus_limit, rate, min_shrink=min_shrink, base=base)
        self.job = None
        self.ids: set[int] = set()
        self.scans: dict[tuple[int, int], int] = {}

    @rule(said=st.lists(texts, min_size=1, max_size=3), session=st.sampled_from(["s1", "s2", None]))
    def remember(self, said: list[str], session: str | None) -> None:
        self.job = self.ada.say(*said, session=session)
        made = self.ada.create(self.job)["nodes"]
        assert not self.ids & set(made), "an id came back"
        self.ids |= set(made)
        self.paper.remember(said, session)

    @precondition(lambda self: self.job)
    @rule()
    def deliver_the_last_job_again(self) -> None:
        effect = self.ada.creation().prepare(self.job)
        with self.ada.lease().effect() as connection:
            assert effect(connection)["nodes"] == []

    @rule(nodes=st.integers(1, 6))
    def scan_some_nodes(self, nodes: int) -> None:
        """One time slice that ends after so many nodes."""
        if self.paper.begin_slice():
            for _ in range(nodes):
                if not self.paper.scan_next():
                    break
        lease = self.ada.lease()
        for _ in range(nodes):
            before = {node.id: node.scan_count for node in self.ada.nodes()}
            more = self.ada.compression().step(lease, budget_ms=0)
            self._note_scans(before)
            if not more:
                break

    @rule()
    def run_a_pass(self) -> None:
        self.ada.ask_for_pass()
        self.paper.wished += 1
        self.scan_some_nodes(1_000)

    def _note_scans(self, before: dict[int, int]) -> None:
        for node in self.ada.nodes():
            if node.scan_count > before.get(node.id, node.scan_count):
                key = (node.id, node.last_pass)
                self.scans[key] = self.scans.get(key, 0) + 1
                assert self.scans[key] == 1, "scanned twice in one pass"

    @invariant()
    def both_agree(self) -> None:
        if not hasattr(self, "ada"):
            return
        assert {
            node.id: (node.content, node.scan_count, node.last_pass) for node in self.ada.nodes()
        } == {i: (n.text, n.scans, n.last_pass) for i, n in self.paper.nodes.items()}
        assert {pair: link.strength for pair, link in self.ada.links().items()} == self.paper.links
        assert self.ada.focus() == [self.paper.nodes[i].text for i in self.paper.focus]
        assert all(0 <= strength <= 1 for strength in self.paper.links.values())


@pytest.mark.timeout(240)
def test_every_history_ends_as_the_rules_say(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compress, "BATCH", 1)
    machine = type("History", (History,), {"database": database})
    run_state_machine_as_test(machine, settings=THOROUGH)
