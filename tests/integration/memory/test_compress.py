"""Compression passes on a real database (M10 to M19)."""

from __future__ import annotations

import threading

import pytest

from memci.domain.memory.parameters import MemoryParameters
from memci.errors import FencedOffError
from memci.queue.lease import Lease
from memci.smallmodel.offline.compressor import OfflineCompressor
from tests.support.fading import (
    LONG,
    forget_focus,
    remember_shrinking_texts,
    remember_with_half_a_link,
)
from tests.support.models import keep_beginning
from tests.support.network import AgentUnderTest


def test_a_focus_point_and_its_links_stay_the_same_over_passes(ada: AgentUnderTest) -> None:
    ada.remember(f"A [Grace] {LONG}", f"B [Grace] {LONG}")
    (grace,) = ada.nodes("entity")
    before = {pair: link for pair, link in ada.links().items() if grace.id in pair}
    ada.compress(passes=5)
    after = {pair: link for pair, link in ada.links().items() if grace.id in pair}
    assert after == before
    (same,) = ada.nodes("entity")
    assert (same.content, same.scan_count) == ("Grace", 5)
    assert [node.content for node in ada.nodes("memory")] == [
        f"A [Grace] {LONG}",
        f"B [Grace] {LONG}",
    ]


def test_ordinary_links_fade_and_break_after_129_scans(ada: AgentUnderTest) -> None:
    ada.parameters = MemoryParameters(focus_limit=1, related_links=0)
    ada.remember(f"A [Grace] {LONG}", f"B [Grace] {LONG}")
    a, b = (node.id for node in ada.nodes("memory"))
    ada.compress()
    assert ada.links()[a, b].strength == pytest.approx(0.485)
    ada.compress(passes=127)
    assert ada.links()[a, b].strength == pytest.approx(0.5 * 0.97**128)
    ada.compress()
    assert (a, b) not in ada.links()
    assert (b, a) not in ada.links()
    assert ada.passes()[-1].broken == 2


@pytest.mark.parametrize(
    "text",
    [
        "Nobody except [Fatima] knows the password of the router in the cellar.",
        "除非银行六月前批准贷款，否则[老麦]会卖掉三亚的房子。",
    ],
)
def test_a_memory_of_which_no_true_part_is_shorter_stays_whole_until_it_is_forgotten(
    ada: AgentUnderTest, text: str
) -> None:
    ada.models.compressor = OfflineCompressor()
    ada.remember(text)
    forget_focus(ada)
    for strength in (0.5, 0.45):
        ada.execute(f"UPDATE link SET strength = {strength} WHERE agent_id = %s")
        ada.compress()
        assert ada.nodes("memory")[0].content == text
    ada.execute("UPDATE link SET strength = 0.01 WHERE agent_id = %s")
    ada.compress(2)
    assert ada.nodes("memory") == []


def test_what_holds_no_more_fades_first(ada: AgentUnderTest) -> None:
    ada.models.compressor = OfflineCompressor()
    ada.remember("I work as a nurse at the city hospital, and I live in [Porto] with my two cats.")
    ada.execute(
        "INSERT INTO ended_fact (agent_id, node_id, replaced_by, told_by, seqs, parts, until)"
        " SELECT agent_id, id, id, message_seqs[1], message_seqs,"
        " ARRAY['and I live in [Porto] with my two cats'], now()"
        " FROM node WHERE agent_id = %s AND kind = 'memory'"
    )
    forget_focus(ada)
    ada.execute("UPDATE link SET strength = 0.9 WHERE agent_id = %s")
    ada.compress()
    assert ada.nodes("memory")[0].content == "I work as a nurse at the city hospital."


def test_a_memory_shrinks_to_its_importance(ada: AgentUnderTest) -> None:
    memory = remember_with_half_a_link(ada)
    ada.compress()
    node = ada.nodes("memory")[0]
    whole = len(f"A [Grace] {LONG}")
    assert len(node.content) <= whole // 2
    assert node.original_length == whole
    assert len(node.phrase) <= 40
    assert set(node.keywords) <= {"Grace", "grace", *LONG.replace(",", "").split()}
    assert all(word.lower() in node.content.lower() for word in node.keywords)
    assert ada.trail(memory) == ["created", "compressed"]
    terms = {row.term for row in ada.rows("SELECT term FROM node_term WHERE agent_id = %s")}
    assert terms == set(
        node.content.lower().replace("[", "").replace("]", "").replace(",", "").split()
    )
    assert ada.models.embedder.embedded[-1] == node.content
    log = ada.passes()[-1]
    assert (log.scanned, log.compressed, log.forgotten) == (2, 1, 0)
    assert log.finished_at is not None


def test_a_cut_too_small_costs_no_model_call(ada: AgentUnderTest) -> None:
    remember_with_half_a_link(ada)
    ada.execute("UPDATE link SET strength = 0.95 WHERE agent_id = %s")
    ada.compress()
    assert ada.models.compressor.requests == []


def test_relations_of_nearly_forgotten_memories_become_generic(ada: AgentUnderTest) -> None:
    memory = remember_with_half_a_link(ada)
    ada.execute("UPDATE link SET strength = 0.15 WHERE agent_id = %s")
    ada.compress()
    assert {link.relation for pair, link in ada.links().items() if memory in pair} == {"related"}


def test_chinese_memories_shrink_and_go_generic_in_chinese(ada: AgentUnderTest) -> None:
    text = "有一天晚上和[小明]一起去图书馆借了三本关于宋代绘画的书然后去吃了火锅"
    ada.remember(text)
    forget_focus(ada)
    ada.execute("UPDATE link SET strength = 0.18 WHERE agent_id = %s")
    ada.compress()
    (node,) = ada.nodes("memory")
    assert node.content == text[: len(text) * 18 // 100]
    assert node.keywords == []
    assert {link.relation for link in ada.links().values()} == {"相关"}


def test_a_memory_that_would_be_too_short_is_forgotten_without_a_call(ada: AgentUnderTest) -> None:
    memory = remember_with_half_a_link(ada)
    ada.execute("UPDATE link SET strength = 0.02 WHERE agent_id = %s")
    ada.compress()
    assert ada.nodes("memory") == []
    assert ada.models.compressor.requests == []
    assert ada.trail(memory) == ["created", "forgotten"]


def test_forgetting_leaves_dangling_links_that_support_nothing(ada: AgentUnderTest) -> None:
    ada.remember(f"A [Grace] {LONG}")
    forget_focus(ada)
    (grace,), (memory,) = ada.nodes("entity"), ada.nodes("memory")
    ada.execute("DELETE FROM link WHERE agent_id = %s AND source = %s", memory.id)
    ada.compress()
    # The memory had no links. The entity now has only a dangling link.
    assert [node.id for node in ada.nodes()] == [grace.id]
    (dangling,) = ada.links().values()
    assert (dangling.source, dangling.target) == (grace.id, memory.id)
    assert dangling.hint == memory.phrase
    ada.compress()
    assert ada.nodes() == []
    assert ada.links() == {}
    assert ada.rows("SELECT 1 FROM node_vector WHERE agent_id = %s") == []
    assert ada.rows("SELECT 1 FROM node_term WHERE agent_id = %s") == []


def test_a_node_forgotten_earlier_in_the_pass_supports_nothing(ada: AgentUnderTest) -> None:
    ada.remember(f"A [Grace] {LONG}")
    forget_focus(ada)
    (grace,), (memory,) = ada.nodes("entity"), ada.nodes("memory")
    ada.execute("DELETE FROM link WHERE agent_id = %s AND source = %s", grace.id)
    assert grace.id < memory.id  # scanned first
    ada.compress()
    assert ada.nodes() == []


def test_without_focus_and_input_every_network_empties(ada: AgentUnderTest) -> None:
    ada.remember(f"A [Grace] {LONG}", f"B [Luigi] {LONG}", f"C [Oslo] {LONG}")
    forget_focus(ada)
    ada.compress(passes=200)
    assert ada.nodes() == []


def test_a_pass_visits_each_node_once_in_scan_order(ada: AgentUnderTest) -> None:
    ada.remember("A [Grace]", "B [Luigi]")
    ada.compress()
    ada.remember("C [Oslo]")
    ada.compress()
    counts = {node.content: node.scan_count for node in ada.nodes()}
    assert counts == {
        "Grace": 2,
        "A [Grace]": 2,
        "Luigi": 2,
        "B [Luigi]": 2,
        "Oslo": 1,
        "C [Oslo]": 1,
    }
    assert {node.last_pass for node in ada.nodes()} == {2}
    assert ada.lane().compress_done == ada.lane().compress_req
    assert ada.lane().compress_cursor is None


def test_a_pass_is_cut_between_two_nodes_and_resumed_in_the_next_slice(
    ada: AgentUnderTest,
) -> None:
    remember_shrinking_texts(ada)
    for done in range(1, 6):
        assert ada.compression().step(ada.lease(), budget_ms=0)
        assert sum(node.scan_count for node in ada.nodes()) == done
    assert ada.compression().step(ada.lease(), budget_ms=0) or True
    while ada.compression().step(ada.lease(), budget_ms=0):
        pass
    assert {node.scan_count for node in ada.nodes()} == {1}
    (log,) = ada.passes()
    assert (log.scanned, log.compressed) == (6, 6)
    assert log.finished_at is not None


def test_nodes_created_during_a_pass_are_scanned_in_the_next(ada: AgentUnderTest) -> None:
    remember_shrinking_texts(ada)
    lease = ada.lease()
    assert ada.compression().step(lease, budget_ms=0)
    effect = ada.creation().prepare(ada.say("Z newcomer", session="new"))
    with lease.effect() as connection:
        effect(connection)
    while ada.compression().step(lease, budget_ms=60_000):
        pass
    counts = {node.content[0]: node.scan_count for node in ada.nodes()}
    assert counts == {"A": 1, "B": 1, "C": 1, "D": 1, "E": 1, "F": 1, "Z": 0}


def test_a_request_during_a_pass_begins_the_next_one_at_the_next_slice(
    ada: AgentUnderTest,
) -> None:
    remember_shrinking_texts(ada)
    lease = ada.lease()
    assert ada.compression().step(lease, budget_ms=0)
    ada.ask_for_pass()
    assert ada.compression().step(lease, budget_ms=0)
    assert ada.lane().pass_number == 1
    assert ada.compression().step(ada.lease(), budget_ms=0)
    assert ada.lane().pass_number == 2
    # The new pass begins with the nodes that were not scanned.
    counts = {node.content[0]: node.scan_count for node in ada.nodes()}
    assert counts == {"A": 1, "B": 1, "C": 1, "D": 0, "E": 0, "F": 0}
    ada.compress()
    assert [log.finished_at is None for log in ada.passes()] == [True, True, False]


def test_cancelling_between_two_steps_ends_the_pass(ada: AgentUnderTest) -> None:
    remember_shrinking_texts(ada)
    lease = ada.lease()
    assert ada.compression().step(lease, budget_ms=0)
    ada.execute(
        "UPDATE lane SET compress_cursor = NULL, compress_done = compress_req WHERE agent_id = %s"
    )
    assert not ada.compression().step(lease, budget_ms=0)
    assert sum(node.scan_count for node in ada.nodes()) == 1


def test_cancelling_during_a_model_call_writes_nothing(ada: AgentUnderTest) -> None:
    remember_shrinking_texts(ada)

    def cancelled_meanwhile(text: str, target: int) -> str:
        ada.execute(
            "UPDATE lane SET compress_cursor = NULL, compress_done = compress_req"
            " WHERE agent_id = %s"
        )
        return keep_beginning(text, target)

    ada.models.compressor.script = [cancelled_meanwhile]
    assert not ada.compression().step(ada.lease(), budget_ms=0)
    assert sum(node.scan_count for node in ada.nodes()) == 0
    assert ada.passes()[0].scanned == 0


def test_a_lost_lease_writes_nothing(ada: AgentUnderTest) -> None:
    remember_shrinking_texts(ada)
    leases: list[Lease] = []

    def overtaken(text: str, target: int) -> str:
        leases.append(ada.lease())
        return keep_beginning(text, target)

    ada.models.compressor.script = [overtaken]
    with pytest.raises(FencedOffError):
        ada.compression().step(ada.lease(), budget_ms=0)
    assert sum(node.scan_count for node in ada.nodes()) == 0
    while ada.compression().step(leases[0], budget_ms=60_000):
        pass
    assert {node.scan_count for node in ada.nodes()} == {1}


def test_a_step_with_nothing_to_do_does_nothing(ada: AgentUnderTest) -> None:
    assert not ada.compression().step(ada.lease(), budget_ms=100)
    assert ada.passes() == []


def test_a_pass_over_an_empty_network_ends_at_once(ada: AgentUnderTest) -> None:
    ada.compress()
    assert ada.passes()[0].finished_at is not None
    assert ada.lane().compress_done == 1


def test_two_workers_cannot_compress_at_once(ada: AgentUnderTest) -> None:
    remember_shrinking_texts(ada)
    stale, fresh = ada.lease(), ada.lease()
    errors: list[BaseException] = []

    def run(lease: Lease) -> None:
        try:
            while ada.compression().step(lease, budget_ms=0):
                pass
        except FencedOffError as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(lease,)) for lease in (stale, fresh)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 1
    assert {node.scan_count for node in ada.nodes()} == {1}


def test_links_that_never_break_fade_for_ever_without_an_error(ada: AgentUnderTest) -> None:
    ada.parameters = MemoryParameters(
        focus_limit=1, related_links=0, link_break_threshold=0, decay_rate=0.001
    )
    ada.remember("A talk with [Grace] about gardens", "B talk with [Luigi] about boats")
    ada.compress(passes=40)
    assert [row.finished_at is not None for row in ada.passes()] == [True] * 40
