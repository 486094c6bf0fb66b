"""An agent can be moved after any change of its pages (P6, R20)."""

from __future__ import annotations

from typing import Any

import pytest

from memci.commands import erase
from memci.commands.erase import ErasureSelection
from memci.commands.tools.tools import parse_tool_request
from memci.domain.pages.page import DEFAULT_SEGMENTS, LONGEST_NAME, MAX_DEPTH, MOST_SEGMENTS
from memci.domain.pages.permission import Actor
from memci.errors import RefusedError
from memci.message import note_metadata
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.session import Database
from tests.support.archives import RecordedWakeups, export_agent, import_agent
from tests.support.naming import PagesUnderTest
from tests.support.network import AgentUnderTest
from tests.support.page_folders import Folders

DEVELOPER = Actor.DEVELOPER


@pytest.fixture
def ada(database: Database) -> AgentUnderTest:
    """A new agent."""
    ada = AgentUnderTest(database)
    ada.execute("UPDATE lane SET written_at = now() WHERE agent_id = %s")
    return ada


def note(ada: AgentUnderTest, text: str, session: str = "s1") -> None:
    ada.say(text, role="assistant", session=session, metadata=note_metadata(None), remember="never")


def talk(ada: AgentUnderTest, session: str = "s1") -> None:
    ada.say("A question?", session=session, remember="never")
    ada.say("An answer.", role="assistant", session=session, remember="never")


def settle(ada: AgentUnderTest) -> Folders:
    folders = Folders(ada.database, PostgresPageStore(ada.database))
    folders.note("A plan", "Count ships")
    return folders


def forget(ada: AgentUnderTest, *ids: str) -> None:
    wakeups: Any = RecordedWakeups()
    erase.run(ada.database, PostgresPageStore(ada.database), wakeups, "ada", ErasureSelection(ids))


def check_moves(ada: AgentUnderTest, elsewhere: Database) -> None:
    import_agent(elsewhere, export_agent(ada.database))
    here, there = (Folders(each, PostgresPageStore(each)) for each in (ada.database, elsewhere))
    for session in ("s1", "s2"):
        assert there.shown(session) == here.shown(session)


def test_an_agent_with_a_note_in_a_session_without_messages_can_be_moved(ada, elsewhere):
    talk(ada)
    note(ada, "Ships leave at nine", session="s2")
    settle(ada)
    check_moves(ada, elsewhere)


def test_an_agent_with_a_note_whose_messages_were_erased_can_be_moved(ada, elsewhere):
    talk(ada)
    note(ada, "Ships leave at nine")
    settle(ada)
    forget(ada, "m1", "m2")
    check_moves(ada, elsewhere)


def test_an_agent_that_lost_the_first_of_two_notes_can_be_moved(ada, elsewhere):
    talk(ada)
    note(ada, "Ships leave at nine")
    note(ada, "Ships come at ten")
    settle(ada)
    forget(ada, "m3")
    (page,) = ada.rows("SELECT last_seq FROM page WHERE agent_id = %s AND number = 1")
    assert page.last_seq == 4, "the page still ends with the note that stays"
    check_moves(ada, elsewhere)
    forget(ada, "m4")
    (page,) = ada.rows("SELECT last_seq FROM page WHERE agent_id = %s AND number = 1")
    assert page.last_seq == 2


def test_an_agent_with_the_most_segments_can_be_moved(ada, elsewhere):
    talk(ada)
    folders = settle(ada)

    def make(*ids: str) -> None:
        requests = [
            parse_tool_request("create_segment", {"id": each, "name": each}, DEVELOPER)
            for each in ids
        ]
        folders.commands.run("ada", DEVELOPER, requests)

    make(*(f"part{number}" for number in range(MOST_SEGMENTS - len(DEFAULT_SEGMENTS))))
    with pytest.raises(RefusedError, match="at most 100 segments"):
        make("more")
    check_moves(ada, elsewhere)


def test_an_agent_with_folders_of_maximum_depth_can_be_moved(ada, elsewhere):
    talk(ada)
    folders = settle(ada)
    folder = "usr-0"
    with pytest.raises(RefusedError, match="too deep"):
        for _ in range(MAX_DEPTH):
            folder = folders.do("create_contents_page", name="Inner", parent=folder)
    check_moves(ada, elsewhere)


def test_an_agent_with_messages_of_one_repeated_sign_can_be_moved(ada, elsewhere):
    """64 of these signs are one token."""
    for sign in "-=*":
        ada.say(sign * 300, remember="never")
        ada.say(sign * 300, role="assistant", remember="never")
    named = PagesUnderTest(ada)
    named.run()
    assert [page.named for page in named.pages()] == [True, True, False]
    assert all(len(page.name) <= LONGEST_NAME for page in named.pages())
    check_moves(ada, elsewhere)
