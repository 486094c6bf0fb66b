"""A page that an agent expands stays expanded if there can be room for it (P13)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from memci.domain.pages.collapse import auto_collapse, opening_cost
from memci.domain.pages.operations import create_contents_page, expand_details
from memci.domain.pages.page import Lifecycle
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.tree import Viewer
from memci.errors import RefusedError
from tests.support.chapters import SAID, rendering_of, settled_tree
from tests.support.examples import examples


@settings(max_examples=examples(1_000))
@given(SAID, st.integers(60, 300), st.data())
def test_an_expanded_page_stays_expanded_if_there_can_be_room(said, limit, data):
    tree, messages = settled_tree([(*each[:3], 99) for each in said], PageRules())
    tree.viewer = Viewer("s1")
    for name in ("one", "two", "three"):  # folders, some of them inside others
        inside = [each.index for each in tree.children("usr-0")]
        filed = data.draw(st.sets(st.sampled_from(inside), max_size=3)) if inside else set()
        create_contents_page(
            tree, Actor.DEVELOPER, name=name, description="", parent="usr-0",
            children=sorted(filed),
        )  # fmt: skip
    for index in data.draw(st.sets(st.sampled_from(sorted(tree.pages)))):
        tree.put(replace(tree[index], expanded=True))
    chosen = data.draw(st.sampled_from(sorted(tree.pages)))
    if tree.latest("s1") is not None and chosen == tree.latest("s1").index:
        return
    if tree.is_elsewhere(tree[chosen]):
        with pytest.raises(RefusedError, match="another session"):
            expand_details(tree, Actor.AGENT, index=chosen)
        return
    rendering = rendering_of(tree, messages, "s1")
    rules = PageRules(window_max_tokens=limit)
    tree.changed.clear()
    expand_details(tree, Actor.AGENT, index=chosen)
    rendering.refresh(tree.changed)
    auto_collapse(rendering, rules, opened=[chosen])
    if tree[chosen].expanded and tree.lifecycle(chosen) is Lifecycle.ACTIVE:
        event("open")
        return
    room = opening_cost(rendering, rules, chosen)
    event("no room")
    assert room.takes > room.free
