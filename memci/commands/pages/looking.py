"""Pages are read, listed and found without being opened (P4); nothing changes by that."""

from __future__ import annotations

from collections.abc import Iterable

from memci.commands.pages.bench import Bench
from memci.domain.pages.finding import score, words_of
from memci.domain.pages.page import Page
from memci.domain.pages.part import Part, part_of, rest_of
from memci.domain.pages.permission import Actor
from memci.domain.pages.viewer import ANYBODY
from memci.shapes.page_tools import FindPages, GetAncestors, GetChildren, GetPage, GetParent
from memci.shapes.pages import PageList, PageText
from memci.storage.page_listing import find_pages

_MOST_ENTRIES = 50


def get_page(bench: Bench, asked: GetPage) -> PageText:
    """Return a page with its text, from an offset on."""
    page = bench.page(asked.index)
    held = bench.opened.texts(page)
    writer = bench.desk.rendering.writer
    said = [f"{writer.speaker(each)}{writer.labels.colon}{each.text}" for each in held.messages]
    text = bench.labels.lost if held.lost else "\n\n".join(said) or held.text
    part = _part(bench, text, asked.offset)
    return PageText(
        page=bench.out(page.index),
        text=part.text,
        entries=_entries(bench, page) if not asked.offset else [],
        next_offset=part.next_offset,
    )


def get_children(bench: Bench, asked: GetChildren) -> PageList:
    """Return what the session sees directly in a folder, from an offset on.

    However much of others was read.
    """
    page, sight = bench.page(asked.index), bench.desk.rendering.sight
    is_agent = bench.actor is Actor.AGENT
    inside = list(sight.inside(page) if is_agent else sight.lying_in(page))
    end = asked.offset + asked.limit
    listed = _listed(bench, inside[asked.offset : end])
    more = len(inside) > end
    return listed.model_copy(update={"next_offset": end}) if more else listed


def get_parent(bench: Bench, asked: GetParent) -> PageList:
    """Return the folder that a page lies in; none of a root."""
    page = bench.page(asked.index)
    return _listed(bench, list(bench.tree.ancestors(page.index))[:1])


def get_ancestors(bench: Bench, asked: GetAncestors) -> PageList:
    """Return the folders above a page, the nearest first."""
    page = bench.page(asked.index)
    return _listed(bench, bench.tree.ancestors(page.index))


def found(bench: Bench, asked: FindPages) -> PageList:
    """Return pages that hold the words of a query, best first, removed ones too."""
    words, known = words_of(asked.query), bench.tree.pages
    shown = [page for page in known.values() if bench.sees(page)]
    within = bench.opened.texts.words_in(shown, words)
    here = [(score(page, words, within.get(page.index, ())), page.index) for page in shown]
    viewer = bench.tree.viewer if bench.actor is Actor.AGENT else ANYBODY
    others = find_pages(bench.connection, bench.agent_id, viewer, words, known, asked.limit)
    scored = sorted([*here, *others], key=lambda hit: (hit[0], _number(hit[1])), reverse=True)
    indexes = [index for held, index in scored[: asked.limit] if held]
    bench.fetch(indexes)
    pages = [bench.tree[index] for index in indexes]
    return _listed(bench, [page for page in pages if bench.sees(page)])


def _part(bench: Bench, text: str, offset: int) -> Part:
    """Return a text from an offset on; for an agent as much of it as a model reads at once."""
    if bench.actor is Actor.AGENT:
        return part_of(text, offset, bench.desk.rendering.count)
    return Part(rest_of(text, offset), None)


def _entries(bench: Bench, page: Page) -> list[str]:
    """Return the lines of a page's messages; for an agent the first ones of very many."""
    return list(page.entries[: _MOST_ENTRIES if bench.actor is Actor.AGENT else None])


def _listed(bench: Bench, pages: Iterable[Page]) -> PageList:
    return PageList(pages=[bench.out(each.index) for each in pages])


def _number(index: str) -> int:
    """Return the number within an index: newer pages have higher ones."""
    return int(index.rpartition("-")[2])
