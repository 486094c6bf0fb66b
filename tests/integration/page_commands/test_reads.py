"""Pages are read, found and listed (P4)."""

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
from tests.support.page_asking import COUNTER, add_interactions, run_tool, tool_request, window


def test_the_text_of_a_page_names_the_speakers(ada, commands):
    ada.say("Lunch at noon?", name="Mira")
    ada.say("Fine.", role="assistant")
    page = run_tool(commands, "get_page", index="usr-1")
    assert page.text == "user Mira: Lunch at noon?\n\nassistant: Fine."
    assert page.entries == ["user Mira: Lunch at noon?", "assistant: Fine."]


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
def test_a_search_hit_has_its_page_even_if_it_was_removed(ada, commands, session):
    ada.say("A zebra crossed the road.", session=session)
    ada.say("How odd.", role="assistant", session=session)
    ada.say("Another zebra came along.", session="s2")
    assert {each.page for each in search(ada, "zebra").hits} == {None}, "they are on none yet"
    run_tool(commands, "remove_page", Actor.DEVELOPER, index="usr-1")
    pages = {each.text: each.page for each in search(ada, "zebra").hits}
    assert pages == {"A zebra crossed the road.": "usr-1", "Another zebra came along.": "usr-2"}


@pytest.mark.parametrize("form", list(Format))
def test_archived_pages_are_shown_as_lines(ada, commands, form):
    add_interactions(ada, 12)
    shown = window(commands, format=form).messages
    text = "\n".join(each.content for each in shown)
    assert text.count("- assistant: Answer 0.") == 1
    assert text.count("Answer 0.") == 1
    assert text.count("Answer 11.") == 1


def test_a_long_page_is_read_in_parts_by_a_model_and_whole_by_a_developer(ada, commands):
    text = "".join(f"Line {number} of many.\n" for number in range(5_000))
    made = run_tool(commands, "create_detail_page", name="Long", detail=text, parent="usr-0")
    add_interactions(ada, 1)
    for number in range(60):
        ada.say(f"Answer {number}, again.", role="assistant", session="s1")
    read, offset = "", 0
    while offset is not None:
        part = run_tool(commands, "get_page", index=made.page.index, offset=offset)
        assert COUNTER.count(part.text) <= 4_000
        read, offset = read + part.text, part.next_offset
    assert read == text
    whole = run_tool(commands, "get_page", Actor.DEVELOPER, index=made.page.index, offset=5)
    assert (whole.text, whole.next_offset) == (text[5:], None)
    conversation = run_tool(commands, "get_page", index="usr-2")
    assert (len(conversation.entries), conversation.next_offset) == (50, None)
    assert len(run_tool(commands, "get_page", Actor.DEVELOPER, index="usr-2").entries) == 62
    with pytest.raises(InvalidInputError, match="the text ends before that"):
        run_tool(commands, "get_page", index=made.page.index, offset=10**6)


@pytest.mark.parametrize("where", ["postgres", "elsewhere"])
def test_notes_are_found_by_their_texts(ada, commands, where):
    store = commands.store if where == "postgres" else MemoryPageStore()
    commands = PageCommands(commands.database, store, COUNTER, PageRules())

    def note(name, detail):
        made = run_tool(commands, "create_detail_page", name=name, detail=detail, parent="usr-0")
        return made.page.index

    def found(query):
        return [each.index for each in run_tool(commands, "find_pages", query=query).pages]

    add_interactions(ada, 1)
    valves, other = note("Plant", "The Valves leak."), note("A valve", "Nothing.")
    chinese = note("笔记", "明天上午开会讨论预算。")
    removed = note("Old", "the valves of last year")
    run_tool(commands, "remove_page", index=removed)
    assert found("valve") == [other, removed, valves] if where == "postgres" else [other, valves]
    assert found("开会") == [chinese]
    run_tool(commands, "create_contents_page", name="Box", parent="usr-0", children=[valves])
    assert found("they leak") == [valves]
    assert found("submarine") == []


def test_a_new_note_is_found_in_the_same_call(ada, commands):
    add_interactions(ada, 1)
    write = tool_request("create_detail_page", name="Plant", detail="Valves leak.", parent="usr-0")
    _, listed = commands.run(
        "ada", Actor.AGENT, [write, tool_request("find_pages", query="valves")]
    )
    assert [each.name for each in listed.pages] == ["Plant"]


def test_find_pages_reads_at_most_50_texts_from_another_store(ada, commands):
    class Watched(MemoryPageStore):
        read = 0

        def load(self, key):
            self.read += 1
            return super().load(key)

    store = Watched()
    remote = PageCommands(commands.database, store, COUNTER, PageRules())
    add_interactions(ada, 1)
    for number in range(60):
        fields = {"name": f"Note {number}", "detail": "Valves leak.", "parent": "usr-0"}
        run_tool(remote, "create_detail_page", **fields)
    store.read = 0
    assert len(run_tool(remote, "find_pages", query="valves", limit=100).pages) == 50
    assert store.read == 50


def test_a_large_folder_is_listed_in_parts(ada, commands):
    add_interactions(ada, 1)
    notes = [
        run_tool(
            commands, "create_detail_page", name=f"N{n}", detail="x", parent="usr-0"
        ).page.index
        for n in range(7)
    ]
    box = run_tool(commands, "create_contents_page", name="B", parent="usr-0", children=notes)
    for actor in Actor:
        found, offset = [], 0
        while offset is not None:
            part = run_tool(
                commands, "get_children", actor, index=box.page.index, limit=3, offset=offset
            )
            assert 0 < len(part.pages) <= 3
            found += [each.index for each in part.pages]
            offset = part.next_offset
        assert found == notes
    whole = run_tool(commands, "get_children", index=box.page.index, limit=7)
    assert (len(whole.pages), whole.next_offset) == (7, None)
    after_end = run_tool(commands, "get_children", index=box.page.index, offset=7)
    assert (after_end.pages, after_end.next_offset) == ([], None)
