"""Reads wait until memory is fresh (R18); the time of the last read is stored (M16)."""

from __future__ import annotations

import threading
import time
from typing import Any

from memci.reading.deferred_writes import ReadActivity
from memci.reading.reader import wait_until_fresh
from memci.reading.search import Search
from memci.schemas.reads import Fresh, SearchRequest
from memci.storage.reading.snapshot_state import Progress, progress
from memci.testing import wait_until
from tests.support.stored import Reader, Stored


def current(reader: Reader) -> Progress:
    with reader.database.agent_snapshot("alice") as connection:
        return progress(connection, "alice")


class TestProgress:
    def test_seq_ends_before_the_first_queued_job(self, reader: Reader, alice: Stored):
        for number in range(6):
            alice.say(f"message {number}")
        assert current(reader) == Progress(6, 6)
        later, earlier = alice.queue(5, 6), alice.queue(3, 4)
        assert current(reader) == Progress(2, 6)
        alice.finish(earlier)
        assert (current(reader).seq, current(reader).pending) == (4, 2)
        alice.finish(later)
        assert current(reader).pending == 0


class TestWaiting:
    def test_it_ends_when_the_job_is_done(self, reader: Reader, alice: Stored):
        seq = alice.say("hello ferry")
        job = alice.queue(seq, seq)
        answers: list[Any] = []
        request = SearchRequest(query="ferry", min_seq=seq, wait_ms=20_000)
        search = Search(*reader.parts)
        waiting = threading.Thread(target=lambda: answers.append(search.run("alice", request)))
        waiting.start()
        waiting.join(0.15)
        assert waiting.is_alive()
        alice.finish(job)
        waiting.join(10)
        assert [each.seq for each in answers] == [seq]

    def test_it_ends_after_wait_ms_and_returns_the_progress(self, reader: Reader, alice: Stored):
        seq = alice.say("hello ferry")
        alice.queue(seq, seq)
        begin = time.monotonic()
        request = SearchRequest(query="ferry", min_seq=seq, wait_ms=120)
        answer = Search(*reader.parts).run("alice", request)
        assert time.monotonic() - begin >= 0.12
        assert (answer.seq, answer.pending) == (seq - 1, 1)
        assert len(answer.hits) == 1

    def test_min_seq_or_wait_ms_alone_does_not_wait(self, reader: Reader, alice: Stored):
        alice.queue(1, 1)
        reader.database.close()
        begin = time.monotonic()
        wait_until_fresh(reader.database, "alice", Fresh(wait_ms=30_000))
        wait_until_fresh(reader.database, "alice", Fresh(min_seq=9))
        assert time.monotonic() - begin < 5


class TestReadActivity:
    def read_at(self, reader: Reader, agent_id: str = "alice") -> Any:
        with reader.database.lane_transaction() as connection:
            return connection.exec_driver_sql(
                "SELECT read_at FROM lane WHERE agent_id = %s", (agent_id,)
            ).scalar()

    def test_the_time_of_a_read_is_stored_soon(self, reader: Reader, alice: Stored):
        Search(*reader.parts).run("alice", SearchRequest(query="x"))
        wait_until(lambda: self.read_at(reader), "the read is noted")

    def test_unknown_agents_get_no_lane(self, reader: Reader):
        reader.activity.note("nobody")
        reader.activity.flush()
        with reader.database.lane_transaction() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM lane").scalar() == 0

    def test_it_does_not_wait_for_a_locked_lane_and_tries_again(
        self, reader: Reader, alice: Stored
    ):
        with reader.database.lane_transaction() as locking:
            locking.exec_driver_sql("SELECT 1 FROM lane WHERE agent_id = 'alice' FOR UPDATE")
            reader.activity.note("alice")
            reader.activity.flush()
            assert self.read_at(reader) is None
        wait_until(lambda: self.read_at(reader), "the read is noted after the lane was released")

    def test_closing_writes_the_remaining_reads(self, reader: Reader, alice: Stored):
        activity = ReadActivity(reader.database, period_s=3_600)
        activity.note("alice")
        activity.close()
        assert self.read_at(reader)
