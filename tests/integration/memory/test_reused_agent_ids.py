"""M25: an agent with the id of an erased agent has none of its data."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from memci.commands.pages.perform import ToolRequest
from memci.domain.pages.permission import Actor
from memci.errors import ErasedError, NotFoundError, RefusedError
from memci.message import NewMessage, Role
from memci.queue.intake import Append, append_in
from memci.reading.lists.listings import Listings
from memci.schemas.tools.table import BY_NAME
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.schema import AGENT_TABLES
from memci.storage.session import Database
from tests.support.erasing import Eraser, found_in_database
from tests.support.network import AgentUnderTest
from tests.support.page_folders import Folders
from tests.support.tools import tools_over

MARK = "Zyzzyva"


@pytest.fixture
def ada(database: Database) -> AgentUnderTest:
    return AgentUnderTest(database, known=True)


@pytest.fixture
def pages(ada: AgentUnderTest) -> Folders:
    return Folders(ada.database, PostgresPageStore(ada.database))


def say(ada: AgentUnderTest, message_id: str, text: str, *, skip_erased: bool = False) -> None:
    """Append a message as producers do."""
    with ada.database.agent_transaction("ada") as connection:
        messages = [NewMessage(Role.USER, text, id=message_id)]
        append_in(connection, Append("ada", messages, session_id="s1", skip_erased=skip_erased))


def prompt(pages: Folders, text: str) -> Any:
    tool = BY_NAME["create_detail_page"]
    request = tool.request(name="Prompt", detail=text, parent="sys-0")
    (done,) = pages.commands.run("ada", Actor.DEVELOPER, [ToolRequest(tool, request)])
    return done


def store_marks(ada: AgentUnderTest, pages: Folders, message_id: str) -> None:
    """Store the mark in a prompt, a message, a page name, a note and a pin."""
    assert prompt(pages, f"Be kind to {MARK}.").new_agent
    say(ada, message_id, f"I am {MARK}.")
    pages.do("update_page", index="usr-1", name=f"Who {MARK} is")
    pages.do("expand_details", index=pages.note(f"On {MARK}", f"{MARK} is kind."))
    pages.pin(f"{MARK} likes boats")


def rows_left(ada: AgentUnderTest) -> list[str]:
    return [
        table.name
        for table in AGENT_TABLES
        if ada.rows(
            f"SELECT FROM {table.name} WHERE agent_id = %s"
            f" AND NOT ({table.info.get('outlives', 'false')})"
        )
    ]


def exists(ada: AgentUnderTest) -> bool:
    try:
        Listings(ada.database).agent("ada")
    except NotFoundError:
        return False
    return True


def test_an_agent_whose_messages_are_all_erased_still_has_its_pages(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser, superuser: psycopg.Connection
) -> None:
    store_marks(ada, pages, "m1")
    eraser.erase_agent()
    store_marks(ada, pages, "m2")
    eraser.erase("m2")
    assert exists(ada)
    assert f"{MARK} is kind." in pages.window()
    receipt = eraser.erase_agent()
    assert receipt.body["rows"].keys() >= {"page", "page_text", "page_step", "page_tree", "pin"}
    assert rows_left(ada) == []
    assert found_in_database(superuser, MARK) == []
    assert not exists(ada)
    with pytest.raises(NotFoundError):
        eraser.erase_agent()
    say(ada, "m3", "Who is there?")
    window = pages.window()
    assert "[usr-1] Who is there?" in window
    assert MARK not in window
    assert pages.windows.pins("ada").pins == []
    with pytest.raises(RefusedError, match="nothing to undo"):
        pages.undo()


def test_a_page_begins_the_next_life_like_a_message(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    say(ada, "m1", "Hello")
    eraser.erase_agent()
    with pytest.raises(NotFoundError):
        pages.do("hide_details", index="usr-1")
    assert not exists(ada), "what begins nothing begins no life"
    assert prompt(pages, "Be kind.").new_agent
    assert exists(ada)
    assert not prompt(pages, "Be brief.").new_agent
    receipt = eraser.erase_agent()
    assert receipt.body["pages"] == 2
    assert rows_left(ada) == []
    assert not exists(ada)


def test_a_page_created_with_a_memory_begins_the_next_life(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser, broker_url: str
) -> None:
    say(ada, "m1", "Hello")
    eraser.erase_agent()
    note = BY_NAME["create_detail_page"]
    remember = BY_NAME["remember"]
    requests = [
        ToolRequest(note, note.request(name="Note", detail="Of a new life.", parent="usr-0")),
        ToolRequest(remember, remember.request(text="The user likes boats.")),
    ]
    with tools_over(pages.commands, broker_url) as tools:
        tools.run_all("ada", Actor.AGENT, requests)
    assert exists(ada)
    assert "Note" in pages.window()


def test_a_lane_that_only_a_claim_created_keeps_the_first_page(
    ada: AgentUnderTest, pages: Folders
) -> None:
    """A claim creates the lane; freeing deletes it unless the agent has begun."""
    claimed = AgentUnderTest(ada.database)
    assert prompt(pages, "Be kind.").new_agent
    assert claimed.row("SELECT written_at FROM lane WHERE agent_id = %s").written_at is not None


def test_an_append_of_only_erased_messages_begins_no_agent(
    ada: AgentUnderTest, eraser: Eraser
) -> None:
    say(ada, "m1", "Hello")
    eraser.erase_agent()
    say(ada, "m1", "Hello", skip_erased=True)
    assert not exists(ada)
    with pytest.raises(ErasedError):
        say(ada, "m1", "Hello")
    say(ada, "m2", "Hello")
    assert exists(ada)
    eraser.erase("m2")
    assert exists(ada), "as in a first life: it is there until it is erased itself"


@pytest.mark.parametrize("lane", [True, False])
def test_remaining_rows_of_a_missing_agent_are_erased(
    ada: AgentUnderTest,
    pages: Folders,
    eraser: Eraser,
    superuser: psycopg.Connection,
    lane: bool,
) -> None:
    store_marks(ada, pages, "m1")
    # The state after a restore of single tables.
    ada.execute("DELETE FROM message WHERE agent_id = %s")
    ada.execute(
        "UPDATE lane SET epoch = 1, erased_messages = message_seq, written_at = NULL"
        " WHERE agent_id = %s"
        if lane
        else "DELETE FROM lane WHERE agent_id = %s"
    )
    assert not exists(ada)
    assert eraser.erase_agent().body["rows"]["page"] > 0
    assert rows_left(ada) == []
    assert found_in_database(superuser, MARK) == []
    assert not exists(ada)
    with pytest.raises(NotFoundError):
        eraser.erase_agent()


def test_settings_and_receipts_alone_are_no_agent(ada: AgentUnderTest, eraser: Eraser) -> None:
    ada.execute("INSERT INTO agent_setting (agent_id, parameters) VALUES (%s, '{}')")
    ada.execute(
        "INSERT INTO receipt (agent_id, id, kind, body)"
        " VALUES (%s, gen_random_uuid(), 'context', '{}')"
    )
    with pytest.raises(NotFoundError):
        eraser.erase_agent()
    assert rows_left(ada) == ["agent_setting", "receipt"]
    assert ada.rows("SELECT FROM lane WHERE agent_id = %s") == []
