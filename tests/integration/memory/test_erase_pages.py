"""M25 of pages: what goes with messages, what an agent has written, and whole trees."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
from sqlalchemy import event

from memci.broker.app import make_app
from memci.broker.token import Tokens
from memci.commands import erase
from memci.commands.erase_pages import find_pages, shown_pages
from memci.commands.erase_which import Which
from memci.commands.erase_words import Words
from memci.domain.memory.note import note_metadata
from memci.errors import NotFoundError, PageStoreError, RefusedError
from memci.smallmodel.offline.lexicon import OfflineLexicon
from memci.storage.page_lock import lock_tree
from memci.storage.page_store.cached import CachedPageStore, TextCache
from memci.storage.page_store.files import FilePageStore
from memci.storage.page_store.memory import MemoryPageStore
from memci.storage.page_store.port import BodyKey, PageStore
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.session import Database
from memci.testing import open_database, wait_until
from tests.support.erasing import Eraser, found_in_database
from tests.support.locks import waiting_for_locks
from tests.support.network import AgentUnderTest
from tests.support.page_folders import Folders

MARK = "Zyzzyva"


@pytest.fixture(params=["postgres", "files"])
def store(request: pytest.FixtureRequest, database: Database, tmp_path: Path) -> PageStore:
    return PostgresPageStore(database) if request.param == "postgres" else FilePageStore(tmp_path)


@pytest.fixture
def eraser(
    database: Database, store: PageStore, broker_url: str, client: redis.Redis
) -> Iterator[Eraser]:
    with make_app(broker_url) as app:
        yield Eraser(database, Tokens(app), client, texts=store)


@pytest.fixture
def ada(database: Database) -> AgentUnderTest:
    ada = AgentUnderTest(database)
    for number in range(3):
        ada.say(f"Question {number}?")
        ada.say(f"Answer {number}.", role="assistant")
    ada.execute("UPDATE lane SET written_at = now() WHERE agent_id = %s")
    return ada


@pytest.fixture
def pages(ada: AgentUnderTest, store: PageStore) -> Folders:
    return Folders(ada.database, store)


def page(ada: AgentUnderTest, index: str) -> Any:
    found = ada.rows("SELECT * FROM page WHERE agent_id = %s AND id = %s", index)
    return found[0] if found else None


def test_a_page_whose_messages_are_all_gone_goes(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    pages.do("hide_details", index="usr-2")
    assert eraser.preview("m3", "m4").pages == 1
    receipt = eraser.erase("m3", "m4")
    assert receipt.body["pages"] == 1
    assert receipt.body["rows"]["page"] == 1
    assert page(ada, "usr-2") is None
    assert "usr-2" not in pages.window()
    with pytest.raises(NotFoundError):
        pages.do("expand_details", index="usr-2")
    ada.say("Something new?")
    assert "[usr-4] Something new?" in pages.window(), "no index comes back"


def test_a_page_that_keeps_a_message_stands_in_for_it(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    pages.do("update_page", index="usr-1", name="About zero", description="Question 0, answered")
    assert page(ada, "usr-1").named
    receipt = eraser.erase("m1")
    row = page(ada, "usr-1")
    assert (row.name, row.description, row.named) == ("Answer 0.", "", False)
    assert (row.entries, row.first_seq, row.last_seq) == (["assistant: Answer 0."], 2, 2)
    assert receipt.body["pages"] == 1
    assert "page" not in receipt.body["rows"]
    assert page(ada, "usr-2").name == "Question 1?"


def test_a_page_of_which_only_a_note_of_the_agents_stays_goes(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    ada.say("Question 3?")
    ada.say("The user asks much.", role="assistant", metadata=note_metadata())
    ada.say("Answer 3.", role="assistant")
    pages.do("hide_details", index="usr-3")
    eraser.erase("m7")
    assert page(ada, "usr-4").name == "Answer 3."
    assert page(ada, "usr-4").entries == ["assistant: Answer 3."]
    eraser.erase("m9")
    assert page(ada, "usr-4") is None


def test_a_hidden_page_says_what_is_left_of_it_takes(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    ada.say("Question 3?")
    ada.say("word " * 900, "word " * 300, role="assistant")
    ada.say("Question 4?")
    pages.do("hide_details", index="usr-4")
    assert "[usr-4] Question 3? (page, hidden, can be expanded, about 1,200 tokens)" in (
        pages.window()
    )
    eraser.erase("m8")
    assert "[usr-4] Question 3? (page, hidden, can be expanded, about 310 tokens)" in (
        pages.window()
    )
    eraser.erase("m9")
    assert "[usr-4] Question 3? (page, hidden, can be expanded)" in pages.window()


def test_only_the_page_that_showed_it_is_touched(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    """System messages and those of other sessions lie between, on pages of their own."""
    ada.say("One?", session="s2")
    ada.say("Be kind.", role="system", session="s2")
    ada.say("Three?", session=None)
    ada.say("Two.", role="assistant", session="s2")
    ada.say("Four.", role="assistant", session=None)
    pages.rename("usr-4", "Of the second")
    pages.rename("usr-5", "Of none")
    eraser.erase("m8")
    assert page(ada, "sys-1") is None
    assert page(ada, "usr-4").name == "Of the second"
    eraser.erase("m9")
    assert page(ada, "usr-5").name == "Four."
    assert page(ada, "usr-4").name == "Of the second"
    eraser.erase(session="s2")
    assert page(ada, "usr-4") is None
    assert page(ada, "usr-5").name == "Four."


def test_steps_that_would_bring_it_back_go_and_others_stay(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    before = pages.window()
    pages.do("hide_details", index="usr-2")
    pages.do("update_page", index="usr-1", name="Secret")
    eraser.erase("m2")
    assert ada.rows("SELECT number FROM page_step WHERE agent_id = %s")[0].number == 1
    undone = pages.undo()
    assert undone.operations == ["hide_details"]
    assert "Answer 1." in pages.window()
    assert "Secret" not in pages.window()
    assert before != pages.window()
    with pytest.raises(RefusedError, match="nothing to undo"):
        pages.undo()
    assert pages.redo().operations == ["hide_details"]


def test_what_is_on_no_page_yet_is_simply_gone(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    eraser.erase("m3", "m4")
    assert "Question 1?" not in pages.window()
    pages.do("hide_details", index="usr-1")
    assert "[usr-2] Question 2?" in pages.window()


def test_what_goes_takes_its_index_with_it_though_it_is_on_no_page_yet(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    pages.do("hide_details", index="usr-1")
    ada.say(f"{MARK}?", session="s2")
    ada.say("Something else?", session="s3")
    assert "[usr-5] Something else?" in pages.window()
    erase.run(
        eraser.database,
        eraser.store,
        eraser.tokens,
        "ada",
        Which(("m7",)),
        settle=pages.commands.settle_in,
    )
    assert page(ada, "usr-4") is None
    assert "[usr-5] Something else?" in pages.window()
    ada.say("More?", session="s4")
    assert "[usr-6] More?" in pages.window()


def test_a_note_goes_with_its_text_and_a_folder_loses_its_words(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser, store: PageStore
) -> None:
    folder = pages.do("create_contents_page", name="Plans of Eve", parent="usr-0")
    note = pages.note("What Eve wants", "Eve wants a boat.", folder)
    other = pages.note("Boats", "There are many.", folder)
    found = eraser.preview(pages=[folder, note])
    assert [(each.index, each.goes) for each in found.own_words] == [(folder, False), (note, True)]
    assert (found.pages, found.page_indexes) == (2, [folder, note])
    assert page(ada, note) is not None

    receipt = eraser.erase(pages=[folder, note])

    assert receipt.body["page_indexes"] == [folder, note]
    assert receipt.body["pages"] == 2
    assert page(ada, note) is None
    assert (page(ada, folder).name, page(ada, folder).description) == ("…", "")
    assert page(ada, other).parent == folder, "what lies in it stays there"
    assert [key.page for key in store.list("ada")] == [other]
    assert ada.rows("SELECT number FROM page_step WHERE agent_id = %s AND changes::text LIKE"
                    " %s", f"%{note}%") == []  # fmt: skip
    # As messages that were erased before.
    assert eraser.preview(pages=[folder, note]).pages == 0
    assert eraser.erase(pages=[folder, note]).body["pages"] == 0
    with pytest.raises(NotFoundError, match="never was a page usr-99"):
        eraser.erase(pages=["usr-99"])


def test_a_page_that_goes_with_all_its_messages_is_not_said_to_stay(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    for index in ("usr-1", "usr-2"):
        pages.do("update_page", index=index, name="Eve's affair")
    whole = [row.id for row in ada.rows("SELECT id FROM message WHERE agent_id = %s ORDER BY seq")]
    found = eraser.preview(*whole[:3], pages=["usr-1", "usr-2"])
    assert [(each.index, each.goes) for each in found.own_words] == [
        ("usr-1", True),
        ("usr-2", False),
    ]
    eraser.erase(*whole[:3], pages=["usr-1", "usr-2"])
    assert page(ada, "usr-1") is None
    assert page(ada, "usr-2").name == "Answer 1."


def test_a_page_that_was_removed_goes_as_well(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser, store: PageStore
) -> None:
    note = pages.note("What Eve wants", "Eve wants a boat.")
    pages.do("remove_page", index=note)
    eraser.erase(pages=[note])
    assert page(ada, note) is None
    assert list(store.list("ada")) == []


def test_a_name_that_an_agent_gave_goes_and_the_messages_stay(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    pages.do("update_page", index="usr-1", name="Eve's affair", description="About Eve")
    eraser.erase(pages=["usr-1"])
    row = page(ada, "usr-1")
    assert (row.name, row.description, row.named) == ("Question 0?", "", False)
    assert row.entries == ["user: Question 0?", "assistant: Answer 0."]
    assert "Answer 0." in pages.window()


def test_words_find_what_an_agent_wrote(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser, store: PageStore
) -> None:
    def found(query: str, most: int = 20) -> list[str]:
        words = Words.of(query, OfflineLexicon())
        return find_pages(ada.database, store, "ada", words, most=most).indexes

    in_body = pages.note("A lesson", "The reactors were shut down.")
    in_name = pages.do(
        "create_contents_page", name="Reactor", description="闭门会议", parent="usr-0"
    )
    removed = pages.note("Old", "the reactor again")
    pages.do("remove_page", index=removed)
    assert sorted(found("reactor")) == sorted([in_body, in_name, removed])
    assert len(found("reactor", most=2)) == 2
    assert found("reactor shut") == [in_body]
    assert found("会议") == [in_name]
    assert found("submarine") == []
    assert found("question") == [], "a name that stands in for messages is theirs"
    pages.do("update_page", index="usr-1", name="The reactor's question")
    assert "usr-1" in found("reactor")
    with pytest.raises(NotFoundError):
        find_pages(ada.database, store, "nobody", Words.of("x", OfflineLexicon()), most=1)


@pytest.mark.parametrize("store", ["postgres"], indirect=True)
def test_many_notes_are_looked_at_in_few_statements(
    ada: AgentUnderTest, pages: Folders, store: PageStore
) -> None:
    made = [pages.note(f"Note {number}", f"About {number} boats.") for number in range(30)]
    counted: list[str] = []
    event.listen(
        ada.database.engine, "before_cursor_execute", lambda *told: counted.append(told[2])
    )
    words = Words.of("boats", OfflineLexicon())
    assert find_pages(ada.database, store, "ada", words, most=200).indexes == made[::-1]
    found = len(counted)
    shown = shown_pages(ada.database, store, "ada", made[:2], words)
    assert [each.index for each in shown] == made[:2]
    assert found < len(made) / 2
    assert len(counted) - found <= found
    store.delete(next(iter(store.list("ada"))))
    assert len(find_pages(ada.database, store, "ada", words, most=200).indexes) == 29


def test_of_a_far_store_the_newest_texts_are_looked_at_and_the_others_counted(
    ada: AgentUnderTest, pages: Folders, store: PageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memci.commands.erase_pages._MOST_READ", 2)
    named = pages.note("Boats", "Of the oldest.")
    made = [pages.note(f"Note {number}", "About boats.") for number in range(4)][::-1]
    far = CachedPageStore(store, TextCache(0), far=True)

    def found(store: PageStore, most: int = 20) -> tuple[list[str], int]:
        words = Words.of("boats", OfflineLexicon())
        return find_pages(ada.database, store, "ada", words, most=most)

    assert found(far) == ([*made[:2], named], 3)
    assert found(far, most=2) == (made[:2], 0)
    assert found(CachedPageStore(store, TextCache(0))) == ([*made, named], 0)


def test_words_find_what_a_step_would_bring_back(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser, store: PageStore, superuser: Any
) -> None:
    words = Words.of(MARK, OfflineLexicon())

    def found() -> list[str]:
        return find_pages(ada.database, store, "ada", words, most=20).indexes

    folder = pages.do("create_contents_page", name="Plans", parent="usr-0")
    for index, said in (("usr-1", {"name": MARK}), (folder, {"description": f"Of {MARK}"})):
        pages.do("update_page", index=index, **said)
    pages.do("update_page", index="usr-1", name="Somebody")
    pages.undo()
    pages.undo()
    assert sorted(found()) == sorted(["usr-1", folder]), "one to be undone, one to be redone"
    shown = shown_pages(ada.database, store, "ada", found(), words)
    assert [MARK in each.excerpt for each in shown] == [True, True]
    eraser.erase(pages=found())
    assert found() == []
    assert found_in_database(superuser, MARK) == []
    with pytest.raises(RefusedError, match="nothing to redo"):
        pages.do("redo")


def test_the_name_of_a_segment_goes_with_its_roots(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    pages.do("hide_details", index="usr-1")
    ada.execute(
        "UPDATE page_tree SET segments = jsonb_set(segments, '{1,name}', '\"Eve\"')"
        " WHERE agent_id = %s"
    )
    ada.execute("UPDATE page SET name = 'Eve' WHERE agent_id = %s AND id = 'usr-0'")
    eraser.erase(pages=["usr-0"])
    assert "Eve" not in pages.window()
    assert "Question 1?" in pages.window()
    (tree,) = ada.rows("SELECT segments FROM page_tree WHERE agent_id = %s")
    assert [each["name"] for each in tree.segments] == ["", ""]


@pytest.mark.parametrize("what", ["messages", "session", "agent"])
def test_no_page_tells_of_it_anywhere(
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


def test_an_erased_agent_begins_anew_and_no_text_takes_the_place_of_another(
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
    assert page(ada, first).body != old.version, "what is cached of it is not taken for the new"
    pages.do("expand_details", index=first)
    assert "of the second life" in pages.window()


class Failing(MemoryPageStore):
    """A store that does not delete until it is told to."""

    answers = False

    def delete(self, key: BodyKey) -> None:
        if not self.answers:
            raise PageStoreError
        super().delete(key)


@pytest.mark.parametrize("store", ["postgres"], indirect=True)
def test_a_store_that_is_away_is_asked_again(ada: AgentUnderTest, eraser: Eraser) -> None:
    failing = Failing()
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
    # Another life does not lose its own.
    ada.say("Who is there?")
    third = pages.note("Three", "of another life")
    failing.answers = True
    eraser.erase(pages=[third])
    assert [key.page for key in failing.list("ada")] == [other]
    eraser.erase_agent()
    assert list(failing.list("ada")) == []


@pytest.mark.parametrize("store", ["postgres"], indirect=True)
def test_texts_that_an_erasure_has_left_go_when_the_agent_is_erased_again(
    ada: AgentUnderTest, eraser: Eraser
) -> None:
    failing = Failing()
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
def test_whoever_changes_pages_meanwhile_waits_and_finds_what_is_left(
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
