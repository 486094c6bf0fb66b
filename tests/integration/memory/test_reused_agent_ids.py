"""M25: what an erased agent's id is used for again is another life, and knows of none before."""

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
from memci.schemas.tool_table import BY_NAME
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
    """As producers do."""
    with ada.database.agent_transaction("ada") as connection:
        said = [NewMessage(Role.USER, text, id=message_id)]
        append_in(connection, Append("ada", said, session_id="s1", skip_erased=skip_erased))


def prompt(pages: Folders, text: str) -> Any:
    tool = BY_NAME["create_detail_page"]
    request = tool.request(name="Prompt", detail=text, parent="sys-0")
    (done,) = pages.commands.run("ada", Actor.DEVELOPER, [ToolRequest(tool, request)])
    return done


def live(ada: AgentUnderTest, pages: Folders, message_id: str) -> None:
    """A life that says the mark wherever it can."""
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


def is_there(ada: AgentUnderTest) -> bool:
    try:
        Listings(ada.database).agent("ada")
    except NotFoundError:
        return False
    return True


def test_a_life_of_which_all_that_was_said_is_erased_still_has_its_pages(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser, superuser: psycopg.Connection
) -> None:
    live(ada, pages, "m1")
    eraser.erase_agent()
    live(ada, pages, "m2")
    eraser.erase("m2")
    assert is_there(ada)
    assert f"{MARK} is kind." in pages.window()
    receipt = eraser.erase_agent()
    assert receipt.body["rows"].keys() >= {"page", "page_text", "page_step", "page_tree", "pin"}
    assert rows_left(ada) == []
    assert found_in_database(superuser, MARK) == []
    assert not is_there(ada)
    with pytest.raises(NotFoundError):
        eraser.erase_agent()
    say(ada, "m3", "Who is there?")
    window = pages.window()
    assert "[usr-1] Who is there?" in window
    assert MARK not in window
    assert pages.windows.pins("ada").pins == []
    with pytest.raises(RefusedError, match="nothing to undo"):
        pages.undo()


def test_a_page_begins_another_life_as_a_message_does(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    say(ada, "m1", "Hello")
    eraser.erase_agent()
    with pytest.raises(NotFoundError):
        pages.do("hide_details", index="usr-1")
    assert not is_there(ada), "what begins nothing begins no life"
    assert prompt(pages, "Be kind.").new_agent
    assert is_there(ada)
    assert not prompt(pages, "Be brief.").new_agent
    receipt = eraser.erase_agent()
    assert receipt.body["pages"] == 2
    assert rows_left(ada) == []
    assert not is_there(ada)


def test_a_page_beside_what_is_remembered_begins_another_life_too(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser, broker_url: str
) -> None:
    say(ada, "m1", "Hello")
    eraser.erase_agent()
    note = BY_NAME["create_detail_page"]
    remember = BY_NAME["remember"]
    asked = [
        ToolRequest(note, note.request(name="Note", detail="Of a new life.", parent="usr-0")),
        ToolRequest(remember, remember.request(text="The user likes boats.")),
    ]
    with tools_over(pages.commands, broker_url) as tools:
        tools.run_all("ada", Actor.AGENT, asked)
    assert is_there(ada)
    assert "Note" in pages.window()


def test_an_id_that_only_a_worker_has_looked_at_keeps_its_first_page(
    ada: AgentUnderTest, pages: Folders
) -> None:
    """A claim makes the lane, and freeing it takes it away again, unless an agent has begun."""
    looked = AgentUnderTest(ada.database)
    assert prompt(pages, "Be kind.").new_agent
    assert looked.row("SELECT written_at FROM lane WHERE agent_id = %s").written_at is not None


def test_requests_of_erased_messages_alone_begin_no_life(
    ada: AgentUnderTest, eraser: Eraser
) -> None:
    say(ada, "m1", "Hello")
    eraser.erase_agent()
    say(ada, "m1", "Hello", skip_erased=True)
    assert not is_there(ada)
    with pytest.raises(ErasedError):
        say(ada, "m1", "Hello")
    say(ada, "m2", "Hello")
    assert is_there(ada)
    eraser.erase("m2")
    assert is_there(ada), "as in a first life: it is there until it is erased itself"


@pytest.mark.parametrize("lane", [True, False])
def test_what_is_left_of_one_that_is_there_no_more_goes_as_well(
    ada: AgentUnderTest,
    pages: Folders,
    eraser: Eraser,
    superuser: psycopg.Connection,
    lane: bool,
) -> None:
    live(ada, pages, "m1")
    # As after a restore of single tables.
    ada.execute("DELETE FROM message WHERE agent_id = %s")
    ada.execute(
        "UPDATE lane SET epoch = 1, erased_messages = message_seq, written_at = NULL"
        " WHERE agent_id = %s"
        if lane
        else "DELETE FROM lane WHERE agent_id = %s"
    )
    assert not is_there(ada)
    assert eraser.erase_agent().body["rows"]["page"] > 0
    assert rows_left(ada) == []
    assert found_in_database(superuser, MARK) == []
    assert not is_there(ada)
    with pytest.raises(NotFoundError):
        eraser.erase_agent()


def test_what_was_only_set_or_asked_beforehand_is_no_agent(
    ada: AgentUnderTest, eraser: Eraser
) -> None:
    ada.execute("INSERT INTO agent_setting (agent_id, parameters) VALUES (%s, '{}')")
    ada.execute(
        "INSERT INTO receipt (agent_id, id, kind, body)"
        " VALUES (%s, gen_random_uuid(), 'context', '{}')"
    )
    with pytest.raises(NotFoundError):
        eraser.erase_agent()
    assert rows_left(ada) == ["agent_setting", "receipt"]
    assert ada.rows("SELECT FROM lane WHERE agent_id = %s") == []
