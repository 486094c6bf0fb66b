"""The ATTP guide page lists every function, and its example is a valid call."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memci.commands.attp.protocol import read_answer
from memci.domain.pages.operations import (
    create_contents_page,
    create_detail_page,
    expand_details,
    hide_details,
    move_page,
    remove_page,
    restore_page,
    set_attp_guide,
    update_page,
)
from memci.domain.pages.page import Permission
from memci.domain.pages.permission import Actor, is_attp_guide, permission_of
from memci.domain.pages.tree import Tree
from memci.errors import RefusedError
from memci.language.detection import Language, language_of
from memci.schemas.attp import AttpStatus, guide_in
from memci.schemas.tools.table import TOOLS, tools_in_code


@pytest.mark.parametrize("language", Language)
def test_the_guide_lists_every_function_in_the_agents_language(language: Language):
    guide = guide_in(language)
    lines = guide.text.splitlines()
    for tool in tools_in_code():
        (line,) = (each for each in lines if each.startswith(f"- {tool.name}("))
        assert ("): " + tool.description in line) is (language is Language.ENGLISH)
    assert language_of(guide.name + guide.description) is language
    assert not any(f"{tool.name}(" in guide.text for tool in TOOLS if not tool.for_agents)


@pytest.mark.parametrize("language", Language)
def test_the_example_of_the_guide_is_a_valid_call(language: Language):
    call = read_answer(f"thought ={_rest(language)}")
    assert call.status is AttpStatus.SUCCESS
    assert call.target == "usr-12"


def _rest(language: Language) -> str:
    """Return the text after ``thought =`` in the example, up to the end of its code."""
    example = guide_in(language).text.partition("thought =")[2]
    return example[: example.index("\n'''\n") + 5]


def test_the_guide_shows_the_defaults_of_optional_arguments():
    assert "- update_page(index, name=None, description=None)" in guide_in(Language.ENGLISH).text
    assert "- create_contents_page(name, parent, description='', children=[])" in (
        guide_in(Language.ENGLISH).text
    )


def test_the_guide_lists_the_fields_that_functions_return():
    text = guide_in(Language.ENGLISH).text
    assert "- get_page: page, text, entries, next_offset\n" in text
    assert "- page, pages[0]: index, kind, segment, parent, name, description, expanded" in text


def test_the_guide_page_is_created_once_renamed_and_removed():
    tree = Tree.new()
    set_attp_guide(tree, on=False, name="a", description="b")
    assert [each.index for each in tree.children("sys-0")] == []
    for name in ("a", "a", "c"):
        set_attp_guide(tree, on=True, name=name, description="b")
        (page,) = tree.children("sys-0")
        assert (page.index, page.name, page.expanded) == ("sys-1", name, True)
        assert is_attp_guide(page)
        assert permission_of(tree, page) is Permission.SYSTEM_MANAGED
    set_attp_guide(tree, on=False, name="a", description="b")
    assert tree.children("sys-0") == []
    assert tree["sys-1"].cold


def test_another_page_in_the_same_folder_is_not_the_guide():
    tree = Tree.new()
    set_attp_guide(tree, on=True, name="a", description="b")
    other = create_detail_page(tree, Actor.DEVELOPER, name="Rules", description="", parent="sys-0")
    assert not is_attp_guide(other)
    set_attp_guide(tree, on=False, name="a", description="b")
    assert [each.index for each in tree.children("sys-0")] == [other.index]


@pytest.mark.parametrize("actor", Actor)
def test_no_actor_can_change_the_guide(actor: Actor):
    tree = Tree.new()
    set_attp_guide(tree, on=True, name="a", description="b")
    folder = create_contents_page(
        tree, Actor.DEVELOPER, name="Aside", description="", parent="sys-0"
    )
    before = dict(tree.pages)
    for change in (
        lambda: update_page(tree, actor, index="sys-1", name="Mine"),
        lambda: hide_details(tree, actor, index="sys-1"),
        lambda: move_page(tree, actor, source="sys-1", target=folder.index),
        lambda: remove_page(tree, actor, index="sys-1"),
    ):
        with pytest.raises(
            RefusedError, match=r"sys-1 explains ATTP, .* attp is on in the agent's"
        ):
            change()
    assert tree.pages == before
    assert expand_details(tree, actor, index="sys-1").expanded
    set_attp_guide(tree, on=False, name="a", description="b")
    with pytest.raises(RefusedError, match="it is there while attp is on"):
        restore_page(tree, actor, index="sys-1", parent="sys-0")
    assert tree["sys-1"].cold


def test_a_hidden_guide_is_expanded_again():
    tree = Tree.new()
    set_attp_guide(tree, on=True, name="a", description="b")
    tree.put(replace(tree["sys-1"], expanded=False))
    set_attp_guide(tree, on=True, name="a", description="b")
    assert tree["sys-1"].expanded
