"""Operations are undone and redone (P17)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memci.domain.pages.page import MAX_DEPTH, Lifecycle
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.tree import PageState
from memci.errors import RefusedError
from tests.support.page_asking import (
    add_interactions,
    create_nested_folders,
    folder,
    run_tool,
    tool_request,
    tree,
    window,
)


def test_the_undo_of_a_recall_restores_all_pages(ada, commands):
    add_interactions(ada, 12)
    before, pages = window(commands), tree(commands)
    done = run_tool(commands, "recall_page", index="usr-1")
    assert done.changed == ["usr-1"]
    run_tool(commands, "undo")
    assert window(commands) == before
    assert tree(commands) == pages
    run_tool(commands, "redo")
    ada.say("And now?")
    active = [each.index for each in tree(commands)
              if each.first_seq is not None and each.lifecycle is Lifecycle.ACTIVE]  # fmt: skip
    assert "usr-1" in active
    assert len(active) == 8, "the next interaction keeps the chapter to its length"


def test_operations_of_an_agent_are_undone_and_redone(ada, commands):
    add_interactions(ada, 3)
    first = window(commands)
    run_tool(
        commands, "create_contents_page", name="Old", parent="usr-0", children=["usr-1", "usr-2"]
    )
    second = window(commands)
    run_tool(commands, "update_page", index="usr-3", name="The third")
    undone = run_tool(commands, "undo")
    assert undone.operations == ["update_page"]
    assert window(commands) == second
    assert run_tool(commands, "undo").tokens_after == first.tokens
    assert window(commands) == first
    with pytest.raises(RefusedError, match="nothing to undo"):
        run_tool(commands, "undo")
    assert run_tool(commands, "redo").operations == ["create_contents_page"]
    assert window(commands) == second
    run_tool(commands, "redo")
    with pytest.raises(RefusedError, match="nothing to redo"):
        run_tool(commands, "redo")


def test_a_new_operation_removes_undone_ones(ada, commands):
    add_interactions(ada, 2)
    run_tool(commands, "hide_details", index="usr-1")
    run_tool(commands, "undo")
    run_tool(commands, "update_page", index="usr-1", name="Another name")
    with pytest.raises(RefusedError, match="nothing to redo"):
        run_tool(commands, "redo")
    run_tool(commands, "undo")
    assert "Another name" not in window(commands).messages[0].content


def test_an_operation_is_not_undone_if_its_page_changed_since(ada, commands):
    add_interactions(ada, 2)
    run_tool(commands, "update_page", index="usr-1", name="Mine")
    run_tool(commands, "update_page", Actor.DEVELOPER, index="usr-1", name="Ours")
    with pytest.raises(RefusedError, match="changed since"):
        run_tool(commands, "undo")
    assert "Ours" in window(commands).messages[0].content


def test_a_step_during_which_a_page_was_collapsed_is_undone(ada, commands):
    add_interactions(ada, 1)
    small = replace(commands, rules=PageRules(window_max_tokens=500))
    notes = [
        run_tool(
            small, "create_detail_page", name=f"Note {each}", detail="plum " * 300, parent="usr-0"
        )
        for each in range(2)
    ]
    first, second = (each.page.index for each in notes)
    before = window(small).messages
    opening = [tool_request("expand_details", index=each) for each in (first, second)]
    done = small.run("ada", Actor.AGENT, opening)
    assert first in done[1].collapsed
    undone = run_tool(small, "undo")
    assert undone.operations == ["expand_details", "expand_details"]
    assert window(small).messages == before
    assert run_tool(small, "redo").changed == undone.changed
    assert run_tool(small, "get_page", index=second).page.state == PageState.EXPANDED
    for _ in range(2):
        run_tool(small, "undo")
    assert notes[1].page.index not in window(small).messages[0].content


@pytest.mark.parametrize("levels", [MAX_DEPTH - 3, MAX_DEPTH - 2])
@pytest.mark.parametrize("turn", ["undo", "redo"])
def test_undo_and_redo_do_not_exceed_the_maximum_depth(ada, commands, levels, turn):
    add_interactions(ada, 1)
    home = folder(commands)
    page = folder(commands, home if turn == "undo" else "usr-0")
    run_tool(commands, "move_page", source=page, target="usr-0" if turn == "undo" else home)
    if turn == "redo":
        run_tool(commands, "undo")
    lowest = create_nested_folders(commands, "usr-0", levels)
    run_tool(commands, "move_page", Actor.DEVELOPER, source=home, target=lowest)
    before = tree(commands)
    if levels == MAX_DEPTH - 3:
        run_tool(commands, turn)
        assert {each.index: each.parent for each in tree(commands)}[page] == home
    else:
        with pytest.raises(RefusedError, match=f"{page} cannot go back into {home}.*too deep"):
            run_tool(commands, turn)
        assert tree(commands) == before


def test_the_undo_of_a_removal_counts_the_levels_of_the_removed_folder(ada, commands):
    add_interactions(ada, 1)
    home = folder(commands)
    page = folder(commands, home)
    folder(commands, page)
    run_tool(commands, "remove_page", index=page)
    lowest = create_nested_folders(commands, "usr-0", MAX_DEPTH - 3)
    run_tool(commands, "move_page", Actor.DEVELOPER, source=home, target=lowest)
    with pytest.raises(RefusedError, match="too deep"):
        run_tool(commands, "undo")
    run_tool(commands, "move_page", Actor.DEVELOPER, source=home, target="usr-0")
    run_tool(commands, "undo")


def test_a_move_out_of_a_folder_removed_since_is_not_undone(ada, commands):
    add_interactions(ada, 1)
    home = folder(commands)
    page = folder(commands, home)
    run_tool(commands, "move_page", source=page, target="usr-0")
    run_tool(commands, "remove_page", Actor.DEVELOPER, index=home)
    with pytest.raises(RefusedError, match="that was moved or removed"):
        run_tool(commands, "undo")


def test_an_undo_of_an_agent_does_not_hide_the_current_interaction(ada, commands):
    add_interactions(ada, 1)
    run_tool(commands, "hide_details", Actor.DEVELOPER, index="usr-1")
    run_tool(commands, "expand_details", index="usr-1")
    with pytest.raises(RefusedError, match="would hide the interaction"):
        run_tool(commands, "undo")
    run_tool(commands, "hide_details", Actor.DEVELOPER, index="usr-1")
    assert "Question 0?\n```" not in window(commands).messages[0].content, "a developer may"
