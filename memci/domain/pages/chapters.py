"""Interactions become pages, and pages move from the active chapter through the archive (P6 to P9).

A pure function of what was said: settling messages one by one or many at once gives the same tree.

Lines of messages on their way to pages that go on (P6, P7).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from memci.domain.context.message_list import Count
from memci.domain.pages.labels import fenced
from memci.domain.pages.operations import remove_from_tree
from memci.domain.pages.outline import entry_prefix
from memci.domain.pages.page import (
    SYSTEM,
    USER,
    Page,
    PageKind,
    RecallStats,
    Span,
    one_line,
    session_key,
)
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.tree import Tree
from memci.language.detection import Language, language_of
from memci.message import Message, Role


@dataclass(frozen=True, slots=True)
class EntryBuffer:
    """Gathers lines, and gives a page all of its own at once.

    One by one, a page of very many messages would be copied as often as it has messages.
    """

    tree: Tree
    _lines: dict[str, list[str]] = field(default_factory=dict)

    def add(self, index: str, line: str) -> None:
        """Have a line for a page."""
        self._lines.setdefault(index, []).append(line)

    def give(self, is_due: Callable[[Page], bool] = lambda _: True) -> None:
        """Give their lines to the pages that need them now."""
        for index in list(self._lines):
            page = self.tree[index]
            if is_due(page):
                lines = self._lines.pop(index)
                self.tree.put(replace(page, entries=(*page.entries, *lines)))


# Tokens of a page's line on the Contents Page, with its entries.
LineTokens = Callable[[Page], int]

# What stands in for a name and for the summary of an entry until a small model has made one (P6).
_LONGEST_STAND_IN = 80
# About thirty tokens: a Chinese character is one at least.
_LONGEST_ENTRY = {Language.ENGLISH: 80, Language.CHINESE: 28}


def settle(
    tree: Tree,
    said: Iterable[Message],
    rules: PageRules,
    line_tokens: LineTokens,
    count: Count,
) -> None:
    """Take messages that are not on any page yet into the tree, in the order of their seqs."""
    growing = EntryBuffer(tree)
    for message in said:
        if message.role is Role.SYSTEM:
            _add_system_page(tree, message, count)
        elif _goes_on(tree, message):
            _extend(tree, message, growing, count)
        elif not message.is_note:  # said to nobody, it begins nothing
            _begin(tree, message, count)
            growing.give(partial(_may_be_listed, tree, session_key(message.session_id)))
            archive_old_pages(tree, message.session_id, rules, line_tokens)
        tree.counters = replace(tree.counters, settled_seq=message.seq)
    growing.give()


def _may_be_listed(tree: Tree, session: str, page: Page) -> bool:
    """Tell whether the Contents Page may have a line of a page once a chapter has been kept."""
    return tree.is_archived(page) or page.shown_in == session


def archive_old_pages(
    tree: Tree, session_id: str | None, rules: PageRules, line_tokens: LineTokens
) -> None:
    """Archive what is over the active chapter's length, and let old lines leave (P7, P8).

    The current interaction stays, whatever is recalled meanwhile. What is pinned stays, and takes
    no place of others (P13).
    """
    latest = tree.latest(session_id)
    current = latest.index if latest is not None else None
    chapter = sorted(
        (page for page in tree.chapter(session_id) if not page.pinned),
        key=lambda page: (page.index == current, page.recalls.entered_at, page.place),
    )
    for page in chapter[: -rules.active_pages]:
        _archive(tree, page)
    if tree.counters.archive is None:
        return
    now = tree.counters.interactions
    for page in tree.children(tree.counters.archive):
        if not page.pinned and _is_over(page.recalls, now, rules):
            remove_from_tree(tree, page)
    _fit(tree, tree.counters.archive, rules, line_tokens)


def entry_line(message: Message) -> str:
    """Return the line that stands for a message on the Contents Page until it is summed up (P7)."""
    language = language_of(message.text)
    return entry_prefix(message, language) + one_line(message.text, _LONGEST_ENTRY[language])


def with_placeholders(page: Page, said: Sequence[Message], last_seq: int) -> Page:
    """Return a page of these messages, at least one, as if nobody had named it yet (P6).

    It ends with ``last_seq``: notes that were made on it may come after what was said.
    """
    if page.span is None:
        raise AssertionError("only an interaction's page stands for messages")
    return replace(
        page,
        name=_stand_in_name(said[0]),
        description="",
        named=False,
        summarized=False,
        span=replace(page.span, first_seq=said[0].seq, last_seq=last_seq),
        entries=tuple(entry_line(each) for each in said) if page.span.number else (),
    )


def _stand_in_name(message: Message) -> str:
    return one_line(message.text, _LONGEST_STAND_IN) or message.role.value


def _goes_on(tree: Tree, message: Message) -> bool:
    """Tell whether a message belongs to its session's current interaction (P6)."""
    latest = tree.latest(message.session_id)
    if latest is None or latest.span is None or _is_anothers(latest, message):
        return False
    return message.role is not Role.USER or not latest.span.answered


def _is_anothers(page: Page, message: Message) -> bool:
    """Tell whether a message is of another user than a page, which it must not be on then."""
    return bool(page.user_id and message.user_id and page.user_id != message.user_id)


def _user_of(message: Message, latest: Page | None) -> str | None:
    """Return whose a message is; one that does not say so is of the user that its session is with.

    Who records what an assistant or a tool has said may leave the user out.
    """
    return message.user_id or (latest.user_id if latest is not None else None)


def _begin(tree: Tree, message: Message, count: Count) -> None:
    number = tree.counters.interactions + 1
    tree.counters = replace(tree.counters, interactions=number)
    root = tree[tree.segments[USER].root]
    if not root.expanded:  # what the user says is seen, whatever was hidden before
        tree.put(replace(root, expanded=True))
    tree.add_page(
        Page(
            index="",
            kind=PageKind.DETAIL,
            segment=USER,
            parent=tree.segments[USER].root,
            place=0,
            name=_stand_in_name(message),
            expanded=True,
            span=_span(message, number),
            entries=(entry_line(message),),
            recalls=RecallStats(entered_at=number),
            user_id=_user_of(message, tree.latest(message.session_id)),
            content_tokens=_tokens(message, count),
        )
    )


def _extend(tree: Tree, message: Message, growing: EntryBuffer, count: Count) -> None:
    page = tree.latest(message.session_id)
    if page is None or page.span is None:
        raise AssertionError("an interaction that goes on has a page")
    span = replace(page.span, last_seq=message.seq)
    if message.is_note:  # it goes with the page when that is erased, but is no part of the talk
        tree.put(replace(page, span=span))
        return
    span = replace(span, answered=span.answered or message.role is not Role.USER)
    tree.put(
        replace(
            page,
            span=span,
            user_id=_user_of(message, page),
            content_tokens=page.content_tokens + _tokens(message, count),
        )
    )
    growing.add(page.index, entry_line(message))


def _add_system_page(tree: Tree, message: Message, count: Count) -> None:
    tree.add_page(
        Page(
            index="",
            kind=PageKind.DETAIL,
            segment=SYSTEM,
            parent=tree.segments[SYSTEM].root,
            place=0,
            name=_stand_in_name(message),
            expanded=True,
            span=_span(message, 0),
            user_id=message.user_id,
            content_tokens=_tokens(message, count),
        )
    )


def _tokens(message: Message, count: Count) -> int:
    """Return about what a message takes on an open page."""
    return count(fenced(message.text, message.role.value)) if message.text else 0


def _span(message: Message, number: int) -> Span:
    answered = message.role is not Role.USER
    return Span(message.seq, message.seq, message.session_id, number, answered)


def _archive(tree: Tree, page: Page) -> None:
    archive = tree.counters.archive or _begin_archive(tree)
    recalls = replace(page.recalls, archived_at=tree.counters.interactions)
    tree.put(replace(page, parent=archive, place=tree.take_place(), recalls=recalls))


def _begin_archive(tree: Tree) -> str:
    """Make the Contents Page: before all else of the conversation, and the system's own."""
    page = tree.add_page(
        Page(
            index="",
            kind=PageKind.CONTENTS,
            segment=USER,
            parent=tree.segments[USER].root,
            place=0,
            expanded=True,
            managed=True,
        )
    )
    tree.put(replace(page, place=0))
    tree.counters = replace(tree.counters, archive=page.index)
    return page.index


def _is_over(recalls: RecallStats, now: int, rules: PageRules) -> bool:
    if not recalls.count:
        return now - recalls.archived_at >= rules.archive_unused
    return now - recalls.last_at >= rules.archive_unrecalled


def _fit(tree: Tree, archive: str, rules: PageRules, line_tokens: LineTokens) -> None:
    """Let the least recently recalled lines leave until the Contents Page fits its limit (P8).

    A line that takes more than all may leaves before any other. It is as long as a user sees it,
    with what is hers and what is nobody's: who talks much takes no line from another. Whoever
    looks, the same lines leave.
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
    takes: Counter[str | None] = Counter()
    for page in lines:
        takes.update(dict.fromkeys(_readers(page, users), tokens[page.index]))
    for page in sorted(lines, key=order):
        readers = _readers(page, users)
        if not page.pinned and any(takes[each] > most for each in readers):
            takes.subtract(dict.fromkeys(readers, tokens[page.index]))
            remove_from_tree(tree, page)


def _readers(page: Page, users: Collection[str | None]) -> Collection[str | None]:
    """Return who of these users sees a line."""
    return users if page.user_id is None else [page.user_id]
