"""What agents and developers do with pages, and what it leaves behind (P2 to P10, P16)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from pydantic import ValidationError

from memci.commands import configure
from memci.commands.pages.perform import PageCommands
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.page import MAX_DEPTH
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.window_text import Format
from memci.errors import NotFoundError, PageStoreError, RefusedError
from memci.storage.page_store.local import MemoryPageStore
from tests.support.network import AgentUnderTest
from tests.support.page_asking import COUNTER, asked, do, told, tree, window


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


@pytest.mark.parametrize("written", ["[usr-1]", " usr-1 ", "\n[ usr-1 ]"])
def test_an_index_may_stand_in_the_brackets_of_its_heading(ada, commands, written):
    told(ada, 2)
    assert do(commands, "hide_details", index=written).changed == ["usr-1"]
    assert do(commands, "get_page", index=written).page.index == "usr-1"


@pytest.mark.parametrize("written", ["[usr-1", "[[usr-1]]", "USR-1", "[]", "usr 1"])
def test_what_is_no_index_is_taken_for_none(written):
    with pytest.raises(ValidationError, match="as the window shows it"):
        asked("hide_details", index=written)


@pytest.mark.parametrize(
    ("said", "names"),
    [("How is the weather?", ["System", "Conversation"]), ("天气怎么样？", ["系统", "对话"])],
)
def test_roots_have_the_names_of_the_window_in_answers(ada, commands, said, names):
    ada.say(said, session="s1")
    made = do(commands, "create_detail_page", Actor.DEVELOPER, name="A", detail="B", parent="sys-0")
    roots = [do(commands, "get_page", index=each).page.name for each in ("sys-0", "usr-0")]
    assert roots == names
    assert all(f"[{index}] {name}" in "".join(each.content for each in window(commands).messages)
               for index, name in zip(("sys-0", "usr-0"), names, strict=True))  # fmt: skip
    above = do(commands, "get_ancestors", index=made.page.index).pages
    assert [each.name for each in above] == names[:1]
    assert [each.name for each in do(commands, "get_parent", index="usr-1").pages] == names[1:]


def test_what_comes_into_sight_with_its_folders_has_changed_as_they_have(ada, commands):
    told(ada, 3)
    made = do(commands, "create_contents_page", name="A", parent="usr-0", children=["usr-1"])
    folder = made.page.index
    assert do(commands, "expand_details", index="usr-1").changed == [folder, "usr-1"]
    do(commands, "hide_details", index=folder)
    assert do(commands, "expand_details", index="usr-1").changed == [folder, "usr-1"]
    assert do(commands, "expand_details", index="usr-1").changed == []


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


def test_folders_hold_so_many_levels_and_no_more(ada, commands):
    told(ada, 1)
    parent = "usr-0"
    with pytest.raises(RefusedError, match="too deep"):
        for _ in range(MAX_DEPTH + 1):
            made = do(commands, "create_contents_page", name="Deeper", parent=parent)
            parent = made.page.index
    assert parent == f"usr-{MAX_DEPTH}"
    window(commands)
    with pytest.raises(RefusedError, match="too deep"):
        do(commands, "move_page", source="usr-2", target=parent)
    lowest, above = f"usr-{MAX_DEPTH}", f"usr-{MAX_DEPTH - 1}"
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


class Overtaken(PageCommands):
    """After whose first look somebody speaks."""

    def settle(self, agent_id):
        super().settle(agent_id)
        told(AgentUnderTest(self.database, known=True), 3)


def test_rules_that_change_while_somebody_speaks_leave_the_indexes_that_were_seen(ada, commands):
    told(ada, 4)
    slow = Overtaken(commands.database, commands.store, COUNTER, commands.rules)
    defaults = configure.Defaults(MemoryParameters(), PageRules())
    configure.run(slow, "ada", {"active_pages": 2}, defaults)
    told(ada, 1)
    names = {each.index: each.name for each in tree(commands)}
    assert [names[f"usr-{number}"] for number in range(5, 9)] == [
        "Question 0?", "Question 1?", "Question 2?", "Question 0?",
    ]  # fmt: skip


def test_an_agent_keeps_in_sight_what_it_is_answering(ada, commands):
    told(ada, 1)
    ada.say("And now?")
    do(commands, "create_contents_page", name="Old", parent="usr-0")
    do(commands, "expand_details", index="usr-3")
    do(commands, "move_page", source="usr-2", target="usr-3")
    before = window(commands)
    refused = [
        ("hide_details", {"index": "usr-2"}),
        ("hide_details", {"index": "usr-3"}),
        ("remove_page", {"index": "usr-2"}),
        ("remove_page", {"index": "usr-3"}),
        ("create_contents_page", {"name": "x", "parent": "usr-0", "children": ["usr-2"]}),
        ("create_contents_page", {"name": "x", "parent": "usr-0", "children": ["usr-3"]}),
    ]
    for verb, values in refused:
        with pytest.raises(RefusedError, match="until the user's next message"):
            do(commands, verb, **values)
    hidden = do(commands, "create_contents_page", name="Hidden", parent="usr-0").page.index
    with pytest.raises(RefusedError, match="until the user's next message"):
        do(commands, "move_page", source="usr-2", target=hidden)
    do(commands, "undo")
    assert window(commands) == before
    do(commands, "hide_details", index="usr-0")
    do(commands, "expand_details", index="usr-0")
    ada.say("So far so good.", role="assistant")
    ada.say("Thanks!")
    assert not do(commands, "hide_details", index="usr-3").page.expanded, "another goes on"


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
