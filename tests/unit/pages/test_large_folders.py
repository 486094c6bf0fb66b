"""Operations on a folder take time proportional to its pages, not to their square."""

from __future__ import annotations

import time
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from memci.domain.pages.operations import move_into, remove_page
from memci.domain.pages.page import Page, PageKind
from memci.domain.pages.permission import Actor
from memci.domain.pages.tree import OrderedSiblings, Tree
from memci.domain.pages.undo import pending_edits, redo_step, undo_step

FEW, MANY = 200, 8_000


def full_folder(number):
    tree = Tree.new()
    folder = tree.add_page(page("usr-0", PageKind.CONTENTS))
    for _ in range(number):
        tree.add_page(page(folder.index))
    return tree, folder.index


def page(parent, kind=PageKind.DETAIL):
    return Page(index="", kind=kind, segment="usr", parent=parent, place=0, name="x")


def takes_linear_time(operation):
    """Return whether the time per page is about the same for few and many pages."""

    def best_time_per_page(number):
        took = []
        for _ in range(3):
            tree, folder = full_folder(number)
            begun = time.perf_counter()
            operation(tree, folder)
            took.append(time.perf_counter() - begun)
        return min(took) / number

    return best_time_per_page(MANY) < 8 * best_time_per_page(FEW)


def remove_folder(tree, folder):
    tree.changed.clear()
    remove_page(tree, Actor.AGENT, index=folder)
    return pending_edits(tree)


def test_the_removal_of_a_folder_is_undone_and_redone():
    tree, folder = full_folder(3)
    before = tree.children(folder)
    step = remove_folder(tree, folder)
    assert all(each.cold for each in tree.descendants(folder))
    undo_step(tree, step)
    assert tree.children(folder) == before
    redo_step(tree, step)
    assert tree[folder].cold


def test_removing_a_folder_and_undoing_it_take_linear_time():
    def act(tree, folder):
        step = remove_folder(tree, folder)
        undo_step(tree, step)
        redo_step(tree, step)

    assert takes_linear_time(act)


def test_moving_many_pages_and_undoing_it_take_linear_time():
    def act(tree, folder):
        other = tree.add_page(page("usr-0", PageKind.CONTENTS))
        tree.changed.clear()
        for each in tree.children(folder):
            move_into(tree, each, other)
        step = pending_edits(tree)
        undo_step(tree, step)
        assert tree.children(other.index) == []
        redo_step(tree, step)
        assert tree.children(folder) == []

    assert takes_linear_time(act)


def test_loading_pages_in_any_order_takes_linear_time():
    def act(tree, folder):
        pages = {page.index: page for page in reversed(tree.pages.values())}
        again = Tree.from_stored(tree.segments, pages, tree.counters)
        assert again.children(folder) == tree.children(folder)

    assert takes_linear_time(act)


@given(
    st.lists(st.tuples(st.sampled_from("abcdefg"), st.none() | st.integers(0, 9), st.booleans()))
)
def test_siblings_are_ordered_by_place(steps):
    siblings, places = OrderedSiblings(), {}
    for index, place, check in steps:
        if place is None:
            siblings.drop(index)
            places.pop(index, None)
        else:
            siblings.put(index, place)
            places[index] = place
        if check:
            assert [places[each] for each in siblings] == sorted(places.values())
    assert len(siblings) == len(places)
    assert sorted(siblings) == sorted(places)
    assert [places[each] for each in siblings] == sorted(places.values())


def test_a_changed_page_keeps_its_place():
    tree, folder = full_folder(3)
    first = tree.children(folder)[0]
    tree.put(replace(first, name="y"))
    assert [each.name for each in tree.children(folder)] == ["y", "x", "x"]
