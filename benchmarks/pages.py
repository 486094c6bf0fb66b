"""Rendering the context window after a change, also for an agent with very many pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count as counting

from benchmarks.compare import Size, alternate
from benchmarks.report import Bar, Finding
from benchmarks.stage import Stage
from memci.commands.pages.perform import PageCommands, ToolRequest
from memci.domain.pages.page import Page, PageKind
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree
from memci.domain.pages.window_labels import labels_of
from memci.domain.pages.window_text import BlockWriter, Format, PageContent
from memci.language.detection import Language
from memci.message import NewMessage, Role
from memci.queue.intake import Append, append_in
from memci.reading.context_window import Windows
from memci.schemas.tools.table import BY_NAME
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.pages.tree import lock_tree, save_tree
from memci.storage.session import Database

_MANY = 10_000
_IN_FOLDER = 100
_FOLDER = "usr-1"
_TEXT = "What was said of the lake and the mountains, and what was bought for the journey. " * 2
_COUNTER = OfflineTokenCounter()


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Measure rendering in memory, then the window and an operation over the database."""
    runs, many = size.pick(1, 3, 7), size.pick(300, _MANY, _MANY)
    tree = _grown(many)
    yield alternate(
        lambda: _after_a_change(tree), lambda: _whole(tree), runs, "rendering, ms"
    ).finding(
        "rendering after one change",
        "ms",
        "the whole window",
        Bar(1 / 50, at_most=True),
        f"{many:,} pages, {_IN_FOLDER} in a folder, a tenth of them expanded",
    )
    small = _grown(1_000, expanded=1)
    yield Finding(
        "rendering 1,000 expanded pages",
        min(_whole(small) for _ in range(runs)),
        "ms",
        bar=Bar(100.0, at_most=True),
    )
    with stage.database() as database:
        yield from _over_the_database(database, runs, many)


def _grown(pages: int, expanded: int = 10) -> Tree:
    """Return a tree of folders with notes; every ``expanded``-th note is expanded."""
    tree = Tree.new()
    folder = tree["usr-0"]
    for number in range(pages):
        if number % _IN_FOLDER == 0:
            folder = tree.add_page(_page("usr-0", f"Folder {number}", PageKind.CONTENTS))
        tree.add_page(
            replace(_page(folder.index, f"Note {number}"), expanded=number % expanded == 0)
        )
    return tree


def _page(parent: str, name: str, kind: PageKind = PageKind.DETAIL) -> Page:
    return Page(
        index="", kind=kind, segment="usr", parent=parent, place=0, name=name, expanded=True
    )


def _rendering(tree: Tree) -> Rendering:
    writer = BlockWriter(Format.MARKDOWN, labels_of(Language.ENGLISH))
    return Rendering(tree, writer, _COUNTER.count, lambda _: PageContent(text=_TEXT))


def _whole(tree: Tree) -> float:
    return _ms(lambda: _rendering(tree).window())


def _after_a_change(tree: Tree) -> float:
    rendering = _rendering(tree)
    rendering.window()
    index = next(each for each, page in tree.pages.items() if page.name == "Note 10")
    before = tree[index]

    def change() -> None:
        tree.put(replace(before, expanded=not before.expanded))
        rendering.refresh({index: before})
        rendering.window()

    return _ms(change)


def _over_the_database(database: Database, runs: int, many: int) -> Iterator[Finding]:
    """Compare an agent with very many interactions with an agent with few."""
    for agent_id, interactions in (("few", 20), ("many", many)):
        _told(database, agent_id, interactions)
    store, rules = PostgresPageStore(database), PageRules()
    windows = Windows(database, store, _COUNTER, rules)
    commands = PageCommands(database, store, _COUNTER, rules)
    for agent_id in ("few", "many"):
        last = commands.run(agent_id, Actor.DEVELOPER, [_asked("get_children", index="usr-0")])
        commands.run(
            agent_id, Actor.DEVELOPER, [_asked("hide_details", index=last[0].pages[-1].index)]
        )
    note = f"20 interactions, and {many:,}"
    yield alternate(
        lambda: _ms(lambda: windows.show("many")),
        lambda: _ms(lambda: windows.show("few")),
        runs,
        "window, ms",
    ).finding("the window of an agent of many pages", "ms", "of few", Bar(1.5, at_most=True), note)
    turn = counting()

    def operate(agent_id: str) -> float:
        name = "expand_details" if next(turn) % 2 else "hide_details"
        last = commands.run(agent_id, Actor.DEVELOPER, [_asked("get_children", index="usr-0")])
        asked = _asked(name, index=last[0].pages[-2].index)
        return _ms(lambda: commands.run(agent_id, Actor.DEVELOPER, [asked]))

    yield alternate(
        lambda: operate("many"), lambda: operate("few"), runs, "an operation, ms"
    ).finding("an operation on many pages", "ms", "on few", Bar(1.5, at_most=True), note)
    yield _a_large_folder(database, commands, runs, many)


def _a_large_folder(database: Database, commands: PageCommands, runs: int, many: int) -> Finding:
    """Compare the cost per page of removing and restoring a large and a small folder."""
    for agent_id, notes in (("small", _IN_FOLDER), ("large", many)):
        _filed(database, agent_id, notes)

    def per_page(agent_id: str, notes: int) -> float:
        asked = [[_asked("remove_page", index=_FOLDER)], [_asked("undo")]]
        took = _ms(lambda: [commands.run(agent_id, Actor.AGENT, each) for each in asked])
        return took * 1_000 / notes

    return alternate(
        lambda: per_page("large", many),
        lambda: per_page("small", _IN_FOLDER),
        runs,
        "a folder, µs a page",
    ).finding(
        "removing a folder and undoing it, a page",
        "µs",
        "of few",
        Bar(1.5, at_most=True),
        f"{many:,} notes in it, and {_IN_FOLDER}",
    )


def _filed(database: Database, agent_id: str, notes: int) -> None:
    """Make an agent with a folder of notes; their texts do not matter."""
    _told(database, agent_id, 1)
    with database.agent_transaction(agent_id) as connection:
        lock_tree(connection, agent_id)
        tree = Tree.new()
        folder = tree.add_page(_page("usr-0", "Folder", PageKind.CONTENTS))
        for number in range(notes):
            tree.add_page(replace(_page(folder.index, f"Note {number}"), expanded=False))
        save_tree(connection, agent_id, tree, 1)


def _told(database: Database, agent_id: str, interactions: int) -> None:
    messages = [
        NewMessage(role=role, content=f"{_TEXT} {number}")
        for number in range(interactions)
        for role in (Role.USER, Role.ASSISTANT)
    ]
    for start in range(0, len(messages), 500):
        with database.agent_transaction(agent_id) as connection:
            append_in(connection, Append(agent_id, messages[start : start + 500], session_id="s"))


def _asked(name: str, **fields: object) -> ToolRequest:
    tool = BY_NAME[name]
    return ToolRequest(tool, tool.request.model_validate(fields))


def _ms(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1_000
