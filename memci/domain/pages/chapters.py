"""Messages become pages; pages move from the active chapter to the archive (P6 to P9).

A pure function of the messages: settling them one by one or all at once gives the same tree.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from memci.domain.pages.interaction_outline import entry_line, placeholder_name
from memci.domain.pages.operations import remove_from_tree
from memci.domain.pages.page import (
    SYSTEM,
    USER,
    Page,
    PageKind,
    RecallStats,
    Span,
    session_key,
)
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.tree import Tree
from memci.domain.pages.window_labels import fenced
from memci.domain.token_counts import Count
from memci.message import Message, Role

# Returns the tokens of a page's line on the Contents Page, with its entries.
LineTokens = Callable[[Page], int]
# New entries by page, added at once, so that a page is copied only once.
_NewEntries = dict[str, list[str]]


def settle(
    tree: Tree,
    messages: Iterable[Message],
    rules: PageRules,
    line_tokens: LineTokens,
    count: Count,
) -> None:
    """Put new messages onto pages, in ascending order of seq."""
    entries: _NewEntries = {}
    for message in messages:
        if message.role is Role.SYSTEM:
            _add_system_page(tree, message, count)
        elif _continues_interaction(tree, message):
            _extend(tree, message, entries, count)
        elif not message.is_note:  # a note begins no interaction
            _begin_interaction(tree, message, count)
            # Pages that are listed now, or may be when the chapter is cut, need their entries.
            session = session_key(message.session_id)
            pages = [tree[index] for index in entries]
            due = [each for each in pages if tree.is_archived(each) or each.shown_in == session]
            _add_entries(tree, {each.index: entries.pop(each.index) for each in due})
            archive_old_pages(tree, message.session_id, rules, line_tokens)
        tree.counters = replace(tree.counters, settled_seq=message.seq)
    _add_entries(tree, entries)


def _add_entries(tree: Tree, entries: _NewEntries) -> None:
    for index, lines in entries.items():
        page = tree[index]
        tree.put(replace(page, entries=(*page.entries, *lines)))


def archive_old_pages(
    tree: Tree, session_id: str | None, rules: PageRules, line_tokens: LineTokens
) -> None:
    """Archive pages beyond the length of the active chapter, and remove old lines (P7, P8).

    The current interaction and pinned pages stay; pinned ones do not count (P13).
    """
    latest = tree.latest(session_id)
    current = latest.index if latest is not None else None
    chapter = sorted(
        (page for page in tree.chapter(session_id) if not page.pinned),
        key=lambda page: (page.index == current, page.recalls.entered_at, page.place),
    )
    now, archived = tree.counters.interactions, chapter[: -rules.active_pages]
    if archived and tree.counters.archive is None:
        _begin_archive(tree)
    if tree.counters.archive is None:
        return
    for page in archived:
        recalls = replace(page.recalls, archived_at=now)
        place = tree.take_place()
        tree.put(replace(page, parent=tree.counters.archive, place=place, recalls=recalls))
    for page in tree.children(tree.counters.archive):
        recalls, limit = page.recalls, rules.archive_unused
        since = recalls.archived_at
        if recalls.count:
            since, limit = recalls.last_at, rules.archive_unrecalled
        if not page.pinned and now - since >= limit:
            remove_from_tree(tree, page)
    _fit(tree, tree.counters.archive, rules, line_tokens)


def _continues_interaction(tree: Tree, message: Message) -> bool:
    latest = tree.latest(message.session_id)
    if latest is None or latest.span is None:
        return False
    if latest.user_id and message.user_id and latest.user_id != message.user_id:
        return False  # different users must be on different pages
    return message.role is not Role.USER or not latest.span.answered


def _user_of(message: Message, latest: Page | None) -> str | None:
    return message.user_id or (latest.user_id if latest is not None else None)


def _begin_interaction(tree: Tree, message: Message, count: Count) -> None:
    number = tree.counters.interactions + 1
    tree.counters = replace(tree.counters, interactions=number)
    root = tree[tree.segments[USER].root]
    if not root.expanded:  # the user's message must be visible
        tree.put(replace(root, expanded=True))
    page = _message_page(USER, root.index, message, number, count)
    user = _user_of(message, tree.latest(message.session_id))
    recalls = RecallStats(entered_at=number)
    tree.add_page(replace(page, entries=(entry_line(message),), recalls=recalls, user_id=user))


def _extend(tree: Tree, message: Message, entries: _NewEntries, count: Count) -> None:
    page = tree.latest(message.session_id)
    if page is None or page.span is None:
        raise AssertionError("an interaction that goes on has a page")
    span = replace(page.span, last_seq=message.seq)
    if message.is_note:  # erased with the page, but not shown
        tree.put(replace(page, span=span))
        return
    span = replace(span, answered=span.answered or message.role is not Role.USER)
    tokens = page.content_tokens + _tokens(message, count)
    tree.put(replace(page, span=span, user_id=_user_of(message, page), content_tokens=tokens))
    entries.setdefault(page.index, []).append(entry_line(message))


def _add_system_page(tree: Tree, message: Message, count: Count) -> None:
    page = _message_page(SYSTEM, tree.segments[SYSTEM].root, message, 0, count)
    tree.add_page(replace(page, user_id=message.user_id))


def _message_page(segment: str, parent: str, message: Message, number: int, count: Count) -> Page:
    """Return an expanded page with a message; ``number`` of the interaction, 0 for none."""
    answered = message.role is not Role.USER
    return Page(
        index="",
        kind=PageKind.DETAIL,
        segment=segment,
        parent=parent,
        place=0,
        name=placeholder_name(message),
        expanded=True,
        span=Span(message.seq, message.seq, message.session_id, number, answered),
        content_tokens=_tokens(message, count),
    )


def _tokens(message: Message, count: Count) -> int:
    return count(fenced(message.text, message.role.value)) if message.text else 0


def _begin_archive(tree: Tree) -> None:
    page = Page("", PageKind.CONTENTS, USER, tree.segments[USER].root, 0)
    page = tree.add_page(replace(page, expanded=True, managed=True))
    tree.put(replace(page, place=0))
    tree.counters = replace(tree.counters, archive=page.index)


def _fit(tree: Tree, archive: str, rules: PageRules, line_tokens: LineTokens) -> None:
    """Remove the least recently recalled lines until the Contents Page fits its limit (P8).

    Lines longer than the whole limit go first. The limit applies to the lines that each user sees:
    one user's lines never displace another's, and the result is the same for every viewer.
    """
    lines = tree.children(archive)
    tokens = {page.index: line_tokens(page) for page in lines}
    most = rules.contents_max_tokens - line_tokens(tree[archive])
    if sum(tokens.values()) <= most:
        return

    def order(page: Page) -> tuple[bool, int, int]:
        used = max(page.recalls.last_at, page.recalls.archived_at)
        return tokens[page.index] <= most, used, page.place

    users = {page.user_id for page in lines}

    def readers(page: Page) -> Collection[str | None]:
        return users if page.user_id is None else [page.user_id]

    seen: Counter[str | None] = Counter()  # tokens of the lines that each user sees
    for page in lines:
        seen.update(dict.fromkeys(readers(page), tokens[page.index]))
    for page in sorted(lines, key=order):
        if not page.pinned and any(seen[each] > most for each in readers(page)):
            seen.subtract(dict.fromkeys(readers(page), tokens[page.index]))
            remove_from_tree(tree, page)
