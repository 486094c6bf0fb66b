"""An agent with several users: tools for pages see only those of the session's user (R5)."""

from __future__ import annotations

from typing import Any

import pytest

from memci.commands.attp.perform import AttpCommands
from memci.commands.attp.sandbox import Limits, Sandbox
from memci.domain.pages.permission import Actor
from memci.errors import NotFoundError, RefusedError
from tests.support.two_users import SAYS, WORDS, World

CALLS = [
    ("get_page", {"index": "{}"}),
    ("get_children", {"index": "{}"}),
    ("get_parent", {"index": "{}"}),
    ("get_ancestors", {"index": "{}"}),
    ("expand_details", {"index": "{}"}),
    ("hide_details", {"index": "{}"}),
    ("remove_page", {"index": "{}"}),
    ("recall_page", {"index": "{}"}),
    ("pin_page", {"index": "{}"}),
    ("unpin_page", {"index": "{}"}),
    ("update_page", {"index": "{}", "name": "Mine"}),
    ("move_page", {"source": "{}", "target": "usr-0"}),
    ("move_page", {"source": "OWN", "target": "{}"}),
    ("restore_page", {"index": "{}", "parent": "usr-0"}),
    ("create_detail_page", {"name": "n", "detail": "d", "parent": "{}"}),
    ("create_contents_page", {"name": "n", "parent": "{}"}),
    ("create_contents_page", {"name": "n", "parent": "usr-0", "children": ["{}"]}),
]


@pytest.mark.parametrize(("tool", "given"), CALLS)
def test_a_page_of_another_user_counts_as_unknown_to_all_tools(world, tool, given):
    own = world.note("b")
    removed = world.note("a", "Removed")
    folder = world.folder("a", world.note("a"))
    world.do("a", "remove_page", index=removed)

    def refusal(index: str) -> str:
        def filled(value: Any) -> Any:
            if isinstance(value, list):
                return [filled(each) for each in value]
            return value.replace("OWN", own).replace("{}", index)

        with pytest.raises(NotFoundError) as refused:
            world.do("b", tool, **{name: filled(value) for name, value in given.items()})
        return str(refused.value).replace(index, "…")

    unknown = refusal("usr-999")
    for index in {*world.of("a"), removed, folder}:
        assert refusal(index) == unknown


@pytest.mark.parametrize("language", list(SAYS))
def test_only_own_pages_are_found_and_listed(database, tools, language):
    world = World(database, tools, language)
    removed = world.note("a")
    world.do("a", "remove_page", index=removed)
    every = world.do(None, "get_children", Actor.DEVELOPER, index="usr-0").pages
    (archive,) = (each.index for each in every if each.name in {"Contents Page", "目录页"})
    for session, other in (("a", "b"), ("b", "a")):
        word = WORDS[language][other]
        assert world.do(session, "find_pages", query=word, limit=50).pages == []
        (shown,) = [
            each
            for each in world.do(session, "get_children", index="usr-0").pages
            if each.index == archive
        ]
        inside = world.do(session, "get_children", index=archive).pages
        assert shown.children == len(inside) == 3
        assert all(WORDS[language][session] in each.name for each in inside)
    assert len(world.do(None, "get_children", Actor.DEVELOPER, index=archive).pages) == 6


def test_a_shared_folder_shows_each_user_their_own_pages(world):
    folder = world.folder(None, actor=Actor.DEVELOPER)
    mine, other = world.note("a", "A's"), world.note("b", "B's")
    world.do("a", "move_page", source=mine, target=folder)
    world.do("b", "move_page", source=other, target=folder)
    assert f"[{folder}] Folder (folder, hidden, 1 inside" in world.window("b")
    world.do("b", "expand_details", index=folder)
    assert "B's" in world.window("b")
    assert "A's" not in world.window("b")
    for tool, given in (
        ("remove_page", {"index": folder}),
        ("move_page", {"source": folder, "target": world.folder("b")}),
        ("update_page", {"index": folder, "name": "Winifred"}),
    ):
        with pytest.raises(RefusedError, match="only a developer"):
            world.do("b", tool, **given)
    removed = world.do(None, "remove_page", Actor.DEVELOPER, index=folder)
    assert removed.changed


def test_an_agent_cannot_hide_shared_pages_in_a_users_session(world):
    rules = world.note(None, "House rules", Actor.DEVELOPER)
    shared = world.folder(None, actor=Actor.DEVELOPER)
    mine = world.folder("a")
    calls = [
        ("remove_page", {"index": rules}),
        ("move_page", {"source": rules, "target": mine}),
        ("move_page", {"source": rules, "target": shared}),
        ("create_contents_page", {"name": "Mine", "parent": "usr-0", "children": [rules]}),
    ]
    for tool, given in calls:
        with pytest.raises(RefusedError, match=f"all users see {rules}: only a developer"):
            world.do("a", tool, **given)
    assert rules in world.window("b")
    # It may move a page of its user into a shared folder and out again.
    own = world.note("a")
    for target in (shared, mine):
        world.do("a", "move_page", source=own, target=target)
    # A page that a developer moves into a user's folder belongs to that user.
    world.do(None, "move_page", Actor.DEVELOPER, source=rules, target=mine)
    assert world.do("a", "remove_page", index=rules).changed
    with pytest.raises(RefusedError, match="name a folder that all see"):
        world.do("a", "restore_page", index=rules, parent=mine)
    world.do("a", "restore_page", index=rules, parent="usr-0")
    assert rules in world.window("b")


def test_each_user_undoes_their_own_steps(world):
    mine, other = world.note("a"), world.note("b")
    assert world.do("b", "undo").changed == [other]
    with pytest.raises(RefusedError, match="nothing to undo"):
        world.do("b", "undo")
    assert world.do("a", "undo").changed == [mine]
    assert world.do("b", "redo").changed == [other]
    with pytest.raises(RefusedError, match="nothing to redo"):
        world.do("b", "redo")
    assert world.do("a", "redo").changed == [mine]
    # A new step removes the undone steps of its own user only.
    world.do("b", "undo")
    world.do("a", "undo")
    world.note("a")
    with pytest.raises(RefusedError, match="nothing to redo"):
        world.do("a", "redo")
    assert world.do("b", "redo").changed == [other]


def test_code_of_a_model_sees_no_pages_of_other_users(world):
    sandbox = Sandbox(Limits(seconds=2.0, calls=20), processes=1)
    try:
        attp = AttpCommands(world.tools, sandbox)
        hidden = world.of("a")[0]

        def run(code: str) -> str:
            text = f"status = 'success'\ntarget = 't'\ncode = '''\n{code}\n'''\n"
            call = f"thought = 'x'\n[tool_call]\n{text}"
            return attp.run("ada", call, session_id="b").text

        assert "Winifred" in run('__result__ = find_pages(query="Winifred")')
        assert "swordfish" not in run('__result__ = find_pages(query="swordfish")')
        answer = run(f'__result__ = get_page(index="{hidden}")')
        assert "there is no page" in answer
        assert "swordfish" not in answer
    finally:
        sandbox.close()


def test_a_developer_sees_pages_of_all_users(world):
    for session in ("a", "b"):
        for index in world.of(session):
            page = world.do("b", "get_page", Actor.DEVELOPER, index=index).page
            assert page.user_id == {"a": "alice", "b": "bob"}[session]
