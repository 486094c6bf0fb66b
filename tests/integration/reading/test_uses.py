"""Receipts and trails store after the answer which rows a read gave (R11, M27)."""

from __future__ import annotations

import threading
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Row, text

from memci.domain.search.candidate import Source
from memci.reading.context import ContextReader
from memci.reading.deferred_writes import Use, UseLog, use_of
from memci.reading.recall import Recall
from memci.reading.search import Search
from memci.schemas.reads import ContextAnswer, ContextRequest, RecallRequest, SearchRequest
from memci.storage.erasure.erase import lock_for_erasure
from memci.storage.reading.snapshot_state import Progress
from memci.storage.receipts import NewReceipt, ReadReferences
from memci.testing import wait_until
from tests.support.stored import Reader, Stored


def rows(reader: Reader, statement: str) -> list[Row[Any]]:
    with reader.database.agent_snapshot("alice") as connection:
        return list(connection.execute(text(statement)))


def receipts(reader: Reader) -> list[Row[Any]]:
    return rows(reader, "SELECT * FROM receipt ORDER BY created_at")


def uses(reader: Reader) -> dict[int, dict[str, Any]]:
    found = rows(reader, "SELECT node_id, details FROM trail WHERE event = 'used' ORDER BY id")
    return {row.node_id: row.details for row in found}


@pytest.fixture
def ferry(alice: Stored) -> int:
    """Store two messages, and a memory of the second at the focus; return its id."""
    alice.say("something else")
    seq = alice.say("the ferry leaves at eight")
    memory = alice.remember("the ferry leaves at eight", [seq])
    focus = alice.entity("ferry")
    alice.link(focus, memory)
    alice.link(memory, focus)
    return memory


def test_a_recall_leaves_a_receipt_and_use_events(reader: Reader, ferry: int) -> None:
    Recall(*reader.parts).run("alice", RecallRequest(keywords=["ferry"]))
    reader.activity.flush()
    (receipt,) = receipts(reader)
    assert (receipt.kind, receipt.at_seq, receipt.seqs, receipt.given, receipt.nodes) == (
        "recall", 2, [2], [2], [ferry],
    )  # fmt: skip
    assert receipt.body == {"seq": 2, "pending": 0, "message_ids": ["m2"], "node_ids": [ferry]}
    assert uses(reader) == {ferry: {"receipts": [str(receipt.id)], "times": 1}}


def test_a_search_leaves_a_receipt_and_use_events(reader: Reader, ferry: int) -> None:
    Search(*reader.parts).run(
        "alice", SearchRequest(query="when does the ferry leave", sources=[Source.MEMORY])
    )
    reader.activity.flush()
    (receipt,) = receipts(reader)
    assert (receipt.kind, receipt.given, receipt.nodes) == ("search", [2], [ferry])
    assert list(uses(reader)) == [ferry]


def test_use_events_of_a_context_name_its_receipt(reader: Reader, ferry: int) -> None:
    request = ContextRequest(query="when does the ferry leave?", budget_tokens=500, recent=0)
    answer = ContextReader(*reader.parts).run("alice", request)
    reader.activity.flush()
    (receipt,) = receipts(reader)
    assert (receipt.id, receipt.kind, receipt.at_seq) == (answer.receipt_id, "context", 2)
    given = {each for item in answer.items for each in item.message_ids}
    assert [f"m{seq}" for seq in receipt.given] == sorted(given)
    assert set(receipt.given) <= set(receipt.seqs)
    assert set(uses(reader)) == set(receipt.nodes)
    for details in uses(reader).values():
        assert details == {"receipts": [str(answer.receipt_id)], "times": 1}


def test_a_read_that_gives_nothing_leaves_nothing(reader: Reader, ferry: int) -> None:
    Recall(*reader.parts).run("alice", RecallRequest(keywords=["volcano"]))
    Recall(*reader.parts).run("bob", RecallRequest(keywords=["volcano"]))
    reader.activity.flush()
    assert receipts(reader) == []
    assert uses(reader) == {}


def use(*nodes: int, seqs: tuple[int, ...] = ()) -> Use:
    made = use_of("alice", "recall", Progress(2, 2), (seqs, nodes), {})
    assert made is not None
    return made


def test_uses_written_together_are_one_event_a_memory(reader: Reader, ferry: int) -> None:
    log = UseLog(reader.database, period_s=60)
    noted = [use(ferry, seqs=(2,)) for _ in range(20)]
    for each in noted:
        log.note(each)
    log.close()
    assert len(receipts(reader)) == 20
    assert uses(reader) == {
        ferry: {"receipts": [str(each.receipt.id) for each in noted[-8:]], "times": 20}
    }


def test_a_use_is_written_soon_and_no_read_waits(reader: Reader, ferry: int) -> None:
    log = UseLog(reader.database, period_s=0.02)
    with reader.database.agent_transaction("alice") as connection:
        lock_for_erasure(connection, "alice")
        log.note(use(ferry))  # returns although nothing can be written now
        assert receipts(reader) == []
    wait_until(lambda: uses(reader), "the use is noted")
    log.close()


def test_an_erasure_delays_no_receipts_of_other_agents(reader: Reader, ferry: int) -> None:
    bob = Stored(reader, "bob")
    bob.say("the ferry leaves at nine")
    log = UseLog(reader.database, period_s=0.02)
    given = ReadReferences(1, frozenset({1}), frozenset({1}), frozenset())
    with reader.database.agent_transaction("alice") as erasing:
        lock_for_erasure(erasing, "alice")
        log.note(use(ferry))
        log.note(Use("bob", NewReceipt(uuid4(), "recall", {}, given=given)))
        wait_until(lambda: bobs_receipts(reader), "his receipt is kept meanwhile", timeout_s=5)
        assert not is_lock_awaited(reader)
        assert uses(reader) == {}
    wait_until(lambda: uses(reader), "hers follows, though nobody reads any more")
    log.close()


def bobs_receipts(reader: Reader) -> int:
    with reader.database.agent_snapshot("bob") as connection:
        return int(connection.execute(text("SELECT count(*) FROM receipt")).scalar_one())


def test_only_the_newest_uses_are_held_in_memory(reader: Reader, ferry: int) -> None:
    log = UseLog(reader.database, period_s=60, most=3)
    noted = [use(ferry) for _ in range(9)]
    for each in noted:
        log.note(each)
    log.close()
    assert {row.id for row in receipts(reader)} == {each.receipt.id for each in noted[-3:]}


def test_a_receipt_that_names_an_erased_message_is_not_stored(
    reader: Reader, alice: Stored, ferry: int
) -> None:
    log = UseLog(reader.database, period_s=60)
    given = ReadReferences(2, frozenset({1, 2}), frozenset({2}), frozenset({ferry}))
    receipt = NewReceipt(uuid4(), "recall", {}, given=given)
    log.note(Use("alice", receipt))
    log.note(use(ferry, seqs=(2,)))
    alice.delete_message(1)
    log.close()
    assert [row.seqs for row in receipts(reader)] == [[2]]
    assert uses(reader)[ferry]["times"] == 1


def test_a_use_of_a_forgotten_memory_is_no_event(reader: Reader, alice: Stored, ferry: int) -> None:
    log = UseLog(reader.database, period_s=60)
    log.note(use(ferry))
    alice.forget(ferry)
    log.close()
    assert uses(reader) == {}


def test_a_context_with_messages_erased_meanwhile_stores_no_receipt(
    reader: Reader, ferry: int
) -> None:
    """The context is read before the erasure; its receipt would be written after it."""
    answers: list[ContextAnswer] = []
    request = ContextRequest(query="when does the ferry leave?", budget_tokens=500)

    def assemble() -> None:
        answers.append(ContextReader(*reader.parts).run("alice", request))

    with reader.database.agent_transaction("alice") as connection:
        lock_for_erasure(connection, "alice")
        thread = threading.Thread(target=assemble)
        thread.start()
        wait_until(lambda: is_lock_awaited(reader), "the context has been read, and waits")
        connection.exec_driver_sql("DELETE FROM message WHERE seq = 2")
    thread.join(20)
    assert "ferry leaves at eight" in answers[0].model_dump_json()
    reader.activity.flush()
    assert receipts(reader) == []
    assert uses(reader) == {}


def is_lock_awaited(reader: Reader) -> bool:
    with reader.database.lane_transaction() as connection:
        query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        return bool(connection.exec_driver_sql(query).scalar())
