"""Messages become pages; pages move from the active chapter to the archive (P6 to P9).

A pure function of the messages: settling them one by one or all at once gives the same tree.

Names, descriptions and entries of interactions (P6, P7), limited in tokens and in characters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from memci.domain.context.token_budget import Count
from memci.domain.pages.labels import fenced, labels_of, plain_name
from memci.domain.pages.operations import remove_from_tree
from memci.domain.pages.page import (
    LONGEST_DESCRIPTION,
    LONGEST_ENTRY,
    LONGEST_NAME,
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

# Tokens.
MOST_NAME = 24
MOST_DESCRIPTION = 60
MOST_ENTRY = 40  # P7, its role included

# Characters that a token may stand for; so all lines are within what pages hold (LONGEST_…).
_LONGEST_TOKEN = 8
_LONGEST_SPEAKER = 20

_MORE = "…"


@dataclass(frozen=True, slots=True)
class Outline:
    """Name, description and entries of an interaction: non-empty lines.

    There is one entry for each message; it begins with the speaker.
    """

    name: str
    description: str
    entries: tuple[str, ...]


def entry_prefix(message: Message, language: Language) -> str:
    """Return the beginning of an entry: ``user: ``, or ``user Mira: `` if the name is known."""
    labels = labels_of(language)
    label = labels.roles[message.role.value]
    if message.name and message.role is not Role.TOOL:
        label = f"{label} {one_line(plain_name(message.name), _LONGEST_SPEAKER)}".strip()
    return label + labels.colon


def fit_line(text: str, most: int, count: Count) -> str:
    """Return a text as one line of at most ``most`` tokens and ``8 * most`` characters.

    A cut line ends with "…".
    """
    line = " ".join(text.split())
    fits = len(line) <= most * _LONGEST_TOKEN and count(line) <= most
    return line if fits else _cut(line, most, count)


def with_outline(page: Page, outline: Outline) -> Page:
    """Return a page with an outline; names given by an agent or a developer are kept."""
    return replace(
        page,
        name=page.name if page.named else outline.name,
        description=page.description if page.named and page.description else outline.description,
        entries=outline.entries,
        named=True,
        summarized=True,
    )


def is_valid_outline(outline: Outline, messages: Sequence[Message]) -> bool:
    """Return True if there is an entry for each message and all lines have valid lengths."""
    return (
        len(outline.entries) == len(messages)
        and _is_line(outline.name, LONGEST_NAME)
        and _is_line(outline.description, LONGEST_DESCRIPTION)
        and all(_is_line(each, LONGEST_ENTRY) for each in outline.entries)
    )


def _is_line(text: str, longest: int) -> bool:
    return bool(text) and text == one_line(text, longest)


def _cut(line: str, most: int, count: Count) -> str:
    """Return the longest beginning that fits with "…", found by bisection."""
    least, longest = 0, min(len(line), max(0, most * _LONGEST_TOKEN - len(_MORE)))
    while least < longest:
        middle = (least + longest + 1) // 2
        if count(line[:middle].rstrip() + _MORE) <= most:
            least = middle
        else:
            longest = middle - 1
    cut = whole = line[:least]
    if least < len(line) and line[least : least + 1].isascii() and line[least].isalnum():
        cut = cut.rpartition(" ")[0] or cut
    neat = cut.rstrip(" ,;:，；：、") + _MORE
    return neat if count(neat) <= most else whole.rstrip() + _MORE


@dataclass(frozen=True, slots=True)
class EntryBuffer:
    """Collects entries and adds them to each page at once, so that a page is copied only once."""

    tree: Tree
    _lines: dict[str, list[str]] = field(default_factory=dict)

    def add(self, index: str, line: str) -> None:
        """Collect an entry of a page."""
        self._lines.setdefault(index, []).append(line)

    def flush(self, is_due: Callable[[Page], bool] = lambda _: True) -> None:
        """Add the collected entries to the pages for which ``is_due`` is true."""
        for index in list(self._lines):
            page = self.tree[index]
            if is_due(page):
                lines = self._lines.pop(index)
                self.tree.put(replace(page, entries=(*page.entries, *lines)))


# Returns the tokens of a page's line on the Contents Page, with its entries.
LineTokens = Callable[[Page], int]

# Characters of a placeholder for a name, and of one for an entry, until a small model has written
# them (P6).
_LONGEST_PLACEHOLDER = 80
# About thirty tokens: a Chinese character is one at least.
_LONGEST_ENTRY = {Language.ENGLISH: 80, Language.CHINESE: 28}


def settle(
    tree: Tree,
    said: Iterable[Message],
    rules: PageRules,
    line_tokens: LineTokens,
    count: Count,
) -> None:
    """Put new messages onto pages, in ascending order of seq."""
    entries = EntryBuffer(tree)
    for message in said:
        if message.role is Role.SYSTEM:
            _add_system_page(tree, message, count)
        elif _continues_interaction(tree, message):
            _extend(tree, message, entries, count)
        elif not message.is_note:  # a note begins no interaction
            _begin(tree, message, count)
            entries.flush(partial(_may_be_listed, tree, session_key(message.session_id)))
            archive_old_pages(tree, message.session_id, rules, line_tokens)
        tree.counters = replace(tree.counters, settled_seq=message.seq)
    entries.flush()


def _may_be_listed(tree: Tree, session: str, page: Page) -> bool:
    """Return True if the page is archived, or may be when its chapter is cut."""
    return tree.is_archived(page) or page.shown_in == session


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
    """Return the placeholder of a message's entry, until it is summarized (P7)."""
    language = language_of(message.text)
    return entry_prefix(message, language) + one_line(message.text, _LONGEST_ENTRY[language])


def with_placeholders(page: Page, said: Sequence[Message], last_seq: int) -> Page:
    """Return the page of these messages, at least one, with placeholders for all texts (P6).

    Its span ends with ``last_seq``: notes may come after the messages.
    """
    if page.span is None:
        raise AssertionError("only an interaction's page stands for messages")
    return replace(
        page,
        name=_placeholder_name(said[0]),
        description="",
        named=False,
        summarized=False,
        span=replace(page.span, first_seq=said[0].seq, last_seq=last_seq),
        entries=tuple(entry_line(each) for each in said) if page.span.number else (),
    )


def _placeholder_name(message: Message) -> str:
    return one_line(message.text, _LONGEST_PLACEHOLDER) or message.role.value


def _continues_interaction(tree: Tree, message: Message) -> bool:
    """Return True if a message belongs to its session's current interaction (P6)."""
    latest = tree.latest(message.session_id)
    if latest is None or latest.span is None or _is_of_other_user(latest, message):
        return False
    return message.role is not Role.USER or not latest.span.answered


def _is_of_other_user(page: Page, message: Message) -> bool:
    """Return True if message and page name different users: they must be on different pages."""
    return bool(page.user_id and message.user_id and page.user_id != message.user_id)


def _user_of(message: Message, latest: Page | None) -> str | None:
    """Return the user of a message; by default the user of the session's latest page."""
    return message.user_id or (latest.user_id if latest is not None else None)


def _begin(tree: Tree, message: Message, count: Count) -> None:
    number = tree.counters.interactions + 1
    tree.counters = replace(tree.counters, interactions=number)
    root = tree[tree.segments[USER].root]
    if not root.expanded:  # the user's message must be visible
        tree.put(replace(root, expanded=True))
    tree.add_page(
        Page(
            index="",
            kind=PageKind.DETAIL,
            segment=USER,
            parent=tree.segments[USER].root,
            place=0,
            name=_placeholder_name(message),
            expanded=True,
            span=_span(message, number),
            entries=(entry_line(message),),
            recalls=RecallStats(entered_at=number),
            user_id=_user_of(message, tree.latest(message.session_id)),
            content_tokens=_tokens(message, count),
        )
    )


def _extend(tree: Tree, message: Message, entries: EntryBuffer, count: Count) -> None:
    page = tree.latest(message.session_id)
    if page is None or page.span is None:
        raise AssertionError("an interaction that goes on has a page")
    span = replace(page.span, last_seq=message.seq)
    if message.is_note:  # erased with the page, but not shown
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
    entries.add(page.index, entry_line(message))


def _add_system_page(tree: Tree, message: Message, count: Count) -> None:
    tree.add_page(
        Page(
            index="",
            kind=PageKind.DETAIL,
            segment=SYSTEM,
            parent=tree.segments[SYSTEM].root,
            place=0,
            name=_placeholder_name(message),
            expanded=True,
            span=_span(message, 0),
            user_id=message.user_id,
            content_tokens=_tokens(message, count),
        )
    )


def _tokens(message: Message, count: Count) -> int:
    """Return about how many tokens a message takes on an expanded page."""
    return count(fenced(message.text, message.role.value)) if message.text else 0


def _span(message: Message, number: int) -> Span:
    answered = message.role is not Role.USER
    return Span(message.seq, message.seq, message.session_id, number, answered)


def _archive(tree: Tree, page: Page) -> None:
    archive = tree.counters.archive or _begin_archive(tree)
    recalls = replace(page.recalls, archived_at=tree.counters.interactions)
    tree.put(replace(page, parent=archive, place=tree.take_place(), recalls=recalls))


def _begin_archive(tree: Tree) -> str:
    """Create the Contents Page: the first page of the conversation, managed by the system."""
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
    """Remove the least recently recalled lines until the Contents Page fits its limit (P8).

    Lines longer than the whole limit go first. The limit holds for the lines that each user sees:
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
    takes: Counter[str | None] = Counter()
    for page in lines:
        takes.update(dict.fromkeys(_readers(page, users), tokens[page.index]))
    for page in sorted(lines, key=order):
        readers = _readers(page, users)
        if not page.pinned and any(takes[each] > most for each in readers):
            takes.subtract(dict.fromkeys(readers, tokens[page.index]))
            remove_from_tree(tree, page)


def _readers(page: Page, users: Collection[str | None]) -> Collection[str | None]:
    """Return those of the users who see a line."""
    return users if page.user_id is None else [page.user_id]
