"""What a pass does when a model fails or a node changes during a model call (M13)."""

from __future__ import annotations

import pytest

from memci.errors import SmallModelAnswerError, SmallModelUnavailableError
from memci.smallmodel.vector_space import Vectors
from tests.support.fading import LONG, remember_shrinking_texts, remember_with_half_a_link
from tests.support.models import is_down, keep_beginning
from tests.support.network import AgentUnderTest


def wrong_answer(text: str, target: int) -> str:
    raise SmallModelAnswerError


class WorkerDiedError(BaseException):
    pass


def kill_worker(text: str, target: int) -> str:
    raise WorkerDiedError


def test_a_failed_call_is_retried_later_and_the_pass_goes_on(ada: AgentUnderTest) -> None:
    remember_shrinking_texts(ada)
    ada.models.compressor.script = [wrong_answer]
    assert not ada.compression().step(ada.lease(), budget_ms=60_000)
    counts = {node.content[0]: node.scan_count for node in ada.nodes()}
    assert counts == {"A": 0, "B": 1, "C": 1, "D": 1, "E": 1, "F": 1}
    assert ada.lane().compress_cursor["retry_at"] is not None
    assert not ada.compression().step(ada.lease(), budget_ms=60_000)  # too early
    assert len(ada.models.compressor.requests) == 6
    ada.clock.advance(1)
    assert not ada.compression().step(ada.lease(), budget_ms=60_000)
    assert {node.scan_count for node in ada.nodes()} == {1}
    assert ada.passes()[0].finished_at is not None


@pytest.mark.parametrize("answer", ["", "  \n ", "x" * 60, "\x00"])
def test_a_useless_answer_is_a_failure(ada: AgentUnderTest, answer: str) -> None:
    memory = remember_with_half_a_link(ada)
    ada.models.compressor.script = [lambda *_: answer]
    ada.compress()
    node = ada.row("SELECT * FROM node WHERE agent_id = %s AND id = %s", memory)
    assert (node.attempts, node.scan_count) == (1, 0)
    assert node.content == f"A [Grace] {LONG}"


def test_after_the_last_failure_the_pass_gives_up_and_keeps_the_content(
    ada: AgentUnderTest,
) -> None:
    memory = remember_with_half_a_link(ada)
    ada.models.compressor.rest = wrong_answer
    ada.ask_for_pass()
    lease = ada.lease()
    for _ in range(40):
        ada.compression().step(lease, budget_ms=60_000)
        ada.clock.advance(61)
    assert len(ada.models.compressor.requests) == 15
    node = ada.row("SELECT * FROM node WHERE agent_id = %s AND id = %s", memory)
    assert (node.scan_count, node.content) == (1, f"A [Grace] {LONG}")
    assert ada.links()[memory, ada.nodes("entity")[0].id].strength == pytest.approx(0.485)
    assert ada.passes()[0].given_up == 1
    ada.models.compressor.rest = keep_beginning
    ada.compress()  # a new pass counts from zero
    assert len(ada.nodes("memory")[0].content) < len(f"A [Grace] {LONG}")


def test_calls_are_counted_across_passes(ada: AgentUnderTest) -> None:
    memory = remember_with_half_a_link(ada)
    ada.models.compressor.rest = wrong_answer
    for _ in range(15):
        assert ada.nodes("memory")[0].scan_count == 0
        ada.compress()  # each begins a pass before the last one ended
        ada.clock.advance(61)
    assert len(ada.models.compressor.requests) == 15
    assert [each.given_up for each in ada.passes()] == [0] * 14 + [1]
    assert ada.links()[memory, ada.nodes("entity")[0].id].strength == pytest.approx(0.485)


def test_a_scan_that_asks_for_no_shorter_text_keeps_the_count(ada: AgentUnderTest) -> None:
    memory = remember_with_half_a_link(ada)
    ada.models.compressor.rest = wrong_answer
    ada.compress()
    ada.execute("UPDATE link SET strength = 1 WHERE agent_id = %s")
    ada.clock.advance(61)
    ada.compress()
    node = ada.row("SELECT * FROM node WHERE agent_id = %s AND id = %s", memory)
    assert (node.attempts, node.scan_count) == (1, 1)


def test_a_text_that_the_embedder_refuses_fails_alone(ada: AgentUnderTest) -> None:
    remember_shrinking_texts(ada)
    embed, refused = ada.models.embedder.embed, []

    def picky(texts: list[str]) -> Vectors:
        refused[:] = refused or texts[:1]
        if refused[0] in texts:
            raise SmallModelAnswerError
        return embed(texts)

    ada.models.embedder.embed = picky
    ada.compress()
    whole = [node for node in ada.nodes("memory") if node.content.endswith(LONG)]
    assert [(node.attempts, node.scan_count) for node in whole] == [(1, 0)]
    assert len(ada.nodes("memory")) > 2
    assert ada.passes()[-1].compressed == len(ada.nodes("memory")) - 1


def test_a_call_is_counted_although_the_worker_dies_in_it(ada: AgentUnderTest) -> None:
    memory = remember_with_half_a_link(ada)
    ada.models.compressor.rest = kill_worker
    ada.ask_for_pass()
    for _ in range(15):
        with pytest.raises(WorkerDiedError):
            ada.compression().step(ada.lease(), budget_ms=60_000)
    assert not ada.compression().step(ada.lease(), budget_ms=60_000)
    assert len(ada.models.compressor.requests) == 15
    node = ada.row("SELECT * FROM node WHERE agent_id = %s AND id = %s", memory)
    assert (node.attempts, node.scan_count) == (0, 1)  # a new pass counts from zero
    assert ada.passes()[-1].given_up == 1


def test_a_model_that_is_down_stops_the_pass_early(ada: AgentUnderTest) -> None:
    remember_shrinking_texts(ada)
    ada.models.compressor.rest = is_down
    assert not ada.compression().step(ada.lease(), budget_ms=60_000)
    assert len(ada.models.compressor.requests) == 3
    assert not ada.compression().step(ada.lease(), budget_ms=60_000)
    assert len(ada.models.compressor.requests) == 3
    ada.clock.advance(120)
    assert not ada.compression().step(ada.lease(), budget_ms=60_000)
    assert len(ada.models.compressor.requests) == 4  # one node tests the model
    ada.models.compressor.rest = keep_beginning
    ada.clock.advance(120)
    assert not ada.compression().step(ada.lease(), budget_ms=60_000)
    assert {node.scan_count for node in ada.nodes()} == {1}
    assert ada.passes()[0].finished_at is not None


def test_a_new_pass_does_not_call_a_model_that_is_down(ada: AgentUnderTest) -> None:
    remember_shrinking_texts(ada)
    ada.models.compressor.rest = is_down
    assert not ada.compression().step(ada.lease(), budget_ms=60_000)
    ada.ask_for_pass()
    assert not ada.compression().step(ada.lease(), budget_ms=60_000)
    assert ada.lane().pass_number == 2
    assert len(ada.models.compressor.requests) == 3


def test_an_embedder_that_is_down_is_a_failed_compression(ada: AgentUnderTest) -> None:
    memory = remember_with_half_a_link(ada)
    embed = ada.models.embedder.embed
    ada.models.embedder.embed = lambda _: is_down("", 0)
    ada.compress()
    node = ada.row("SELECT * FROM node WHERE agent_id = %s AND id = %s", memory)
    assert (node.attempts, node.scan_count, node.content) == (1, 0, f"A [Grace] {LONG}")
    ada.models.embedder.embed = embed
    ada.clock.advance(2)
    assert not ada.compression().step(ada.lease(), budget_ms=60_000)
    assert ada.nodes("memory")[0].scan_count == 1


def test_no_transaction_is_open_during_a_model_call(ada: AgentUnderTest) -> None:
    remember_shrinking_texts(ada, "AB")
    connections: list[int] = []

    def count_connections(text: str, target: int) -> str:
        connections.append(ada.database.engine.pool.checkedout())  # type: ignore[attr-defined]
        return keep_beginning(text, target)

    ada.models.compressor.script = [count_connections]
    ada.compression().step(ada.lease(), budget_ms=0)
    assert connections == [0]


def test_a_node_erased_during_its_model_call_is_not_indexed(ada: AgentUnderTest) -> None:
    memory = remember_with_half_a_link(ada)

    def erased_meanwhile(text: str, target: int) -> str:
        for table, column in (("node", "id"), ("node_vector", "node_id"), ("node_term", "node_id")):
            ada.execute(f"DELETE FROM {table} WHERE agent_id = %s AND {column} = %s", memory)
        return keep_beginning(text, target)

    ada.models.compressor.script = [erased_meanwhile]
    ada.compress()
    for table in ("node_vector", "node_term"):
        assert ada.rows(f"SELECT 1 FROM {table} WHERE agent_id = %s") == []


def test_a_node_erased_before_its_model_call_is_skipped(ada: AgentUnderTest) -> None:
    remember_shrinking_texts(ada)
    last = ada.nodes()[-1].id

    def erased_meanwhile(text: str, target: int) -> str:
        ada.execute("DELETE FROM node WHERE agent_id = %s AND id = %s", last)
        return keep_beginning(text, target)

    ada.models.compressor.script = [erased_meanwhile]
    assert not ada.compression().step(ada.lease(), budget_ms=60_000)
    assert len(ada.models.compressor.requests) == 5
    assert {node.scan_count for node in ada.nodes()} == {1}


def test_a_focus_change_during_a_model_call_protects_the_memory(ada: AgentUnderTest) -> None:
    remember_with_half_a_link(ada)
    (grace,) = ada.nodes("entity")

    def mentioned_meanwhile(text: str, target: int) -> str:
        ada.execute("INSERT INTO focus VALUES (%s, %s, 99)", grace.id)
        ada.execute("UPDATE link SET strength = 1.0 WHERE agent_id = %s")
        return keep_beginning(text, target)

    ada.models.compressor.script = [mentioned_meanwhile]
    ada.compress()
    assert {link.strength for link in ada.links().values()} == {1.0}
    assert ada.nodes("memory")[0].content == f"A [Grace] {LONG}"


def test_the_time_slice_setting_of_an_agent_is_used(ada: AgentUnderTest) -> None:
    assert ada.compression().slice_ms("ada") == 30_000
    ada.execute(
        "INSERT INTO agent_setting (agent_id, parameters) VALUES (%s, '{\"time_slice\": 500}')"
    )
    assert ada.compression().slice_ms("ada") == 500


def test_a_pass_stops_when_the_embedder_is_down_and_asks_it_first_from_then_on(
    ada: AgentUnderTest,
) -> None:
    remember_shrinking_texts(ada)
    embed, asked = ada.models.embedder.embed, []

    def down(texts: list[str]) -> Vectors:
        asked.append(len(texts))
        raise SmallModelUnavailableError(retry_after_s=120)

    ada.models.embedder.embed = down
    ada.ask_for_pass()
    lease = ada.lease()
    assert not ada.compression().step(lease, budget_ms=60_000)
    calls = len(ada.models.compressor.requests)
    assert calls == len(ada.nodes("memory"))
    ada.clock.advance(119)
    assert not ada.compression().step(lease, budget_ms=60_000)  # earlier than retry_after_s
    assert len(asked) == 1
    for _ in range(20):
        ada.clock.advance(3_600)
        assert not ada.compression().step(lease, budget_ms=60_000)
    assert asked[1:] == [1] * 20, "one short question each time"
    assert len(ada.models.compressor.requests) == calls, "nobody is paid for what cannot be kept"
    assert all(node.content.endswith(LONG) for node in ada.nodes("memory"))
    ada.models.embedder.embed = embed
    ada.clock.advance(3_600)
    while ada.compression().step(lease, budget_ms=60_000):
        pass
    assert ada.passes()[0].finished_at is not None
    assert ada.passes()[0].given_up == 0
    assert ada.passes()[0].compressed == calls
