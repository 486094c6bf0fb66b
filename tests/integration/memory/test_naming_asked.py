"""When a job that names pages is requested (P6, P7)."""

from __future__ import annotations

import pytest

from memci.jobs.index import MessageIndexing
from memci.queue.job_requests import MAX_UNSETTLED
from tests.support.naming import BACKUP, ROOM, PagesUnderTest


@pytest.fixture
def pages(ada):
    return PagesUnderTest(ada)


def remember(pages: PagesUnderTest, text: str, role: str = "user", session: str = "s1") -> None:
    pages.ada.create(pages.ada.say(text, role=role, session=session))


def test_one_job_is_requested_when_an_interaction_ends(pages):
    remember(pages, "Grace likes Oslo.")
    remember(pages, "Noted.", role="assistant")
    assert pages.waiting() == 0
    remember(pages, "And Bergen?", session="another")
    assert pages.waiting() == 0
    remember(pages, "Grace likes Bergen.")
    assert pages.waiting() == 1
    remember(pages, "Grace likes rain.")
    assert pages.waiting() == 1


def test_a_long_interaction_is_put_onto_its_page_while_it_goes_on(pages):
    remember(pages, "Do it all.")
    job = pages.ada.say(*[f"Step {n} done." for n in range(120)], role="assistant")
    pages.ada.create(job)
    assert pages.waiting() == 1
    assert pages.run() == {"settled": 121, "named": 0}


def test_messages_that_are_not_to_be_remembered_get_pages_and_names(pages):
    for text in ROOM[0], BACKUP[0]:
        job = pages.ada.say(text, remember="never")
        effect = MessageIndexing(pages.ada.database, pages.ada.models, 1_000).prepare(job)
        pages.write(effect)
        pages.ada.say("Yes.", role="assistant", remember="never")
    assert pages.waiting() == 1
    assert pages.run() == {"settled": 4, "named": 1}


def idle(ada, messages):
    """Make an agent like that of a version without pages: no message is on a page, no job."""
    for number in range(0, messages, 2):
        ada.say(f"Question {number}?")
        ada.say("An answer.", role="assistant")
    ada.execute("DELETE FROM job WHERE agent_id = %s")
    ada.execute("UPDATE lane SET wake_at = NULL WHERE agent_id = %s")


@pytest.mark.parametrize(
    "read",
    [lambda pages: pages.window(), lambda pages: pages.do("get_children", index="usr-0")],
)
def test_a_read_requests_pages_once_when_very_many_messages_have_none(pages, read):
    idle(pages.ada, MAX_UNSETTLED + 2)
    read(pages)
    assert pages.waiting() == 1
    assert pages.ada.row("SELECT wake_at FROM lane WHERE agent_id = %s").wake_at is not None
    read(pages)
    assert pages.waiting() == 1
    pages.ada.execute("DELETE FROM job WHERE agent_id = %s")
    pages.most = 0  # names nothing
    assert pages.run()["settled"] == MAX_UNSETTLED + 2
    pages.ada.execute("DELETE FROM job WHERE agent_id = %s")
    read(pages)
    assert pages.waiting() == 0


def test_a_read_requests_nothing_when_few_messages_have_no_page(pages):
    idle(pages.ada, MAX_UNSETTLED)
    pages.window()
    assert pages.waiting() == 0


def test_a_read_waits_for_no_lane(pages):
    idle(pages.ada, MAX_UNSETTLED + 2)
    with pages.ada.database.lane_transaction() as connection:
        connection.exec_driver_sql("SELECT FROM lane WHERE agent_id = 'ada' FOR UPDATE")
        pages.window()
        assert pages.waiting() == 0
    pages.window()
    assert pages.waiting() == 1
