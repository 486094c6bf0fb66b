"""M25 of pages: notes, names and steps of an agent are found by words and erased."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import event

from memci.commands.erase_search import Words, find_pages, preview_pages
from memci.errors import NotFoundError, RefusedError
from memci.smallmodel.offline.index_terms import OfflineLexicon
from memci.storage.page_store.port import PageStore
from memci.storage.page_store.wrappers import CachedPageStore, TextCache
from tests.support.erasing import MARK, Eraser, found_in_database
from tests.support.network import AgentUnderTest
from tests.support.page_folders import Folders, page


def test_a_note_is_erased_with_its_text_and_a_folder_loses_its_name(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser, store: PageStore
) -> None:
    folder = pages.do("create_contents_page", name="Plans of Eve", parent="usr-0")
    note = pages.note("What Eve wants", "Eve wants a boat.", folder)
    other = pages.note("Boats", "There are many.", folder)
    found = eraser.preview(pages=[folder, note])
    assert [(each.index, each.removed) for each in found.own_words] == [
        (folder, False),
        (note, True),
    ]
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
    # A second erasure of the same pages does nothing.
    assert eraser.preview(pages=[folder, note]).pages == 0
    assert eraser.erase(pages=[folder, note]).body["pages"] == 0
    with pytest.raises(NotFoundError, match="never was a page usr-99"):
        eraser.erase(pages=["usr-99"])


def test_the_preview_distinguishes_deleted_pages_from_pages_that_stay(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser
) -> None:
    for index in ("usr-1", "usr-2"):
        pages.do("update_page", index=index, name="Eve's affair")
    ids = [row.id for row in ada.rows("SELECT id FROM message WHERE agent_id = %s ORDER BY seq")]
    found = eraser.preview(*ids[:3], pages=["usr-1", "usr-2"])
    assert [(each.index, each.removed) for each in found.own_words] == [
        ("usr-1", True),
        ("usr-2", False),
    ]
    eraser.erase(*ids[:3], pages=["usr-1", "usr-2"])
    assert page(ada, "usr-1") is None
    assert page(ada, "usr-2").name == "Answer 1."


def test_a_removed_page_is_erased_too(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser, store: PageStore
) -> None:
    note = pages.note("What Eve wants", "Eve wants a boat.")
    pages.do("remove_page", index=note)
    eraser.erase(pages=[note])
    assert page(ada, note) is None
    assert list(store.list("ada")) == []


def test_the_name_given_by_an_agent_is_erased_and_the_messages_stay(
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
def test_many_notes_are_searched_in_few_statements(
    ada: AgentUnderTest, pages: Folders, store: PageStore
) -> None:
    made = [pages.note(f"Note {number}", f"About {number} boats.") for number in range(30)]
    statements: list[str] = []
    event.listen(
        ada.database.engine, "before_cursor_execute", lambda *args: statements.append(args[2])
    )
    words = Words.of("boats", OfflineLexicon())
    assert find_pages(ada.database, store, "ada", words, most=200).indexes == made[::-1]
    searched = len(statements)
    previews = preview_pages(ada.database, store, "ada", made[:2], words)
    assert [each.index for each in previews] == made[:2]
    assert searched < len(made) / 2
    assert len(statements) - searched <= searched
    store.delete(next(iter(store.list("ada"))))
    assert len(find_pages(ada.database, store, "ada", words, most=200).indexes) == 29


def test_in_a_remote_store_only_the_newest_texts_are_searched(
    ada: AgentUnderTest, pages: Folders, store: PageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memci.commands.erase_search._MOST_TEXTS", 2)
    named = pages.note("Boats", "Of the oldest.")
    made = [pages.note(f"Note {number}", "About boats.") for number in range(4)][::-1]
    remote = CachedPageStore(store, TextCache(0))
    remote.is_remote = True

    def found(store: PageStore, most: int = 20) -> tuple[list[str], int]:
        words = Words.of("boats", OfflineLexicon())
        return find_pages(ada.database, store, "ada", words, most=most)

    assert found(remote) == ([*made[:2], named], 3)
    assert found(remote, most=2) == (made[:2], 0)
    remote.is_remote = False
    assert found(remote) == ([*made, named], 0)


def test_words_find_what_undo_or_redo_would_restore(
    ada: AgentUnderTest, pages: Folders, eraser: Eraser, store: PageStore, superuser: Any
) -> None:
    words = Words.of(MARK, OfflineLexicon())

    def found() -> list[str]:
        return find_pages(ada.database, store, "ada", words, most=20).indexes

    folder = pages.do("create_contents_page", name="Plans", parent="usr-0")
    for index, fields in (("usr-1", {"name": MARK}), (folder, {"description": f"Of {MARK}"})):
        pages.do("update_page", index=index, **fields)
    pages.do("update_page", index="usr-1", name="Somebody")
    pages.undo()
    pages.undo()
    assert sorted(found()) == sorted(["usr-1", folder]), "one to be undone, one to be redone"
    previews = preview_pages(ada.database, store, "ada", found(), words)
    assert [MARK in each.excerpt for each in previews] == [True, True]
    eraser.erase(pages=found())
    assert found() == []
    assert found_in_database(superuser, MARK) == []
    with pytest.raises(RefusedError, match="nothing to redo"):
        pages.do("redo")


def test_erasing_a_root_erases_the_name_of_its_segment(
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
