"""What is read of pages, found and listed (P4)."""

from __future__ import annotations

from contextlib import closing

import pytest
from pydantic import SecretStr

from memci.commands.pages.perform import PageCommands
from memci.config.settings import Settings
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.window_text import Format
from memci.errors import InvalidInputError
from memci.reading.deferred_writes import ReadActivity
from memci.reading.reader import ReadingDefaults, ReadingModels, Tokenizers
from memci.reading.search import Search
from memci.schemas.reads import SearchRequest
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.storage.page_store.local import MemoryPageStore
from tests.support.page_asking import COUNTER, asked, do, told, window


def test_a_page_s_text_names_who_spoke(ada, commands):
    ada.say("Lunch at noon?", name="Mira")
    ada.say("Fine.", role="assistant")
    held = do(commands, "get_page", index="usr-1")
    assert held.text == "user Mira: Lunch at noon?\n\nassistant: Fine."
    assert held.entries == ["user Mira: Lunch at noon?", "assistant: Fine."]


def search(ada, query):
    tokenizers = Tokenizers(OfflineTokenCounter)
    models = ReadingModels(ada.models.embedder, ada.models.lexicon, tokenizers, OfflineSummarizer())
    settings = Settings(
        database_url=SecretStr("postgresql://x/x"), broker_url=SecretStr("redis://x")
    )
    activity = ReadActivity(ada.database)
    with closing(activity):
        found = Search(ada.database, models, ReadingDefaults.of(settings), activity)
        return found.run("ada", SearchRequest(query=query))


@pytest.mark.parametrize("session", ["s1", None])
def test_what_search_finds_says_which_page_it_is_on_though_that_was_removed(ada, commands, session):
    ada.say("A zebra crossed the road.", session=session)
    ada.say("How odd.", role="assistant", session=session)
    ada.say("Another zebra came along.", session="s2")
    assert {each.page for each in search(ada, "zebra").hits} == {None}, "they are on none yet"
    do(commands, "remove_page", Actor.DEVELOPER, index="usr-1")
    pages = {each.text: each.page for each in search(ada, "zebra").hits}
    assert pages == {"A zebra crossed the road.": "usr-1", "Another zebra came along.": "usr-2"}


@pytest.mark.parametrize("form", list(Format))
def test_of_what_is_archived_only_lines_are_seen(ada, commands, form):
    told(ada, 12)
    shown = window(commands, format=form).messages
    said = "\n".join(each.content for each in shown)
    assert said.count("- assistant: Answer 0.") == 1
    assert said.count("Answer 0.") == 1
    assert said.count("Answer 11.") == 1


def test_a_model_reads_a_long_page_in_parts_and_a_developer_whole(ada, commands):
    text = "".join(f"Line {number} of many.\n" for number in range(5_000))
    made = do(commands, "create_detail_page", name="Long", detail=text, parent="usr-0")
    told(ada, 1)
    for number in range(60):
        ada.say(f"Answer {number}, again.", role="assistant", session="s1")
    read, offset = "", 0
    while offset is not None:
        part = do(commands, "get_page", index=made.page.index, offset=offset)
        assert COUNTER.count(part.text) <= 4_000
        read, offset = read + part.text, part.next_offset
    assert read == text
    whole = do(commands, "get_page", Actor.DEVELOPER, index=made.page.index, offset=5)
    assert (whole.text, whole.next_offset) == (text[5:], None)
    said = do(commands, "get_page", index="usr-2")
    assert (len(said.entries), said.next_offset) == (50, None)
    assert len(do(commands, "get_page", Actor.DEVELOPER, index="usr-2").entries) == 62
    with pytest.raises(InvalidInputError, match="the text ends before that"):
        do(commands, "get_page", index=made.page.index, offset=10**6)


@pytest.mark.parametrize("where", ["postgres", "elsewhere"])
def test_what_notes_say_is_found(ada, commands, where):
    store = commands.store if where == "postgres" else MemoryPageStore()
    commands = PageCommands(commands.database, store, COUNTER, PageRules())

    def note(name, detail):
        made = do(commands, "create_detail_page", name=name, detail=detail, parent="usr-0")
        return made.page.index

    def found(query):
        return [each.index for each in do(commands, "find_pages", query=query).pages]

    told(ada, 1)
    valves, other = note("Plant", "The Valves leak."), note("A valve", "Nothing.")
    chinese = note("笔记", "明天上午开会讨论预算。")
    removed = note("Old", "the valves of last year")
    do(commands, "remove_page", index=removed)
    assert found("valve") == [other, removed, valves] if where == "postgres" else [other, valves]
    assert found("开会") == [chinese]
    do(commands, "create_contents_page", name="Box", parent="usr-0", children=[valves])
    assert found("they leak") == [valves]
    assert found("submarine") == []


def test_a_note_that_was_just_written_is_found_by_the_same_call(ada, commands):
    told(ada, 1)
    write = asked("create_detail_page", name="Plant", detail="Valves leak.", parent="usr-0")
    _, listed = commands.run("ada", Actor.AGENT, [write, asked("find_pages", query="valves")])
    assert [each.name for each in listed.pages] == ["Plant"]


def test_texts_that_lie_elsewhere_are_not_all_read(ada, commands):
    class Watched(MemoryPageStore):
        read = 0

        def load(self, key):
            self.read += 1
            return super().load(key)

    store = Watched()
    far = PageCommands(commands.database, store, COUNTER, PageRules())
    told(ada, 1)
    for number in range(60):
        written = {"name": f"Note {number}", "detail": "Valves leak.", "parent": "usr-0"}
        do(far, "create_detail_page", **written)
    store.read = 0
    assert len(do(far, "find_pages", query="valves", limit=100).pages) == 50
    assert store.read == 50


def test_a_large_folder_is_listed_in_parts(ada, commands):
    told(ada, 1)
    notes = [
        do(commands, "create_detail_page", name=f"N{n}", detail="x", parent="usr-0").page.index
        for n in range(7)
    ]
    box = do(commands, "create_contents_page", name="B", parent="usr-0", children=notes)
    for actor in Actor:
        found, offset = [], 0
        while offset is not None:
            part = do(commands, "get_children", actor, index=box.page.index, limit=3, offset=offset)
            assert 0 < len(part.pages) <= 3
            found += [each.index for each in part.pages]
            offset = part.next_offset
        assert found == notes
    whole = do(commands, "get_children", index=box.page.index, limit=7)
    assert (len(whole.pages), whole.next_offset) == (7, None)
    behind = do(commands, "get_children", index=box.page.index, offset=7)
    assert (behind.pages, behind.next_offset) == ([], None)
