"""Operations on a folder take time proportional to its pages, not to their square."""

from __future__ import annotations

import time
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from memci.domain.pages.operations import move_into, remove_page
from memci.domain.pages.page import Page, PageKind
from memci.domain.pages.permission import Actor
from memci.domain.pages.tree import Tree
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


@given(st.lists(st.tuples(st.integers(0, 6), st.none() | st.integers(0, 9))))
def test_pages_of_a_folder_are_ordered_by_place(steps):
    tree, folder = full_folder(7)
    names = [each.index for each in tree.children(folder)]
    removed = set()
    for number, place in steps:
        index = names[number]
        tree.put(
            replace(tree[index], parent=folder if place is not None else None, place=place or 0)
        )
        removed = removed | {index} if place is None else removed - {index}
        inside = tree.children(folder)
        assert [each.place for each in inside] == sorted(each.place for each in inside)
    assert {each.index for each in tree.children(folder)} == {*names} - removed
    assert tree.count(folder) == len(names) - len(removed)


def test_a_changed_page_keeps_its_place():
    tree, folder = full_folder(3)
    first = tree.children(folder)[0]
    tree.put(replace(first, name="y"))
    assert [each.name for each in tree.children(folder)] == ["y", "x", "x"]
