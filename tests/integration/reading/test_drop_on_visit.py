"""Links to what is forgotten go once a recall has reported it, where that is wanted (M15)."""

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

GONE = 4242


def recall(reader: Reader, *keywords: str, **fields: Any) -> RecallAnswer | RecallText:
    answer = Recall(*reader.parts).run("alice", RecallRequest(keywords=keywords, **fields))
    reader.activity.flush()
    return answer


def forgotten(reader: Reader, *keywords: str, **fields: Any) -> list[str]:
    answer = recall(reader, *keywords, format="structured", **fields)
    assert isinstance(answer, RecallAnswer)
    return [each.hint for each in answer.forgotten]


def keep(alice: Stored, mode: str) -> None:
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
    """Focus Lisbon, a trip, and a hotel that both once led to and that is forgotten."""
    lisbon = alice.entity("Lisbon")
    trip = alice.remember("We fly to Lisbon in May.")
    alice.link(lisbon, trip, "about", 0.9)
    alice.link(lisbon, GONE, "about", 0.5, hint="hotel by the river")
    alice.link(trip, GONE, "next", 0.4, hint="hotel by the river")
    alice.link(trip, GONE + 1, "next", 0.3, hint="the flight home")
    keep(alice, "drop_on_visit")
    return alice


class Lane:
    """Does what a lane worker does: the head of the mailbox, in one fenced transaction."""

    def __init__(self, reader: Reader, broker_url: str) -> None:
        self.reader = reader
        self.claims = Claims(reader.database, 30_000)
        self.celery = make_app(broker_url)
        self.client = redis.Redis.from_url(broker_url)
        self.queues: AgentQueues = RedisAgentQueues(self.client)

    def run(self) -> list[dict[str, Any]]:
        """Run all that the sweeper finds; return what the jobs say they did."""
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


def test_what_was_reported_goes_by_a_job_of_the_lane(reader: Reader, hotel: Stored, lane: Lane):
    before = targets(reader)
    assert forgotten(reader, "hotel") == ["hotel by the river"]
    assert targets(reader) == before, "reads never write"
    assert queued(reader) == [[GONE]]
    assert lane.run() == [{"dropped": 2}]
    assert targets(reader) == [2, GONE + 1]
    answer = recall(reader, "hotel", format="structured")
    assert answer.miss is Miss.NEVER_KNOWN
    assert queued(reader) == []


def test_the_text_form_reports_as_well(reader: Reader, hotel: Stored):
    answer = recall(reader)
    assert isinstance(answer, RecallText)
    assert answer.text.count("[forgotten]") == 2
    assert queued(reader) == [[GONE, GONE + 1]]


def test_what_is_out_of_reach_counts_when_it_is_reported(reader: Reader, hotel: Stored):
    assert forgotten(reader, "flight", depth=1) == ["the flight home"]
    assert queued(reader) == [[GONE + 1]]


@pytest.mark.parametrize("form", ["text", "structured"])
def test_what_did_not_fit_was_not_reported(reader: Reader, hotel: Stored, form: str):
    recall(reader, format=form, budget_tokens=1)
    assert queued(reader) == []
    recall(reader, format=form, limit=1)
    assert queued(reader) == [[GONE]]


def test_by_default_dangling_links_stay(reader: Reader, hotel: Stored, lane: Lane):
    keep(hotel, "keep")
    before = targets(reader)
    for _ in range(2):
        assert forgotten(reader, "hotel") == ["hotel by the river"]
    assert lane.run() == []
    assert targets(reader) == before


def test_all_agents_may_be_set_so(reader: Reader, hotel: Stored):
    hotel.execute("DELETE FROM agent_setting WHERE agent_id = %s")
    reader.defaults = type(reader.defaults)(memory=MemoryParameters(dangling_links="drop_on_visit"))
    recall(reader, "hotel")
    assert queued(reader) == [[GONE]]


def test_reports_that_come_again_wait_as_one_job(reader: Reader, hotel: Stored, lane: Lane):
    recall(reader)
    recall(reader, "hotel")
    recall(reader)
    assert queued(reader) == [[GONE, GONE + 1]]
    lane.run()
    hotel.link(1, GONE + 2, hint="hotel by the sea")
    recall(reader, "hotel")
    assert queued(reader) == [[GONE + 2]]


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


def test_an_agent_that_keeps_them_again_by_now_loses_none(
    reader: Reader, hotel: Stored, lane: Lane
):
    recall(reader, "hotel")
    keep(hotel, "keep")
    before = targets(reader)
    assert lane.run() == [{"dropped": 0}]
    assert targets(reader) == before


def test_a_lane_that_is_busy_is_not_waited_for(reader: Reader, hotel: Stored):
    """The recall answers, and its job is queued as soon as the lane's holder lets go."""
    with reader.database.lane_transaction() as connection:
        connection.exec_driver_sql("SELECT FROM lane WHERE agent_id = 'alice' FOR UPDATE")
        asked = threading.Thread(target=recall, args=(reader, "hotel"))
        asked.start()
        asked.join(10)
        assert not asked.is_alive()
        assert queued(reader) == []
    reader.activity.flush()
    assert queued(reader) == [[GONE]]


def test_while_jobs_are_queued_no_other_agent_that_was_read_is_locked(
    reader: Reader, hotel: Stored
):
    hotel.execute(
        "INSERT INTO lane (agent_id) SELECT unnest(ARRAY['bob', 'carol']) WHERE %s = 'alice'"
    )
    free: list[str] = []

    def look(_: Any, cursor: Any, statement: str, *_rest: Any) -> None:
        if "INSERT INTO job (" in statement:
            with reader.database.lane_transaction() as connection:
                rows = connection.exec_driver_sql(
                    "SELECT agent_id FROM lane ORDER BY agent_id FOR UPDATE SKIP LOCKED"
                )
                free.extend(rows.scalars())

    event.listen(reader.database.engine, "before_cursor_execute", look)
    for agent_id in ("bob", "carol"):
        reader.activity.note(agent_id)
    reader.activity.note("alice", dropping=[GONE])
    reader.activity.flush()
    assert free == ["bob", "carol"]
    assert queued(reader) == [[GONE]]


def test_nothing_is_queued_for_an_agent_that_is_gone(reader: Reader, hotel: Stored):
    reader.activity.note("nobody", dropping=[GONE])
    reader.activity.flush()
    hotel.execute("UPDATE job SET agent_id = %s WHERE agent_id = 'nobody'")
    assert queued(reader) == []


def test_memory_is_as_fresh_as_without_such_a_job(reader: Reader, hotel: Stored):
    seq = hotel.say("Good night.")
    recall(reader, "hotel")
    answer = recall(reader, "Lisbon")
    assert (answer.seq, answer.pending) == (seq, 0)
