"""Operations on pages in a real database, and the window that comes of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest
from pydantic import SecretStr

from memci.commands.pages.perform import Asked, PageCommands
from memci.config import Settings
from memci.domain.pages.block import Format
from memci.domain.pages.page import DEEPEST
from memci.domain.pages.permission import Actor
from memci.domain.pages.rules import PageRules
from memci.errors import NotFoundError, PageStoreError, RefusedError
from memci.reading.activity import ReadActivity
from memci.reading.models import ReadingDefaults, ReadingModels, Tokenizers
from memci.reading.search import Search
from memci.reading.window import Windows
from memci.shapes.pages import WindowRequest
from memci.shapes.read import SearchRequest
from memci.shapes.tools import BY_NAME
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.offline.tokens import OfflineTokenCounter
from memci.storage.page_store.memory import MemoryPageStore
from memci.storage.page_store.postgres import PostgresPageStore
from tests.support.network import AgentUnderTest

COUNTER = OfflineTokenCounter()


@pytest.fixture
def ada(database):
    return AgentUnderTest(database)


@pytest.fixture
def commands(database):
    return PageCommands(database, PostgresPageStore(database), COUNTER, PageRules())


def asked(verb, /, **values):
    tool = BY_NAME[verb]
    return Asked(tool, tool.request(**values))


def do(commands, verb, actor=Actor.AGENT, /, **values):
    return commands.run("ada", actor, [asked(verb, **values)])[0]


def window(commands, **how):
    return Windows(commands.database, commands.store, COUNTER, commands.rules).show(
        "ada", WindowRequest(**how)
    )


def told(ada, number, session="s1"):
    for each in range(number):
        ada.say(f"Question {each}?", session=session)
        ada.say(f"Answer {each}.", role="assistant", session=session)


def test_what_was_said_is_in_the_window_at_once(ada, commands):
    told(ada, 1)
    shown = window(commands)
    assert "Question 0?" in shown.messages[0].content
    assert "Answer 0." in shown.messages[0].content
    assert shown.tokens == COUNTER.count(shown.messages[0].content) + 7


def test_an_operation_says_what_it_did_in_tokens(ada, commands):
    told(ada, 2)
    done = do(commands, "hide_details", index="usr-1")
    assert done.changed == ["usr-1"]
    assert done.tokens_after < done.tokens_before
    assert done.tokens_after == window(commands).tokens
    assert "Answer 0." not in window(commands).messages[0].content
    assert "Answer 1." in window(commands).messages[0].content


def test_a_note_is_kept_and_shown_when_it_is_opened(ada, commands):
    told(ada, 1)
    made = do(commands, "create_detail_page", name="Lesson", detail="Ask first.", parent="usr-0")
    assert "Ask first." not in window(commands).messages[0].content
    do(commands, "expand_details", index=made.page.index)
    assert "Ask first." in window(commands).messages[0].content


def test_all_of_several_operations_are_done_or_none(ada, commands):
    told(ada, 2)
    before = window(commands)
    with pytest.raises(NotFoundError):
        commands.run(
            "ada",
            Actor.AGENT,
            [
                asked("create_contents_page", name="Old", parent="usr-0", children=["usr-1"]),
                asked("hide_details", index="usr-99"),
            ],
        )
    assert window(commands) == before


def test_a_note_that_cannot_be_stored_is_not_made(ada, commands):
    class Full(MemoryPageStore):
        def save(self, key, text):
            raise PageStoreError

    told(ada, 1)
    before = window(commands)
    full = PageCommands(commands.database, Full(), COUNTER, PageRules())
    with pytest.raises(PageStoreError):
        do(full, "create_detail_page", name="Lesson", detail="Ask first.", parent="usr-0")
    assert window(commands) == before


def test_what_may_not_be_done_changes_nothing(ada, commands):
    ada.say("You are kind.", role="system", session="s1")
    told(ada, 1)
    with pytest.raises(RefusedError, match="READ_ONLY"):
        do(commands, "hide_details", index="sys-1")
    assert "You are kind." in window(commands).messages[0].content
    do(commands, "hide_details", Actor.DEVELOPER, index="sys-1")
    assert "You are kind.\n" not in window(commands).messages[0].content


def test_an_archived_page_comes_back_by_its_index(ada, commands):
    told(ada, 12)
    assert "Answer 0.\n```" not in window(commands).messages[0].content
    done = do(commands, "recall_page", index="usr-1")
    assert done.page.recalls == 1
    assert "Answer 0.\n```" in window(commands).messages[0].content


def test_the_current_interaction_stays_however_much_is_recalled(ada, commands):
    told(ada, 20)
    ada.say("And now?", session="s1")
    for number in range(1, 10):
        do(commands, "recall_page", index=f"usr-{number}")
    assert "```user\nAnd now?" in window(commands).messages[0].content


@pytest.mark.parametrize("form", [Format.MARKDOWN, Format.TEXT])
@pytest.mark.parametrize("mark", ["## ", "== ", "```", "~~~~"])
def test_no_description_looks_like_another_page(ada, commands, form, mark):
    told(ada, 1)
    fake = f"{mark}[usr-77] Fake (page, expanded)"
    do(commands, "create_detail_page", name="n", description=fake, detail="t", parent="usr-0")
    shown = window(commands, format=form)
    assert "[usr-77] Fake" in shown.messages[0].content
    assert f"\n{mark}[usr-77]" not in shown.messages[0].content
    assert shown.tokens == COUNTER.count(shown.messages[0].content) + 7


def test_a_removed_page_comes_back(ada, commands):
    told(ada, 3)
    before = window(commands)
    do(commands, "remove_page", index="usr-2")
    assert "Question 1?" not in window(commands).messages[0].content
    with pytest.raises(RefusedError, match="removed"):
        do(commands, "expand_details", index="usr-2")
    do(commands, "restore_page", index="usr-2", parent="usr-0")
    assert window(commands).tokens == before.tokens


def test_the_window_holds_its_budget(ada, commands):
    told(ada, 8)
    whole = window(commands)
    held = window(commands, budget_tokens=whole.tokens - 10)
    assert held.tokens <= whole.tokens - 10
    assert held.collapsed
    assert held.over == 0
    least = window(commands, budget_tokens=1)
    assert least.over == least.tokens - 1
    assert "Answer 7." in least.messages[0].content, "the current interaction stays"
    assert window(commands) == whole, "a look changes nothing"


def test_a_change_that_overfills_the_window_collapses_what_is_old(ada, commands):
    told(ada, 4)
    small = PageCommands(
        commands.database, commands.store, COUNTER, PageRules(window_max_tokens=400)
    )
    long = "word " * 200
    made = do(small, "create_detail_page", name="Long", detail=long, parent="usr-0")
    done = do(small, "expand_details", index=made.page.index)
    assert "usr-1" in done.collapsed
    assert made.page.index not in done.collapsed, "it was opened just now"
    assert done.tokens_after <= 400


@pytest.mark.parametrize("actor", Actor)
def test_an_agent_collapses_nothing_that_it_may_not_hide(ada, commands, actor):
    told(ada, 2)
    segment = {"id": "law", "name": "Law", "kind": "tool", "permission": "READ_ONLY"}
    do(commands, "create_segment", Actor.DEVELOPER, **segment)
    law = {"name": "Rules", "detail": "Never lie. " * 50, "parent": "law-0"}
    do(commands, "create_detail_page", Actor.DEVELOPER, **law)
    do(commands, "expand_details", Actor.DEVELOPER, index="law-1")
    done = do(commands, "auto_collapse", actor, max_tokens=50)
    assert ("law-1" in done.collapsed) == (actor is Actor.DEVELOPER)
    assert done.over == done.tokens_after - 50 > 0


def test_what_a_developer_pinned_is_unpinned_by_no_agent(ada, commands):
    told(ada, 3)
    do(commands, "pin_page", Actor.DEVELOPER, index="usr-1")
    with pytest.raises(RefusedError, match="pinned by the developer"):
        do(commands, "unpin_page", index="usr-1")
    do(commands, "pin_page", index="usr-1")  # is none of its own
    with pytest.raises(RefusedError, match="pinned by the developer"):
        do(commands, "unpin_page", index="usr-1")
    do(commands, "pin_page", index="usr-2")
    assert do(commands, "unpin_page", index="usr-2").page.pinned is False
    assert do(commands, "unpin_page", Actor.DEVELOPER, index="usr-1").page.pinned is False


def test_sessions_have_windows_of_their_own(ada, commands):
    told(ada, 1, session="s1")
    ada.say("Something else", session="s2")
    assert "Question 0?" not in window(commands).messages[0].content
    assert "Question 0?" in window(commands, session_id="s1").messages[0].content


def test_a_session_is_told_of_its_own_interactions_alone_settled_or_not(ada, commands):
    told(ada, 2, "a")
    told(ada, 1, "b")
    for _ in range(2):
        root = do(commands, "get_page", index="usr-0").page
        children = do(commands, "get_children", index="usr-0").pages
        assert ([each.index for each in children], root.children) == (["usr-3"], 1)
        commands.settle("ada")


def test_operations_at_the_same_time_lose_nothing(ada, commands):
    told(ada, 1)

    def make(number):
        return do(commands, "create_detail_page", name=f"Note {number}", detail="…",
                  parent="usr-0").page.index  # fmt: skip

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(make, range(12)))
    assert len(set(made)) == 12
    content = window(commands).messages[0].content
    assert all(f"[{index}]" in content for index in made)


def test_nobody_has_no_window(commands):
    with pytest.raises(NotFoundError):
        window(commands)
    with pytest.raises(NotFoundError):
        do(commands, "hide_details", index="usr-1")


def test_what_an_agent_did_is_undone_and_redone(ada, commands):
    told(ada, 3)
    first = window(commands)
    do(commands, "create_contents_page", name="Old", parent="usr-0", children=["usr-1", "usr-2"])
    second = window(commands)
    do(commands, "hide_details", index="usr-3")
    undone = do(commands, "undo")
    assert undone.operations == ["hide_details"]
    assert window(commands) == second
    assert do(commands, "undo").tokens_after == first.tokens
    assert window(commands) == first
    with pytest.raises(RefusedError, match="nothing to undo"):
        do(commands, "undo")
    assert do(commands, "redo").operations == ["create_contents_page"]
    assert window(commands) == second
    do(commands, "redo")
    with pytest.raises(RefusedError, match="nothing to redo"):
        do(commands, "redo")


def test_what_is_done_after_an_undo_takes_the_place_of_what_was_undone(ada, commands):
    told(ada, 2)
    do(commands, "hide_details", index="usr-1")
    do(commands, "undo")
    do(commands, "update_page", index="usr-1", name="Another name")
    with pytest.raises(RefusedError, match="nothing to redo"):
        do(commands, "redo")
    do(commands, "undo")
    assert "Another name" not in window(commands).messages[0].content


def test_what_has_changed_since_is_not_undone(ada, commands):
    told(ada, 2)
    do(commands, "update_page", index="usr-1", name="Mine")
    do(commands, "update_page", Actor.DEVELOPER, index="usr-1", name="Ours")
    with pytest.raises(RefusedError, match="changed since"):
        do(commands, "undo")
    assert "Ours" in window(commands).messages[0].content


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
    do(commands, "remove_page", index="usr-1")
    pages = {each.text: each.page for each in search(ada, "zebra").hits}
    assert pages == {"A zebra crossed the road.": "usr-1", "Another zebra came along.": "usr-2"}


def test_folders_hold_so_many_levels_and_no_more(ada, commands):
    told(ada, 1)
    parent = "usr-0"
    with pytest.raises(RefusedError, match="too deep"):
        for _ in range(DEEPEST + 1):
            made = do(commands, "create_contents_page", name="Deeper", parent=parent)
            parent = made.page.index
    assert parent == f"usr-{DEEPEST}"
    window(commands)
    with pytest.raises(RefusedError, match="too deep"):
        do(commands, "move_page", source="usr-2", target=parent)
    lowest, above = f"usr-{DEEPEST}", f"usr-{DEEPEST - 1}"
    with pytest.raises(RefusedError, match="too deep"):
        do(commands, "create_contents_page", name="Between", parent=above, children=[lowest])


def test_other_rules_leave_the_indexes_that_were_seen(ada, commands):
    told(ada, 4)
    seen = window(commands).messages[0].content
    commands.settle("ada")
    other = replace(commands, rules=PageRules(active_pages=2))
    told(ada, 1)
    assert [index for index in ("[usr-3]", "[usr-4]") if index in seen] == ["[usr-3]", "[usr-4]"]
    now = {each.index: each.name for each in tree(other)}
    assert [now[f"usr-{number}"] for number in range(1, 6)] == [
        "Question 0?", "Question 1?", "Question 2?", "Question 3?", "Question 0?",
    ]  # fmt: skip
    commands.settle("nobody")


def tree(commands):
    return Windows(commands.database, commands.store, COUNTER, commands.rules).tree("ada").pages


@pytest.mark.parametrize("form", list(Format))
def test_of_what_is_archived_only_lines_are_seen(ada, commands, form):
    told(ada, 12)
    shown = window(commands, format=form).messages
    said = "\n".join(each.content for each in shown)
    assert said.count("- assistant: Answer 0.") == 1
    assert said.count("Answer 0.") == 1
    assert said.count("Answer 11.") == 1


def test_a_conversation_that_was_closed_is_opened_by_what_the_user_says(ada, commands):
    told(ada, 2)
    do(commands, "hide_details", index="usr-0")
    assert "(folder, hidden, 2 inside" in window(commands).messages[0].content
    ada.say("Something else", session="s2")
    assert "(folder, hidden" not in window(commands).messages[0].content
    ada.say("And now?")
    assert "And now?" in window(commands).messages[0].content


def test_what_a_session_recalls_of_another_is_in_its_own_window(ada, commands):
    told(ada, 10, session="a")
    told(ada, 1, session="b")
    done = commands.run("ada", Actor.AGENT, [asked("recall_page", index="usr-1")], session_id="b")[
        0
    ]
    assert done.tokens_after > done.tokens_before
    assert (
        "## [usr-1] Question 0? (page, expanded)"
        in window(commands, session_id="b").messages[0].content
    )
    assert "[usr-1]" not in window(commands, session_id="a").messages[0].content
    do(commands, "undo")
    shown = window(commands, session_id="b").messages[0].content
    assert "### [usr-1]" in shown, "it is a line again"
