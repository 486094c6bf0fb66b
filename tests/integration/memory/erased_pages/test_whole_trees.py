"""M25 of pages: no erased text is left, also after store failures and concurrent changes."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from memci.errors import NotFoundError, PageStoreError, RefusedError
from memci.storage.page_store.local import MemoryPageStore
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.pages.tree import lock_tree
from memci.testing import wait_until
from tests.support.erasing import MARK, Eraser, found_in_database
from tests.support.locks import waiting_for_locks
from tests.support.network import AgentUnderTest
from tests.support.page_folders import Folders, page
from tests.support.servers import open_database


@pytest.mark.parametrize("what", ["messages", "session", "agent"])
def test_erased_text_is_in_no_table_and_in_no_page_store(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser, superuser: psycopg.Connection, what: str
) -> None:
    ada.say(f"{MARK} is my name.", session="s2")
    ada.say(f"Be kind to {MARK}.", role="system", session="s2")
    ada.say(f"Hello {MARK}.", role="assistant", session="s2")
    pages.do("update_page", index="usr-4", name=f"Who {MARK} is", description=f"{MARK}!")
    note = pages.note(f"On {MARK}", f"{MARK} is kind.")
    folder = pages.do("create_contents_page", name=f"All of {MARK}", parent="usr-0")
    pages.pin(f"{MARK} likes boats")
    tables = {place.split(".")[0] for place in found_in_database(superuser, MARK)}
    assert tables >= {"message", "page", "page_step", "pin"}
    if what == "agent":
        eraser.erase_agent()
    elif what == "session":
        eraser.erase(session="s2")
        eraser.erase(pages=[note, folder], pins=[1])
    else:
        eraser.erase("m7", "m8", "m9", pages=[note, folder], pins=[1])
    assert found_in_database(superuser, MARK) == []
    assert list(pages.commands.store.list("ada")) == []


def test_an_erased_agent_starts_with_no_pages_and_with_new_text_versions(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser, store: PageStore
) -> None:
    first = pages.note("Mine", "of the first life")
    (old,) = store.list("ada")
    receipt = eraser.erase_agent()
    assert receipt.body["pages"] == 4
    assert list(store.list("ada")) == []
    with pytest.raises(NotFoundError):
        pages.window()
    with pytest.raises(NotFoundError):
        pages.do("hide_details", index="usr-1")
    ada.say("Who is there?")
    assert "[usr-1] Who is there?" in pages.window()
    with pytest.raises(RefusedError, match="nothing to undo"):
        pages.undo()
    for _ in range(3):
        pages.note("Mine", "of the second life")
    assert page(ada, first).text_version != old.version, (
        "what is cached of it is not taken for the new"
    )
    pages.do("expand_details", index=first)
    assert "of the second life" in pages.window()


class FailingPageStore(MemoryPageStore):
    """A store that fails to delete until ``answers`` is true."""

    answers = False

    def delete_many(self, keys: Sequence[TextKey]) -> None:
        if not self.answers:
            raise PageStoreError
        super().delete_many(keys)


@pytest.mark.parametrize("store", ["postgres"], indirect=True)
def test_an_erasure_can_be_repeated_after_a_failure(ada: AgentUnderTest, eraser: Eraser) -> None:
    failing = FailingPageStore()
    eraser.texts = failing
    pages = Folders(ada.database, failing)
    note, other = pages.note("One", "of two"), pages.note("Two", "of two")
    with pytest.raises(PageStoreError, match="erase the same again"):
        eraser.erase(pages=[note])
    assert page(ada, note) is None
    assert len(list(failing.list("ada"))) == 2
    failing.answers = True
    eraser.erase(pages=[note])
    assert [key.page for key in failing.list("ada")] == [other]
    failing.answers = False
    with pytest.raises(PageStoreError, match="the agent is erased"):
        eraser.erase_agent()
    # The next life of the agent erases only its own texts.
    ada.say("Who is there?")
    third = pages.note("Three", "of another life")
    failing.answers = True
    eraser.erase(pages=[third])
    assert [key.page for key in failing.list("ada")] == [other]
    eraser.erase_agent()
    assert list(failing.list("ada")) == []


@pytest.mark.parametrize("store", ["postgres"], indirect=True)
def test_texts_left_by_a_failed_erasure_go_when_the_agent_is_erased_again(
    ada: AgentUnderTest, eraser: Eraser
) -> None:
    failing = FailingPageStore()
    eraser.texts = failing
    Folders(ada.database, failing).note("One", "of one")
    with pytest.raises(PageStoreError):
        eraser.erase_agent()
    with pytest.raises(PageStoreError):
        eraser.erase_agent()
    failing.answers = True
    assert eraser.erase_agent().body["texts"] == 1
    assert list(failing.list("ada")) == []
    with pytest.raises(NotFoundError):
        eraser.erase_agent()


@pytest.mark.parametrize("store", ["postgres"], indirect=True)
@pytest.mark.parametrize("whole", [False, True])
def test_a_page_change_during_an_erasure_waits_for_it(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser, database_url: str, whole: bool
) -> None:
    pages.do("update_page", index="usr-1", name=f"{MARK}")
    with open_database(database_url) as watching, ThreadPoolExecutor(2) as pool:
        with ada.database.agent_transaction("ada") as connection:
            lock_tree(connection, "ada")
            erasing = pool.submit(eraser.erase_agent if whole else lambda: eraser.erase("m1", "m2"))
            wait_until(lambda: waiting_for_locks(watching) == 1, "it waits for the tree")
            changing = pool.submit(pages.note, "Late", "Too late?")
            wait_until(lambda: waiting_for_locks(watching) == 2, "and so does the agent")
        erasing.result(20)
        if whole:
            with pytest.raises(NotFoundError):
                changing.result(20)
            assert ada.rows("SELECT FROM page WHERE agent_id = %s") == []
        else:
            changing.result(20)
            assert page(ada, "usr-1") is None
