"""What is taken back and done again (P17)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memci.domain.pages.page import MAX_DEPTH, Lifecycle
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.tree import PageState
from memci.errors import RefusedError
from tests.support.page_asking import asked, deeper, do, folder, told, tree, window


def test_a_recall_that_is_undone_has_changed_nothing(ada, commands):
    told(ada, 12)
    before, pages = window(commands), tree(commands)
    done = do(commands, "recall_page", index="usr-1")
    assert done.changed == ["usr-1"]
    do(commands, "undo")
    assert window(commands) == before
    assert tree(commands) == pages
    do(commands, "redo")
    ada.say("And now?")
    active = [each.index for each in tree(commands)
              if each.first_seq is not None and each.lifecycle is Lifecycle.ACTIVE]  # fmt: skip
    assert "usr-1" in active
    assert len(active) == 8, "the next interaction keeps the chapter to its length"


def test_what_an_agent_did_is_undone_and_redone(ada, commands):
    told(ada, 3)
    first = window(commands)
    do(commands, "create_contents_page", name="Old", parent="usr-0", children=["usr-1", "usr-2"])
    second = window(commands)
    do(commands, "update_page", index="usr-3", name="The third")
    undone = do(commands, "undo")
    assert undone.operations == ["update_page"]
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


def test_what_the_system_hides_before_a_step_is_over_stands_in_the_way_of_no_undo(ada, commands):
    told(ada, 1)
    small = replace(commands, rules=PageRules(window_max_tokens=500))
    notes = [
        do(small, "create_detail_page", name=f"Note {each}", detail="plum " * 300, parent="usr-0")
        for each in range(2)
    ]
    first, second = (each.page.index for each in notes)
    before = window(small).messages
    opening = [asked("expand_details", index=each) for each in (first, second)]
    done = small.run("ada", Actor.AGENT, opening)
    assert first in done[1].collapsed
    undone = do(small, "undo")
    assert undone.operations == ["expand_details", "expand_details"]
    assert window(small).messages == before
    assert do(small, "redo").changed == undone.changed
    assert do(small, "get_page", index=second).page.state == PageState.EXPANDED
    for _ in range(2):
        do(small, "undo")
    assert notes[1].page.index not in window(small).messages[0].content


@pytest.mark.parametrize("levels", [MAX_DEPTH - 3, MAX_DEPTH - 2])
@pytest.mark.parametrize("turn", ["undo", "redo"])
def test_what_is_undone_or_done_again_lies_no_deeper_than_folders_go(ada, commands, levels, turn):
    told(ada, 1)
    home = folder(commands)
    page = folder(commands, home if turn == "undo" else "usr-0")
    do(commands, "move_page", source=page, target="usr-0" if turn == "undo" else home)
    if turn == "redo":
        do(commands, "undo")
    lowest = deeper(commands, "usr-0", levels)
    do(commands, "move_page", Actor.DEVELOPER, source=home, target=lowest)
    before = tree(commands)
    if levels == MAX_DEPTH - 3:
        do(commands, turn)
        assert {each.index: each.parent for each in tree(commands)}[page] == home
    else:
        with pytest.raises(RefusedError, match=f"{page} cannot go back into {home}.*too deep"):
            do(commands, turn)
        assert tree(commands) == before


def test_what_was_removed_counts_with_all_that_is_in_it_when_that_is_undone(ada, commands):
    told(ada, 1)
    home = folder(commands)
    page = folder(commands, home)
    folder(commands, page)
    do(commands, "remove_page", index=page)
    lowest = deeper(commands, "usr-0", MAX_DEPTH - 3)
    do(commands, "move_page", Actor.DEVELOPER, source=home, target=lowest)
    with pytest.raises(RefusedError, match="too deep"):
        do(commands, "undo")
    do(commands, "move_page", Actor.DEVELOPER, source=home, target="usr-0")
    do(commands, "undo")


def test_what_lies_in_a_removed_folder_is_not_undone_with_a_reason(ada, commands):
    told(ada, 1)
    home = folder(commands)
    page = folder(commands, home)
    do(commands, "move_page", source=page, target="usr-0")
    do(commands, "remove_page", Actor.DEVELOPER, index=home)
    with pytest.raises(RefusedError, match="that was moved or removed"):
        do(commands, "undo")


def test_an_agent_s_undo_keeps_in_sight_what_it_is_answering(ada, commands):
    told(ada, 1)
    do(commands, "hide_details", Actor.DEVELOPER, index="usr-1")
    do(commands, "expand_details", index="usr-1")
    with pytest.raises(RefusedError, match="would hide the interaction"):
        do(commands, "undo")
    do(commands, "hide_details", Actor.DEVELOPER, index="usr-1")
    assert "Question 0?\n```" not in window(commands).messages[0].content, "a developer may"
