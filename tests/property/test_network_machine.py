"""Random histories of an agent, compared with a simple model step by step (M5 to M25, R5)."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
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

from memci.commands import erase
from memci.commands.erase import ErasureSelection
from memci.domain.memory.parameters import MemoryParameters
from memci.errors import ConflictError
from memci.jobs import compression_pass
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.session import Database
from tests.support.archives import check_movable
from tests.support.examples import examples
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import NoWakeups, Rebuilding
from tests.support.servers import FakeClock
from tests.support.short_term import consolidate
from tests.support.simple_history import SimpleHistory

THOROUGH = settings(
    max_examples=examples(200),
    stateful_step_count=10,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
NAMES = ["Grace", "Luigi", "Oslo", "小明", "Boat"]
# Each word matters: two memories say the same (R5) only if they have the same words, also when
# both were shortened.
PHRASES = ["Pump Broken Twice", "Roof 12 Leaks Quietly Every Rainy Winter", "Xenon 7",
            "二月前我们会把九千把旧椅子全都从南方搬到北方"]  # fmt: skip
texts = st.builds(
    lambda phrase, mark, names: " ".join([phrase + mark, *(f"[{name}]" for name in names)]),
    st.sampled_from(PHRASES),
    st.sampled_from(["", "!", " …"]),
    st.lists(st.sampled_from(NAMES), max_size=2),
)
sessions = st.sampled_from(["s1", "s2", None])
places = st.integers(0, 30)  # chooses an existing one by its place


class History(RuleBasedStateMachine):
    """A network in the database, and a simple model of it."""

    database: Database

    @initialize(
        focus_limit=st.integers(0, 3),
        rate=st.sampled_from([0.97, 0.7, 0.3]),
        min_shrink=st.sampled_from([0.0, 0.1, 0.4]),
        capacity=st.sampled_from([0, 0, 2, 5, 9]),
        contents=st.lists(texts, min_size=1, max_size=4),
    )
    def begin(
        self,
        focus_limit: int,
        rate: float,
        min_shrink: float,
        capacity: int,
        contents: list[str],
    ) -> None:
        constants = MemoryParameters(min_shrink=min_shrink, related_links=0)
        parameters = constants.with_values(
            {
                "focus_limit": focus_limit,
                "decay_rate": rate,
                "node_capacity": capacity,
                # All messages become memories (R2).
                "novelty_threshold": 0.0,
                "skip_trivial": False,
            }
        )
        self.ada = AgentUnderTest(self.database, uuid4().hex, parameters)
        self.rebuilding = Rebuilding(self.ada)
        self.model = SimpleHistory(focus_limit, rate, min_shrink=min_shrink, capacity=capacity)
        self.births: dict[int, int] = {}  # the pass in which each node was made
        self.remember(contents, "s1")

    @rule(contents=st.lists(texts, min_size=1, max_size=3), session=sessions)
    def remember(self, contents: list[str], session: str | None) -> None:
        self.job = self.ada.say(*contents, session=session)
        self.ada.create(self.job)
        self.model.remember(contents, session)

    @precondition(lambda self: self.model.messages)
    @rule(which=places, marks=st.lists(st.sampled_from(["", "!"]), min_size=1, max_size=2))
    def say_again(self, which: int, marks: list[str]) -> None:
        message = list(self.model.messages.values())[which % len(self.model.messages)]
        self.remember([message.text + mark for mark in marks], message.session)

    @rule()
    def deliver_the_last_job_again(self) -> None:
        effect = self.ada.creation().prepare(self.job)
        with self.ada.lease().effect() as connection:
            assert effect(connection)["nodes"] == []

    @rule(name=st.sampled_from(NAMES))
    def mention(self, name: str) -> None:
        if self.model.mention(name):
            assert self.rebuilding.mention(name)[0] == name
        else:
            with pytest.raises(ConflictError):
                self.rebuilding.mention(name)

    @precondition(lambda self: self.model.restorable())
    @rule(which=places)
    def restore(self, which: int) -> None:
        old = self.model.restorable()
        node = old[which % len(old)]
        self.rebuilding.restore(node)
        self._run_waiting_job()
        self.model.restore(node)

    @precondition(lambda self: self.model.not_restorable())
    @rule(which=places)
    def restore_an_unrestorable_node(self, which: int) -> None:
        old = self.model.not_restorable()
        with suppress(ConflictError):  # most raise it; a node that was restored gets its job
            self.rebuilding.restore(old[which % len(old)])
        assert not self.rebuilding.waiting()

    @precondition(lambda self: self.model.short())
    @rule(terms_are_over=st.booleans())
    def consolidate(self, terms_are_over: bool) -> None:
        self.ada.clock = FakeClock(datetime.now(UTC) + timedelta(hours=25 * terms_are_over))
        consolidate(self.ada)
        again = consolidate(self.ada)
        assert not any(again.values()), "there was nothing left to do"
        self.model.consolidate(terms_are_over=terms_are_over)

    @precondition(lambda self: self.model.messages)
    @rule(which=st.sets(places, min_size=1, max_size=2))
    def erase(self, which: set[int]) -> None:
        stored = sorted(self.model.messages)
        seqs = {stored[each % len(stored)] for each in which}
        wanted = ErasureSelection([f"m{seq}" for seq in seqs])
        erased = self.model.erase(seqs)
        numbers = (erased.memories, erased.entities, erased.forgotten, len(erased.again))
        assert self._erased(wanted) == numbers
        assert self._erased(wanted) == (0, 0, 0, 0), "twice is once"
        if erased.again:
            self._run_waiting_job()
            self.model.make([(seq,) for seq in erased.again])

    def _erased(self, which: ErasureSelection) -> tuple[int, ...]:
        wakeups: Any = NoWakeups()
        counts: Any = erase.run(
            self.database, PostgresPageStore(self.database), wakeups, self.ada.agent_id, which
        ).body
        return counts["memories"], counts["entities"], counts["forgotten"], counts["again"]

    def _run_waiting_job(self) -> None:
        assert self.rebuilding.run() == 1
        self.ada.ask_for_pass()  # as after any job that makes memories (M16)

    @rule(nodes=st.integers(1, 4))
    def scan_some_nodes(self, nodes: int) -> None:
        """Run one time slice that ends after so many nodes."""
        if self.model.begin_slice():
            for _ in range(nodes):
                if not self.model.scan_next():
                    break
        lease = self.ada.lease()
        for _ in range(nodes):
            if not self.ada.compression().step(lease, budget_ms=0):
                break

    @rule(passes=st.integers(1, 4), batch=st.sampled_from([1, 3, 1_000]))
    def run_passes(self, passes: int, batch: int) -> None:
        """Run whole passes. The number of nodes per transaction must not matter."""
        for _ in range(passes):
            self.model.wished += 1
            self.model.begin_slice()
            while self.model.scan_next():
                pass
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compression_pass, "BATCH", batch)
            self.ada.compress(passes)

    @invariant()
    def both_agree(self) -> None:
        if not hasattr(self, "ada"):
            return
        nodes, links, focus = self._stored()
        assert {node.id: _compared_fields(node) for node in nodes} == {
            i: (n.text, n.scans, n.last_pass, n.seqs, "short" if n.short else "long", n.promoted)
            for i, n in self.model.nodes.items()
        }
        assert links == self.model.links
        assert focus == self.model.focus
        self._check_laws(nodes)

    def teardown(self) -> None:
        """Check that the agent can be moved."""
        if hasattr(self, "ada"):
            check_movable(self.database, self.ada.agent_id)

    def _stored(self) -> tuple[list[Any], dict[tuple[int, int], float], list[int]]:
        """Return nodes, strengths of links and focus points of one snapshot."""
        with self.database.agent_snapshot(self.ada.agent_id) as connection:
            nodes, links, focus = (
                connection.exec_driver_sql(f"{query} WHERE agent_id = %s", (self.ada.agent_id,))
                for query in (
                    "SELECT * FROM node",
                    "SELECT source, target, strength FROM link",
                    "SELECT mentioned, node_id FROM focus",
                )
            )
            strengths = {(source, target): strength for source, target, strength in links}
            return list(nodes), strengths, [node for _, node in sorted(map(tuple, focus))]

    def _check_laws(self, nodes: list[Any]) -> None:
        """Check the laws that need no model."""
        new = {node.id for node in nodes} - self.births.keys()
        assert all(each > max(self.births, default=0) for each in new), "an id came back"
        for node in nodes:
            born = self.births.setdefault(node.id, node.last_pass - node.scan_count)
            assert node.scan_count <= node.last_pass - born, "scanned twice in one pass"
        slots = [node.slot for node in nodes]
        assert len(set(slots)) == len(slots), "two in one slot"
        capacity = self.ada.parameters.node_capacity
        assert not capacity or max(slots, default=0) <= capacity, "capacity is exceeded"
        assert all(0 <= strength <= 1 for strength in self.model.links.values())


def _compared_fields(node: Any) -> tuple[Any, ...]:
    promoted = node.promoted_at is not None
    seqs = tuple(node.message_seqs)
    return (node.content, node.scan_count, node.last_pass, seqs, node.tier, promoted)


@pytest.mark.timeout(600)  # a failure is shrunk for five minutes
def test_every_history_ends_as_the_rules_say(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression_pass, "BATCH", 1)
    machine = type("History", (History,), {"database": database})
    run_state_machine_as_test(machine, settings=THOROUGH)


def test_a_merged_memory_has_the_stronger_links_and_is_restored_and_erased_whole(
    database: Database,
) -> None:
    """A history that random search seldom finds."""
    history = type("History", (History,), {"database": database})()
    history.begin(1, 0.3, 0.0, 0, ["Pump Broken Twice [Grace]"])
    history.remember(["Xenon 7 [Oslo]"], "s1")
    history.run_passes(1, 1_000)
    history.say_again(0, ["!"])
    history.consolidate(terms_are_over=False)
    history.both_agree()
    merged = history.model.last_id
    assert history.model.nodes[merged].seqs == (1, 3)
    history.mention("Oslo")
    while merged in history.model.nodes:
        history.run_passes(1, 1)
        history.both_agree()
    history.restore(history.model.restorable().index(merged))
    history.both_agree()
    history.erase({0})
    history.both_agree()
    assert [node.seqs for node in history.model.nodes.values() if not node.entity][-1] == (3,)
