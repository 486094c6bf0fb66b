"""With ``drop_on_visit``, dangling links are deleted after a recall reported them (M15)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import redis
from sqlalchemy import event

from memci.broker.app import make_app
from memci.broker.intake_queues import AgentQueues
from memci.broker.redis_queues import RedisAgentQueues
from memci.broker.wakeup import Wakeups
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.recall import Miss
from memci.jobs.consolidate import LinkDropping
from memci.queue import mailbox
from memci.queue.lease import Claims
from memci.queue.sweep import sweep
from memci.reading.recall import Recall
from memci.schemas.reads import RecallAnswer, RecallRequest, RecallText
from tests.support.stored import Reader, Stored

FORGOTTEN = 4242


def recall(reader: Reader, *keywords: str, **fields: Any) -> RecallAnswer | RecallText:
    answer = Recall(*reader.parts).run("alice", RecallRequest(keywords=keywords, **fields))
    reader.activity.flush()
    return answer


def forgotten(reader: Reader, *keywords: str, **fields: Any) -> list[str]:
    answer = recall(reader, *keywords, format="structured", **fields)
    assert isinstance(answer, RecallAnswer)
    return [each.hint for each in answer.forgotten]


def set_dangling_links(alice: Stored, mode: str) -> None:
    alice.execute(
        "INSERT INTO agent_setting (agent_id, parameters) VALUES (%s, %s) ON CONFLICT (agent_id)"
        " DO UPDATE SET parameters = excluded.parameters",
        f'{{"dangling_links": "{mode}"}}',
    )


def queued(reader: Reader) -> list[list[int]]:
    with reader.database.lane_transaction() as connection:
        rows = connection.exec_driver_sql(
            "SELECT payload FROM job WHERE agent_id = 'alice' AND state = 'queued'"
            " AND kind = 'memci.link.drop' ORDER BY ordinal"
        ).all()
    return [row.payload["targets"] for row in rows]


def targets(reader: Reader) -> list[int]:
    with reader.database.agent_snapshot("alice") as connection:
        return [
            row[0]
            for row in connection.exec_driver_sql(
                "SELECT target FROM link WHERE agent_id = 'alice' ORDER BY source, target"
            )
        ]


@pytest.fixture
def hotel(alice: Stored) -> Stored:
    """The focus Lisbon and a memory of a trip; both link to a forgotten hotel."""
    lisbon = alice.entity("Lisbon")
    trip = alice.remember("We fly to Lisbon in May.")
    alice.link(lisbon, trip, "about", 0.9)
    alice.link(lisbon, FORGOTTEN, "about", 0.5, hint="hotel by the river")
    alice.link(trip, FORGOTTEN, "next", 0.4, hint="hotel by the river")
    alice.link(trip, FORGOTTEN + 1, "next", 0.3, hint="the flight home")
    set_dangling_links(alice, "drop_on_visit")
    return alice


class Lane:
    """Runs jobs as a lane worker does: the first of the mailbox, in a fenced transaction."""

    def __init__(self, reader: Reader, broker_url: str) -> None:
        self.reader = reader
        self.claims = Claims(reader.database, 30_000)
        self.celery = make_app(broker_url)
        self.client = redis.Redis.from_url(broker_url)
        self.queues: AgentQueues = RedisAgentQueues(self.client)

    def run(self) -> list[dict[str, Any]]:
        """Run all jobs that a sweep finds; return their results."""
        sweep(self.reader.database, self.queues, Wakeups(self.celery))
        results: list[dict[str, Any]] = []
        for claimed in self.claims.claim_due("alice", 1).claimed:
            while (job := mailbox.begin_next(claimed.lease)) is not None:
                effect = LinkDropping(MemoryParameters()).prepare(job)
                with claimed.lease.effect() as connection:
                    results.append(dict(effect(connection)))
                    assert mailbox.finish(connection, job, results[-1])
            with claimed.lease.effect() as connection:
                mailbox.free(connection, "alice")
        return results


@pytest.fixture
def lane(reader: Reader, broker_url: str) -> Iterator[Lane]:
    made = Lane(reader, broker_url)
    with closing(made.celery), closing(made.client):
        yield made


def test_reported_links_are_deleted_by_a_job_of_the_lane(reader: Reader, hotel: Stored, lane: Lane):
    before = targets(reader)
    assert forgotten(reader, "hotel") == ["hotel by the river"]
    assert targets(reader) == before, "reads never write"
    assert queued(reader) == [[FORGOTTEN]]
    assert lane.run() == [{"dropped": 2}]
    assert targets(reader) == [2, FORGOTTEN + 1]
    answer = recall(reader, "hotel", format="structured")
    assert answer.miss is Miss.NEVER_KNOWN
    assert queued(reader) == []


def test_a_recall_as_text_queues_the_job_too(reader: Reader, hotel: Stored):
    answer = recall(reader)
    assert isinstance(answer, RecallText)
    assert answer.text.count("[forgotten]") == 2
    assert queued(reader) == [[FORGOTTEN, FORGOTTEN + 1]]


def test_a_reported_link_beyond_the_depth_is_dropped_too(reader: Reader, hotel: Stored):
    assert forgotten(reader, "flight", depth=1) == ["the flight home"]
    assert queued(reader) == [[FORGOTTEN + 1]]


@pytest.mark.parametrize("form", ["text", "structured"])
def test_links_beyond_the_budget_or_limit_are_not_dropped(reader: Reader, hotel: Stored, form: str):
    recall(reader, format=form, budget_tokens=1)
    assert queued(reader) == []
    recall(reader, format=form, limit=1)
    assert queued(reader) == [[FORGOTTEN]]


def test_by_default_dangling_links_stay(reader: Reader, hotel: Stored, lane: Lane):
    set_dangling_links(hotel, "keep")
    before = targets(reader)
    for _ in range(2):
        assert forgotten(reader, "hotel") == ["hotel by the river"]
    assert lane.run() == []
    assert targets(reader) == before


def test_the_default_parameters_can_set_drop_on_visit(reader: Reader, hotel: Stored):
    hotel.execute("DELETE FROM agent_setting WHERE agent_id = %s")
    reader.defaults = type(reader.defaults)(memory=MemoryParameters(dangling_links="drop_on_visit"))
    recall(reader, "hotel")
    assert queued(reader) == [[FORGOTTEN]]


def test_repeated_reports_queue_one_job(reader: Reader, hotel: Stored, lane: Lane):
    recall(reader)
    recall(reader, "hotel")
    recall(reader)
    assert queued(reader) == [[FORGOTTEN, FORGOTTEN + 1]]
    lane.run()
    hotel.link(1, FORGOTTEN + 2, hint="hotel by the sea")
    recall(reader, "hotel")
    assert queued(reader) == [[FORGOTTEN + 2]]


def test_the_job_does_no_harm_when_it_runs_twice(reader: Reader, hotel: Stored, lane: Lane):
    recall(reader, "hotel")
    hotel.execute(
        "INSERT INTO job (agent_id, id, kind, payload, source)"
        " SELECT agent_id, gen_random_uuid(), kind, payload, source FROM job WHERE agent_id = %s"
    )
    assert lane.run() == [{"dropped": 2}, {"dropped": 0}]


def test_links_to_living_nodes_are_never_dropped(reader: Reader, hotel: Stored, lane: Lane):
    hotel.execute(
        "INSERT INTO job (agent_id, id, kind, payload, source)"
        " VALUES (%s, gen_random_uuid(), 'memci.link.drop', '{\"targets\": [2]}', 'read')"
    )
    before = targets(reader)
    assert lane.run() == [{"dropped": 0}]
    assert targets(reader) == before


def test_no_link_is_dropped_if_the_agent_was_set_back_to_keep(
    reader: Reader, hotel: Stored, lane: Lane
):
    recall(reader, "hotel")
    set_dangling_links(hotel, "keep")
    before = targets(reader)
    assert lane.run() == [{"dropped": 0}]
    assert targets(reader) == before


def test_a_recall_does_not_wait_for_a_busy_lane(reader: Reader, hotel: Stored):
    """The recall answers; its job is queued when the lane's lock is released."""
    with reader.database.lane_transaction() as connection:
        connection.exec_driver_sql("SELECT FROM lane WHERE agent_id = 'alice' FOR UPDATE")
        recalling = threading.Thread(target=recall, args=(reader, "hotel"))
        recalling.start()
        recalling.join(10)
        assert not recalling.is_alive()
        assert queued(reader) == []
    reader.activity.flush()
    assert queued(reader) == [[FORGOTTEN]]


def test_queueing_a_job_locks_no_other_agent_that_was_read(reader: Reader, hotel: Stored):
    hotel.execute(
        "INSERT INTO lane (agent_id) SELECT unnest(ARRAY['bob', 'carol']) WHERE %s = 'alice'"
    )
    unlocked: list[str] = []

    def list_unlocked(_: Any, cursor: Any, statement: str, *_rest: Any) -> None:
        if "INSERT INTO job (" in statement:
            with reader.database.lane_transaction() as connection:
                rows = connection.exec_driver_sql(
                    "SELECT agent_id FROM lane ORDER BY agent_id FOR UPDATE SKIP LOCKED"
                )
                unlocked.extend(rows.scalars())

    event.listen(reader.database.engine, "before_cursor_execute", list_unlocked)
    for agent_id in ("bob", "carol"):
        reader.activity.note(agent_id)
    reader.activity.note("alice", dropping=[FORGOTTEN])
    reader.activity.flush()
    assert unlocked == ["bob", "carol"]
    assert queued(reader) == [[FORGOTTEN]]


def test_nothing_is_queued_for_an_unknown_agent(reader: Reader, hotel: Stored):
    reader.activity.note("nobody", dropping=[FORGOTTEN])
    reader.activity.flush()
    hotel.execute("UPDATE job SET agent_id = %s WHERE agent_id = 'nobody'")
    assert queued(reader) == []


def test_the_job_does_not_count_as_pending_memory_work(reader: Reader, hotel: Stored):
    seq = hotel.say("Good night.")
    recall(reader, "hotel")
    answer = recall(reader, "Lisbon")
    assert (answer.seq, answer.pending) == (seq, 0)
