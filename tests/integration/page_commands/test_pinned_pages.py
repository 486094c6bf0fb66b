"""Pages pinned by agents and by developers (P13)."""

from __future__ import annotations

import pytest

from memci.domain.pages.permission import Actor
from memci.domain.pages.tree import PageState
from memci.errors import RefusedError
from memci.schemas.tools.pages import answer_for_model
from tests.support.page_asking import add_interactions, folder, run_tool, window


def test_an_agent_cannot_unpin_a_developers_pin(ada, commands):
    add_interactions(ada, 3)
    run_tool(commands, "pin_page", Actor.DEVELOPER, index="usr-1")
    with pytest.raises(RefusedError, match="pinned by the developer"):
        run_tool(commands, "unpin_page", index="usr-1")
    run_tool(commands, "pin_page", index="usr-1")  # adds no pin of the agent
    with pytest.raises(RefusedError, match="pinned by the developer"):
        run_tool(commands, "unpin_page", index="usr-1")
    run_tool(commands, "pin_page", index="usr-2")
    assert run_tool(commands, "unpin_page", index="usr-2").page.pinned is False
    assert run_tool(commands, "unpin_page", Actor.DEVELOPER, index="usr-1").page.pinned is False


def test_a_pinned_page_stays_in_the_window_and_is_marked(ada, commands):
    add_interactions(ada, 2)
    assert answer_for_model(run_tool(commands, "pin_page", index="usr-1"))["pinned"] is True
    add_interactions(ada, 10)
    assert "## [usr-1] Question 0? (page, expanded, pinned)" in window(commands).messages[0].content
    assert run_tool(commands, "get_page", index="usr-2").page.state == "archived"
    assert answer_for_model(run_tool(commands, "get_page", index="usr-1"))["page"]["pinned"] is True
    assert "pinned" not in answer_for_model(run_tool(commands, "unpin_page", index="usr-1"))
    add_interactions(ada, 1)
    assert run_tool(commands, "get_page", index="usr-1").page.state == "archived"
    with pytest.raises(RefusedError, match="usr-1 is archived: recall_page"):
        run_tool(commands, "pin_page", index="usr-1")
    with pytest.raises(RefusedError, match="usr-1 would be both pinned and archived"):
        run_tool(commands, "undo")


def test_an_undo_does_not_archive_a_page_pinned_by_a_developer(ada, commands):
    add_interactions(ada, 10)
    run_tool(commands, "recall_page", index="usr-1")
    run_tool(commands, "pin_page", Actor.DEVELOPER, index="usr-1")
    before = window(commands)
    with pytest.raises(RefusedError, match="usr-1 would be both pinned and archived"):
        run_tool(commands, "undo")
    assert window(commands) == before
    run_tool(commands, "unpin_page", Actor.DEVELOPER, index="usr-1")
    run_tool(commands, "undo")
    assert run_tool(commands, "get_page", index="usr-1").page.state == "archived"


def test_an_agent_cannot_hide_a_page_pinned_by_a_developer(ada, commands):
    add_interactions(ada, 3)
    inner = run_tool(
        commands, "create_contents_page", name="In", parent="usr-0", children=["usr-1"]
    )
    inner, outer = inner.page.index, folder(commands)
    run_tool(commands, "move_page", source=inner, target=outer)
    run_tool(commands, "expand_details", index="usr-1")
    closed = folder(commands)
    run_tool(commands, "pin_page", Actor.DEVELOPER, index="usr-1")
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
            run_tool(commands, verb, **values)
    assert window(commands) == before
    # It may hide its own pinned page, and a developer may hide the folder.
    run_tool(commands, "pin_page", index="usr-2")
    assert not run_tool(commands, "hide_details", index="usr-2").page.expanded
    assert not run_tool(commands, "hide_details", Actor.DEVELOPER, index=outer).page.expanded
    run_tool(commands, "unpin_page", Actor.DEVELOPER, index="usr-1")
    assert run_tool(commands, "remove_page", index="usr-1").page.state == PageState.REMOVED


@pytest.mark.parametrize("done", ["create_detail_page", "expand_details", "move_page"])
def test_an_undo_of_an_agent_does_not_hide_a_page_pinned_by_a_developer(ada, commands, done):
    add_interactions(ada, 2)
    closed = run_tool(
        commands, "create_contents_page", name="x", parent="usr-0", children=["usr-1"]
    )
    values = {
        "create_detail_page": {"name": "New", "detail": "x", "parent": "usr-0"},
        "expand_details": {"index": "usr-1"},
        "move_page": {"source": "usr-1", "target": "usr-0"},
    }
    changed = run_tool(commands, done, **values[done]).page.index
    run_tool(commands, "pin_page", Actor.DEVELOPER, index=changed)
    before = window(commands)
    with pytest.raises(RefusedError, match=f"{changed}, which was pinned by the developer"):
        run_tool(commands, "undo")
    assert window(commands) == before
    run_tool(commands, "unpin_page", Actor.DEVELOPER, index=changed)
    assert changed in run_tool(commands, "undo").changed
    assert not run_tool(commands, "get_page", index=closed.page.index).page.expanded
