"""``memci.session.summarise``: rolling summaries of sessions (R8)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
import redis

from memci.broker.app import make_app
from memci.broker.wakeup import Wakeups
from memci.commands.tools.caller import Caller
from memci.commands.tools.memory_reads import summary_request
from memci.domain.pages.tree import Viewer
from memci.errors import FencedOffError
from memci.jobs.consolidate import utc_now
from memci.message import note_metadata
from memci.queue.summary_requests import request_summary
from memci.reading.deferred_writes import ReadActivity
from memci.schemas.tools.memory import Summarise
from memci.storage.session import Database
from memci.storage.sessions import end_session
from tests.support.erasing import Eraser, found_in_database
from tests.support.naming import PagesUnderTest
from tests.support.network import AgentUnderTest
from tests.support.rows_read import rows_read
from tests.support.summing import COUNTER, Listing, SummariesUnderTest


@pytest.fixture
def summaries(ada: AgentUnderTest) -> SummariesUnderTest:
    ada.parameters = replace(ada.parameters, summary_threshold=200)
    return SummariesUnderTest(ada, Listing())


def covered(summaries: SummariesUnderTest, session: str | None = "s1") -> list[int]:
    """The seqs in a session's summary, as ``Listing`` writes it."""
    return [int(each) for each in summaries.text(session).split()]


def test_a_summary_is_made_when_the_history_passes_the_threshold(summaries: SummariesUnderTest):
    summaries.exchange(4)
    assert (summaries.run(), summaries.read()) == ([], None)
    summaries.exchange(2)
    assert [each["summaries"] for each in summaries.run()] == [1]
    made = summaries.read()
    assert made is not None
    assert covered(summaries) == [1, 2, 3, 4]
    assert (made.from_seq, made.through_seq, made.model, made.final) == (1, 4, "offline", False)
    assert made.tokens == COUNTER.count(made.text)


@pytest.mark.parametrize("session", ["s1", None])
def test_long_latest_interactions_alone_request_no_summary(
    summaries: SummariesUnderTest, session: str | None
):
    summaries.exchange(4, "word " * 300, session=session)
    assert summaries.waiting() == []
    # The first of these four is summarised when it is no longer among the latest.
    summaries.say("And now?", session=session)
    assert len(summaries.waiting()) == 1
    summaries.run()
    assert covered(summaries, session) == [1, 2]
    summaries.say("word " * 900, role="assistant", session=session)
    assert summaries.waiting() == []


def test_each_session_has_at_most_one_queued_job(summaries: SummariesUnderTest):
    summaries.exchange(12)
    assert len(summaries.waiting()) == 1
    summaries.exchange(12, session="s2")
    summaries.exchange(12, session=None)
    assert len(summaries.waiting()) == 3
    summaries.run()
    assert [covered(summaries, each)[0] for each in ("s1", "s2", None)] == [1, 25, 49]


def test_a_summary_continues_the_previous_one_without_repetition(
    summaries: SummariesUnderTest,
):
    for _ in range(12):
        summaries.exchange(2)
        summaries.run()
    assert covered(summaries) == list(range(1, covered(summaries)[-1] + 1))
    assert covered(summaries)[-1] >= 36
    assert all(summaries.summarizer.given), "the model is never asked for nothing"


def test_pieces_cover_the_same_messages_as_the_whole(summaries: SummariesUnderTest):
    summaries.exchange(20)
    summaries.most_tokens = 100
    assert len(summaries.run()) > 5
    assert covered(summaries) == list(range(1, 33))
    whole = [each for given in summaries.summarizer.given for each in given]
    assert [each.seq for each in whole] == list(range(1, 33))
    ends = [given[-1].role for given in summaries.summarizer.given]
    assert set(ends) == {"assistant"}, "interactions are whole"


def test_a_repeated_job_changes_nothing(summaries: SummariesUnderTest):
    summaries.exchange(8)
    (job,) = summaries.waiting()
    assert summaries.run_one(job)["summaries"] == 1
    before = summaries.text()
    assert summaries.run_one(job)["summaries"] == 0
    assert summaries.text() == before
    assert summaries.run_one(summaries.job(99))["summaries"] == 0, "its message is gone"
    assert summaries.run_one(summaries.job())["summaries"] == 0


def test_a_job_that_lost_its_lease_writes_nothing(
    summaries: SummariesUnderTest, ada: AgentUnderTest
):
    summaries.exchange(8)
    (job,) = summaries.waiting()
    effect = summaries.handler.prepare(job)
    lost = ada.lease()
    ada.lease()  # another worker has it now
    with pytest.raises(FencedOffError), lost.effect() as connection:
        effect(connection)
    assert summaries.read() is None
    summaries.run()
    assert covered(summaries) == list(range(1, 9))


@pytest.mark.parametrize("most", [16, 40, 800])
def test_a_summary_is_never_longer_than_its_limit(ada: AgentUnderTest, most: int):
    ada.parameters = replace(ada.parameters, summary_threshold=200, summary_max_tokens=most)
    summaries = SummariesUnderTest(ada)
    for day in range(12):
        summaries.exchange(3, f"On day {day} we decided that Ada pays {day * 17} euros to Grace.")
        summaries.run()
        made = summaries.read()
        assert made is None or 0 < COUNTER.count(made.text) <= most
    assert summaries.read() is not None


def test_an_ended_session_gets_a_final_summary(summaries: SummariesUnderTest, ada: AgentUnderTest):
    summaries.exchange(2)
    summaries.run()
    assert summaries.read() is None
    with ada.database.agent_transaction("ada") as connection:
        end_session(connection, "ada", "s1")
    summaries.end_silent()
    summaries.run()
    made = summaries.read()
    assert made is not None
    assert (made.final, covered(summaries)) == (True, [1, 2, 3, 4])
    summaries.end_silent()
    assert summaries.waiting() == []
    summaries.exchange(1)
    made = summaries.read()
    assert made is not None
    assert (made.final, made.through_seq) == (False, 4), "it goes on"


def test_a_very_long_silence_limit_is_no_error(summaries: SummariesUnderTest, ada: AgentUnderTest):
    ada.parameters = replace(ada.parameters, session_silence_hours=1e308)
    summaries.exchange(4)
    assert ada.lane().expire_at > utc_now() + timedelta(days=300_000)
    summaries.end_silent()
    assert (summaries.run(), summaries.read()) == ([], None)
    summaries.exchange(2)
    assert [each["summaries"] for each in summaries.run()] == [1]


def test_a_session_ends_by_silence(summaries: SummariesUnderTest, ada: AgentUnderTest):
    summaries.exchange(1)
    summaries.exchange(1, session=None)
    due = ada.lane().expire_at
    assert timedelta(hours=23) < due - utc_now() <= timedelta(hours=24), "upkeep looks then"
    summaries.run()
    ada.execute("UPDATE lane SET expire_at = NULL WHERE agent_id = %s")
    summaries.end_silent()
    assert (summaries.waiting(), summaries.read()) == ([], None)
    assert due - timedelta(minutes=1) < ada.lane().expire_at <= due + timedelta(minutes=1)
    summaries.clock = lambda: datetime.now(UTC) + timedelta(hours=25)
    summaries.end_silent()
    summaries.run()
    assert covered(summaries) == [1, 2]
    assert summaries.read(None) is None, "what was said in no session does not end"


def test_summaries_can_be_disabled(summaries: SummariesUnderTest, ada: AgentUnderTest):
    ada.parameters = replace(ada.parameters, summarization_enabled=False)
    summaries.exchange(12)
    assert summaries.waiting() == []
    assert summaries.run_one(summaries.job(1, now=True))["summaries"] == 0


def test_reads_that_miss_a_summary_request_it_once_and_later(
    summaries: SummariesUnderTest, ada: AgentUnderTest
):
    summaries.exchange(5, "short")
    summaries.run()
    with closing(ReadActivity(ada.database, period_s=3_600)) as activity:
        for _ in range(3):
            activity.want_summary("ada", "s1")
        activity.want_summary("nobody", None)
        assert summaries.waiting() == [], "no read waits for it"
        activity.flush()
        assert len(summaries.waiting()) == 1
    summaries.run()
    assert covered(summaries) == [1, 2]


def test_a_reader_can_request_a_summary_below_the_threshold(
    summaries: SummariesUnderTest, ada: AgentUnderTest
):
    summaries.exchange(5, "short")
    summaries.run()
    with ada.database.lane_transaction() as holding:
        holding.exec_driver_sql("SELECT FROM lane WHERE agent_id = 'ada' FOR UPDATE")
        assert not request_summary(ada.database, "ada", "s1")
    assert request_summary(ada.database, "ada", "s1")
    assert not request_summary(ada.database, "ada", "s1"), "one waits"
    assert not request_summary(ada.database, "ada", "never")
    assert ada.lane().wake_at is not None
    summaries.run()
    assert covered(summaries) == [1, 2]


def test_notes_and_system_messages_are_not_summarised(summaries: SummariesUnderTest):
    note = note_metadata()
    summaries.say("be brief", role="system")
    summaries.exchange(1)
    summaries.say("a note", role="assistant", metadata=note)
    summaries.exchange(8)
    summaries.run()
    assert covered(summaries) == [2, 3, *range(5, 13)]


def test_each_user_gets_a_summary_of_their_own_messages(summaries: SummariesUnderTest):
    summaries.exchange(6, user="ann")
    summaries.run()
    ann, bob, new = Viewer("s1", "ann"), Viewer("s1", "bob"), Viewer("s1", is_new=True)
    assert summaries.text(viewer=ann) == summaries.text() != ""
    assert summaries.text(viewer=bob) == summaries.text(viewer=new) == ""
    for _ in range(6):
        summaries.say("word " * 20, user="bob")
        summaries.say("word " * 20, role="assistant")  # without a user: it answers bob
    summaries.exchange(6, user="ann")
    summaries.run()
    of_bob = set(range(13, 25))
    seqs = {viewer: set(map(int, summaries.text(viewer=viewer).split())) for viewer in (ann, bob)}
    assert seqs[bob] <= of_bob
    assert seqs[bob]
    assert not seqs[ann] & of_bob
    assert seqs[ann]
    assert set(covered(summaries)) == seqs[ann] | seqs[bob] | set(covered(summaries))
    assert set(covered(summaries)) & of_bob


@pytest.fixture
def eraser(database: Database, broker_url: str) -> Iterator[Eraser]:
    with closing(redis.Redis.from_url(broker_url)) as client, make_app(broker_url) as app:
        yield Eraser(database, Wakeups(app), client)


def test_an_erasure_erases_the_summary_and_requests_a_new_one(
    ada: AgentUnderTest, eraser: Eraser, superuser: psycopg.Connection
):
    ada.parameters = replace(ada.parameters, summary_threshold=200)
    summaries = SummariesUnderTest(ada)
    summaries.exchange(1, "We decided that the zebra pays nine euros.")
    summaries.exchange(7, "The harbour of Bergen has opened its new fish market at seven.")
    summaries.exchange(8, "Another session speaks of other things than this.", session="s2")
    summaries.run()
    other = summaries.text("s2")
    assert "zebra" in summaries.text()
    eraser.erase("m1", "m2")
    assert (summaries.read(), summaries.text("s2")) == (None, other)
    assert found_in_database(superuser, "zebra") == []
    summaries.run()
    assert "Bergen" in summaries.text()
    assert "zebra" not in summaries.text()
    through = summaries.read()
    assert through is not None
    eraser.erase(f"m{through.through_seq + 1}")
    assert summaries.read() is not None, "of that it does not tell"
    eraser.erase(session="s2")
    assert ada.rows("SELECT FROM summary WHERE agent_id = %s AND session_id = 's2'") == []
    assert summaries.waiting() == []
    eraser.erase_agent()
    assert ada.rows("SELECT FROM summary WHERE agent_id = %s") == []


def test_the_tool_continues_the_stored_summary(summaries: SummariesUnderTest):
    summaries.exchange(8)
    summaries.run()
    commands = PagesUnderTest(summaries.ada).commands()
    wanted = summary_request(commands, Caller("ada", "s1", None), Summarise()).request
    made = summaries.read()
    assert made is not None
    assert (wanted.previous, sorted(wanted.seqs)) == (made.text, list(range(9, 17)))
    without_session = summary_request(commands, Caller("ada", None, None), Summarise()).request
    assert (without_session.previous, len(without_session.seqs)) == ("", 16)


@pytest.mark.parametrize("session", ["s1", None])
def test_a_request_reads_few_messages_of_an_endless_interaction(
    summaries: SummariesUnderTest, ada: AgentUnderTest, session: str | None
):
    summaries.say(*["hello"] * 3, session=session)
    ada.say(*["result"] * 2_000, role="tool", session=session)
    read = rows_read(ada.database, "message")
    for _ in range(3):
        summaries.say("word " * 20, role="assistant", session=session)
    assert max(read) < 300
    assert summaries.waiting() == []
    # Two user messages later the first one is not among the latest four.
    summaries.say("Go on.", "And on.", session=session)
    assert len(summaries.waiting()) == 1
    summaries.run()
    assert covered(summaries, session) == [1]


def test_a_long_last_interaction_requests_a_summary_of_the_earlier_ones(
    summaries: SummariesUnderTest,
):
    summaries.say(*["a?"] * 5)
    assert summaries.waiting() == []
    for _ in range(60):
        summaries.say("b", role="assistant")
    assert len(summaries.waiting()) == 1
