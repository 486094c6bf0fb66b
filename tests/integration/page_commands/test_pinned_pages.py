"""Pages that are pinned, by agents and by developers (P13)."""

from __future__ import annotations

import pytest

from memci.domain.pages.permission import Actor
from memci.domain.pages.tree import PageState
from memci.errors import RefusedError
from memci.schemas.page_tools import answer_for_model
from tests.support.page_asking import do, folder, told, window


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


def test_what_is_pinned_stays_in_the_window_and_is_marked_there(ada, commands):
    told(ada, 2)
    assert answer_for_model(do(commands, "pin_page", index="usr-1"))["pinned"] is True
    told(ada, 10)
    assert "## [usr-1] Question 0? (page, expanded, pinned)" in window(commands).messages[0].content
    assert do(commands, "get_page", index="usr-2").page.state == "archived"
    assert answer_for_model(do(commands, "get_page", index="usr-1"))["page"]["pinned"] is True
    assert "pinned" not in answer_for_model(do(commands, "unpin_page", index="usr-1"))
    told(ada, 1)
    assert do(commands, "get_page", index="usr-1").page.state == "archived"
    with pytest.raises(RefusedError, match="usr-1 is archived: recall_page"):
        do(commands, "pin_page", index="usr-1")
    with pytest.raises(RefusedError, match="usr-1 would be both pinned and archived"):
        do(commands, "undo")


def test_what_a_developer_pins_is_sent_back_to_the_archive_by_no_undo(ada, commands):
    told(ada, 10)
    do(commands, "recall_page", index="usr-1")
    do(commands, "pin_page", Actor.DEVELOPER, index="usr-1")
    before = window(commands)
    with pytest.raises(RefusedError, match="usr-1 would be both pinned and archived"):
        do(commands, "undo")
    assert window(commands) == before
    do(commands, "unpin_page", Actor.DEVELOPER, index="usr-1")
    do(commands, "undo")
    assert do(commands, "get_page", index="usr-1").page.state == "archived"


def test_what_a_developer_pinned_is_put_out_of_sight_by_no_agent(ada, commands):
    told(ada, 3)
    inner = do(commands, "create_contents_page", name="In", parent="usr-0", children=["usr-1"])
    inner, outer = inner.page.index, folder(commands)
    do(commands, "move_page", source=inner, target=outer)
    do(commands, "expand_details", index="usr-1")
    closed = folder(commands)
    do(commands, "pin_page", Actor.DEVELOPER, index="usr-1")
    refused = [
        (verb, {"index": each})
        for verb in ("hide_details", "remove_page")
        for each in ("usr-1", inner, outer)
    ]
    refused += [("move_page", {"source": each, "target": closed}) for each in ("usr-1", inner)]
    refused += [
        ("hide_details", {"index": "usr-0"}),
        ("create_contents_page", {"name": "x", "parent": "usr-0", "children": [outer]}),
    ]
    before = window(commands)
    for verb, values in refused:
        with pytest.raises(RefusedError, match="pinned by the developer"):
            do(commands, verb, **values)
    assert window(commands) == before
    # What it has pinned itself it hides, and what lies beside it, too.
    do(commands, "pin_page", index="usr-2")
    assert not do(commands, "hide_details", index="usr-2").page.expanded
    assert not do(commands, "hide_details", Actor.DEVELOPER, index=outer).page.expanded
    do(commands, "unpin_page", Actor.DEVELOPER, index="usr-1")
    assert do(commands, "remove_page", index="usr-1").page.state == PageState.REMOVED


@pytest.mark.parametrize("done", ["create_detail_page", "expand_details", "move_page"])
def test_an_agent_s_undo_keeps_in_sight_what_a_developer_has_pinned_since(ada, commands, done):
    told(ada, 2)
    closed = do(commands, "create_contents_page", name="x", parent="usr-0", children=["usr-1"])
    values = {
        "create_detail_page": {"name": "New", "detail": "x", "parent": "usr-0"},
        "expand_details": {"index": "usr-1"},
        "move_page": {"source": "usr-1", "target": "usr-0"},
    }
    changed = do(commands, done, **values[done]).page.index
    do(commands, "pin_page", Actor.DEVELOPER, index=changed)
    before = window(commands)
    with pytest.raises(RefusedError, match=f"{changed}, which was pinned by the developer"):
        do(commands, "undo")
    assert window(commands) == before
    do(commands, "unpin_page", Actor.DEVELOPER, index=changed)
    assert changed in do(commands, "undo").changed
    assert not do(commands, "get_page", index=closed.page.index).page.expanded
