"""Operations of agents and developers on pages, and their effects (P2 to P10, P16)."""

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
from tests.support.page_asking import (
    COUNTER,
    add_interactions,
    run_tool,
    tool_request,
    tree,
    window,
)


def test_new_messages_are_in_the_window_at_once(ada, commands):
    add_interactions(ada, 1)
    shown = window(commands)
    assert "Question 0?" in shown.messages[0].content
    assert "Answer 0." in shown.messages[0].content
    assert shown.tokens == COUNTER.count(shown.messages[0].content) + 7


def test_an_operation_returns_tokens_before_and_after(ada, commands):
    add_interactions(ada, 2)
    done = run_tool(commands, "hide_details", index="usr-1")
    assert done.changed == ["usr-1"]
    assert done.tokens_after < done.tokens_before
    assert done.tokens_after == window(commands).tokens
    assert "Answer 0." not in window(commands).messages[0].content
    assert "Answer 1." in window(commands).messages[0].content


@pytest.mark.parametrize("written", ["[usr-1]", " usr-1 ", "\n[ usr-1 ]"])
def test_an_index_may_have_the_brackets_of_its_heading(ada, commands, written):
    add_interactions(ada, 2)
    assert run_tool(commands, "hide_details", index=written).changed == ["usr-1"]
    assert run_tool(commands, "get_page", index=written).page.index == "usr-1"


@pytest.mark.parametrize("written", ["[usr-1", "[[usr-1]]", "USR-1", "[]", "usr 1"])
def test_an_invalid_index_is_refused(written):
    with pytest.raises(ValidationError, match="as the window shows it"):
        tool_request("hide_details", index=written)


@pytest.mark.parametrize(
    ("text", "names"),
    [("How is the weather?", ["System", "Conversation"]), ("天气怎么样？", ["系统", "对话"])],
)
def test_roots_have_the_names_of_the_window_in_answers(ada, commands, text, names):
    ada.say(text, session="s1")
    made = run_tool(
        commands, "create_detail_page", Actor.DEVELOPER, name="A", detail="B", parent="sys-0"
    )
    roots = [run_tool(commands, "get_page", index=each).page.name for each in ("sys-0", "usr-0")]
    assert roots == names
    assert all(f"[{index}] {name}" in "".join(each.content for each in window(commands).messages)
               for index, name in zip(("sys-0", "usr-0"), names, strict=True))  # fmt: skip
    ancestors = run_tool(commands, "get_ancestors", index=made.page.index).pages
    assert [each.name for each in ancestors] == names[:1]
    assert [each.name for each in run_tool(commands, "get_parent", index="usr-1").pages] == names[
        1:
    ]


def test_expanding_a_page_expands_and_reports_its_folders(ada, commands):
    add_interactions(ada, 3)
    made = run_tool(commands, "create_contents_page", name="A", parent="usr-0", children=["usr-1"])
    folder = made.page.index
    assert run_tool(commands, "expand_details", index="usr-1").changed == [folder, "usr-1"]
    run_tool(commands, "hide_details", index=folder)
    assert run_tool(commands, "expand_details", index="usr-1").changed == [folder, "usr-1"]
    assert run_tool(commands, "expand_details", index="usr-1").changed == []


def test_a_note_is_shown_after_it_was_expanded(ada, commands):
    add_interactions(ada, 1)
    made = run_tool(
        commands, "create_detail_page", name="Lesson", detail="Ask first.", parent="usr-0"
    )
    assert "Ask first." not in window(commands).messages[0].content
    run_tool(commands, "expand_details", index=made.page.index)
    assert "Ask first." in window(commands).messages[0].content


def test_several_operations_succeed_or_fail_together(ada, commands):
    add_interactions(ada, 2)
    before = window(commands)
    with pytest.raises(NotFoundError):
        commands.run(
            "ada",
            Actor.AGENT,
            [
                tool_request(
                    "create_contents_page", name="Old", parent="usr-0", children=["usr-1"]
                ),
                tool_request("hide_details", index="usr-99"),
            ],
        )
    assert window(commands) == before


def test_a_note_whose_text_cannot_be_stored_is_not_created(ada, commands):
    class Full(MemoryPageStore):
        def save(self, key, text):
            raise PageStoreError

    add_interactions(ada, 1)
    before = window(commands)
    full = PageCommands(commands.database, Full(), COUNTER, PageRules())
    with pytest.raises(PageStoreError):
        run_tool(full, "create_detail_page", name="Lesson", detail="Ask first.", parent="usr-0")
    assert window(commands) == before


def test_a_refused_operation_changes_nothing(ada, commands):
    ada.say("You are kind.", role="system", session="s1")
    add_interactions(ada, 1)
    with pytest.raises(RefusedError, match="READ_ONLY"):
        run_tool(commands, "hide_details", index="sys-1")
    assert "You are kind." in window(commands).messages[0].content
    run_tool(commands, "hide_details", Actor.DEVELOPER, index="sys-1")
    assert "You are kind.\n" not in window(commands).messages[0].content


def test_an_archived_page_is_recalled_by_its_index(ada, commands):
    add_interactions(ada, 12)
    assert "Answer 0.\n```" not in window(commands).messages[0].content
    done = run_tool(commands, "recall_page", index="usr-1")
    assert done.page.recalls == 1
    assert "Answer 0.\n```" in window(commands).messages[0].content


def test_recalls_never_archive_the_current_interaction(ada, commands):
    add_interactions(ada, 20)
    ada.say("And now?", session="s1")
    for number in range(1, 10):
        run_tool(commands, "recall_page", index=f"usr-{number}")
    assert "```user\nAnd now?" in window(commands).messages[0].content


@pytest.mark.parametrize("form", [Format.MARKDOWN, Format.TEXT])
@pytest.mark.parametrize("mark", ["## ", "== ", "```", "~~~~"])
def test_no_description_looks_like_another_page(ada, commands, form, mark):
    add_interactions(ada, 1)
    fake = f"{mark}[usr-77] Fake (page, expanded)"
    run_tool(commands, "create_detail_page", name="n", description=fake, detail="t", parent="usr-0")
    shown = window(commands, format=form)
    assert "[usr-77] Fake" in shown.messages[0].content
    assert f"\n{mark}[usr-77]" not in shown.messages[0].content
    assert shown.tokens == COUNTER.count(shown.messages[0].content) + 7


def test_a_removed_page_is_restored(ada, commands):
    add_interactions(ada, 3)
    before = window(commands)
    run_tool(commands, "remove_page", index="usr-2")
    assert "Question 1?" not in window(commands).messages[0].content
    with pytest.raises(RefusedError, match="removed"):
        run_tool(commands, "expand_details", index="usr-2")
    run_tool(commands, "restore_page", index="usr-2", parent="usr-0")
    assert window(commands).tokens == before.tokens


def test_each_session_has_its_own_window(ada, commands):
    add_interactions(ada, 1, session="s1")
    ada.say("Something else", session="s2")
    assert "Question 0?" not in window(commands).messages[0].content
    assert "Question 0?" in window(commands, session_id="s1").messages[0].content


def test_a_session_lists_only_its_own_interactions_settled_or_not(ada, commands):
    add_interactions(ada, 2, "a")
    add_interactions(ada, 1, "b")
    for _ in range(2):
        root = run_tool(commands, "get_page", index="usr-0").page
        children = run_tool(commands, "get_children", index="usr-0").pages
        assert ([each.index for each in children], root.children) == (["usr-3"], 1)
        commands.settle("ada")


def test_concurrent_operations_lose_no_page(ada, commands):
    add_interactions(ada, 1)

    def make(number):
        return run_tool(commands, "create_detail_page", name=f"Note {number}", detail="…",
                  parent="usr-0").page.index  # fmt: skip

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(make, range(12)))
    assert len(set(made)) == 12
    content = window(commands).messages[0].content
    assert all(f"[{index}]" in content for index in made)


def test_an_unknown_agent_has_no_window(commands):
    with pytest.raises(NotFoundError):
        window(commands)
    with pytest.raises(NotFoundError):
        run_tool(commands, "hide_details", index="usr-1")


def test_folders_have_a_maximum_depth(ada, commands):
    add_interactions(ada, 1)
    parent = "usr-0"
    with pytest.raises(RefusedError, match="too deep"):
        for _ in range(MAX_DEPTH + 1):
            made = run_tool(commands, "create_contents_page", name="Deeper", parent=parent)
            parent = made.page.index
    assert parent == f"usr-{MAX_DEPTH}"
    window(commands)
    with pytest.raises(RefusedError, match="too deep"):
        run_tool(commands, "move_page", source="usr-2", target=parent)
    lowest, above_lowest = f"usr-{MAX_DEPTH}", f"usr-{MAX_DEPTH - 1}"
    with pytest.raises(RefusedError, match="too deep"):
        run_tool(
            commands, "create_contents_page", name="Between", parent=above_lowest, children=[lowest]
        )


def test_other_rules_do_not_change_indexes_that_were_shown(ada, commands):
    add_interactions(ada, 4)
    shown = window(commands).messages[0].content
    commands.settle("ada")
    other = replace(commands, rules=PageRules(active_pages=2))
    add_interactions(ada, 1)
    assert [index for index in ("[usr-3]", "[usr-4]") if index in shown] == ["[usr-3]", "[usr-4]"]
    names = {each.index: each.name for each in tree(other)}
    assert [names[f"usr-{number}"] for number in range(1, 6)] == [
        "Question 0?", "Question 1?", "Question 2?", "Question 3?", "Question 0?",
    ]  # fmt: skip
    commands.settle("nobody")


class Overtaken(PageCommands):
    """New messages arrive after its first ``settle``."""

    def settle(self, agent_id):
        super().settle(agent_id)
        add_interactions(AgentUnderTest(self.database, known=True), 3)


def test_rules_that_change_during_new_messages_do_not_change_shown_indexes(ada, commands):
    add_interactions(ada, 4)
    slow = Overtaken(commands.database, commands.store, COUNTER, commands.rules)
    defaults = configure.Defaults(MemoryParameters(), PageRules())
    configure.run(slow, "ada", {"active_pages": 2}, defaults)
    add_interactions(ada, 1)
    names = {each.index: each.name for each in tree(commands)}
    assert [names[f"usr-{number}"] for number in range(5, 9)] == [
        "Question 0?", "Question 1?", "Question 2?", "Question 0?",
    ]  # fmt: skip


def test_an_agent_cannot_hide_the_current_interaction(ada, commands):
    add_interactions(ada, 1)
    ada.say("And now?")
    run_tool(commands, "create_contents_page", name="Old", parent="usr-0")
    run_tool(commands, "expand_details", index="usr-3")
    run_tool(commands, "move_page", source="usr-2", target="usr-3")
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
            run_tool(commands, verb, **values)
    hidden = run_tool(commands, "create_contents_page", name="Hidden", parent="usr-0").page.index
    with pytest.raises(RefusedError, match="until the user's next message"):
        run_tool(commands, "move_page", source="usr-2", target=hidden)
    run_tool(commands, "undo")
    assert window(commands) == before
    run_tool(commands, "hide_details", index="usr-0")
    run_tool(commands, "expand_details", index="usr-0")
    ada.say("So far so good.", role="assistant")
    ada.say("Thanks!")
    assert not run_tool(commands, "hide_details", index="usr-3").page.expanded, "another goes on"


def test_a_user_message_expands_a_hidden_conversation(ada, commands):
    add_interactions(ada, 2)
    run_tool(commands, "hide_details", index="usr-0")
    assert "(folder, hidden, 2 inside" in window(commands).messages[0].content
    ada.say("Something else", session="s2")
    assert "(folder, hidden" not in window(commands).messages[0].content
    ada.say("And now?")
    assert "And now?" in window(commands).messages[0].content


def test_a_page_recalled_from_another_session_is_in_the_callers_window(ada, commands):
    add_interactions(ada, 10, session="a")
    add_interactions(ada, 1, session="b")
    done = commands.run(
        "ada", Actor.AGENT, [tool_request("recall_page", index="usr-1")], session_id="b"
    )[0]
    assert done.tokens_after > done.tokens_before
    assert (
        "## [usr-1] Question 0? (page, expanded)"
        in window(commands, session_id="b").messages[0].content
    )
    assert "[usr-1]" not in window(commands, session_id="a").messages[0].content
    run_tool(commands, "undo")
    shown = window(commands, session_id="b").messages[0].content
    assert "### [usr-1]" in shown, "it is a line again"
