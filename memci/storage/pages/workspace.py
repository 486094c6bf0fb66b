"""The page tree of one operation, with the window over it, before it is saved (P6 to P8, P13, P16).

First new messages are put onto pages, then operations change the tree, then pages are collapsed
until the window fits its token limits.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from memci.domain.pages import chapters
from memci.domain.pages.collapse import auto_collapse, report_excess
from memci.domain.pages.operations import set_attp_guide
from memci.domain.pages.page import LONGEST_NAME, Page, one_line
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import is_attp_guide
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree, Viewer
from memci.domain.pages.undo import Edit, pending_edits
from memci.domain.pages.window_labels import labels_of
from memci.domain.pages.window_text import BlockWriter, Format
from memci.domain.token_counts import Count
from memci.language.detection import Language, language_of
from memci.message import Message, Role
from memci.schemas.attp import guide_in
from memci.storage.agents import parameters_of
from memci.storage.page_store.port import PageStore
from memci.storage.pages.page_queries import session_viewer
from memci.storage.pages.texts import PageTexts, unsettled_messages
from memci.storage.pages.tree import (
    StoredTree,
    load_sessions,
    read_tree,
    read_visible,
    save_tree,
    settled_seq,
)
from memci.storage.pins import Pins, read_pins
from memci.storage.plans import read_plan
from memci.storage.session import Connection
from memci.storage.sessions import language_spoken

# Messages that are put onto pages at once. More of them wait only if an agent has many messages
# when its pages are first requested.
_BATCH = 1_000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """Describes a window: its viewer, format, token counter and rules."""

    viewer: Viewer
    count: Count
    rules: PageRules
    format: Format = Format.MARKDOWN


def window_spec(
    connection: Connection,
    agent_id: str,
    count: Count,
    default_rules: PageRules,
    *,
    session_id: str | None = None,
    form: Format = Format.MARKDOWN,
) -> WindowSpec:
    """Return the specification of a session's window (None: that of the last message)."""
    rules = parameters_of(connection, agent_id, default_rules)
    return WindowSpec(session_viewer(connection, agent_id, session_id), count, rules, form)


@dataclass
class Workspace:
    """The page tree of one operation, and the window of one session over it."""

    rendering: Rendering
    rules: PageRules
    texts: PageTexts
    version: int  # of the stored tree
    pins: Pins  # of all users
    settled: int = 0  # messages that were on no stored page
    over: int = 0  # tokens by which the window exceeds a limit; 0: it fits
    _edits: list[Edit] = field(default_factory=list)  # requested changes, without the system's own

    @property
    def tree(self) -> Tree:
        """The tree that is edited."""
        return self.rendering.tree

    def settle(self, messages: Iterable[Message]) -> None:
        """Put new messages onto pages; call ``enforce_limits`` afterwards."""
        own_tokens, count = self.rendering.own_tokens, self.rendering.count
        self.apply_system_change(
            lambda: chapters.settle(self.tree, messages, self.rules, own_tokens, count)
        )

    def do(self, operation: Callable[[], T]) -> tuple[T, list[Edit]]:
        """Run a requested change; return its result and edits. An error spoils the workspace."""
        self.tree.counters = replace(self.tree.counters, notice=())
        with _watching(self.tree) as changed:
            result = operation()
            edits = pending_edits(self.tree)
        self._edits += edits
        self.rendering.refresh(changed)
        return result, edits

    def apply_system_change(self, change: Callable[[], None]) -> None:
        """Run a change of the system, which cannot be undone (P17)."""
        with _watching(self.tree) as changed:
            change()
        self.rendering.refresh(changed)

    def enforce_limits(self) -> None:
        """Collapse pages until the window fits its limits (P13).

        Chapters are cut to their length only when an interaction begins (P7).
        """
        touched = dict.fromkeys(each.index for each in reversed(self._edits))
        opened = [index for index in reversed(touched) if self.tree[index].expanded]
        with _watching(self.tree):
            auto_collapse(self.rendering, self.rules, opened)
        self.report_excess()

    def enforce_if_over(self) -> int:
        """Collapse a window that exceeds a limit; return the tokens by which it still does."""
        if self.over:
            self.enforce_limits()
        return self.over

    def report_excess(self) -> None:
        """Set ``over``, and show in the window by how much it exceeds its limit (P13)."""
        over = [
            self.rendering.tokens_of(each) - each.max_tokens
            for each in self.tree.segments.values()
            if each.max_tokens
        ]
        self.over = max(0, report_excess(self.rendering, self.rules.window_max_tokens), *over)

    def fetch_open(self) -> None:
        """Fetch the content of all expanded pages at once, those in closed folders, too."""
        pages = self.tree.pages.values()
        self.texts.fetch(
            each
            for each in pages
            if each.expanded and not (each.cold or self.tree.is_archived(each))
        )

    def fetch_shown(self) -> None:
        """Fetch the content of the expanded pages of the window at once."""
        shown = self.rendering.visible.shown_pages
        segments = self.tree.segments.values()
        self.texts.fetch(page for each in segments for page in shown(each) if page.expanded)

    def save(self, connection: Connection, agent_id: str) -> None:
        """Write the changed pages and the tree. The tree must be locked."""
        save_tree(connection, agent_id, self.tree, self.version + 1)


@contextmanager
def _watching(tree: Tree) -> Iterator[dict[str, Page | None]]:
    """Collect the changes made within the block, and add them to the earlier ones."""
    before, tree.changed = tree.changed, {}
    changed = tree.changed
    try:
        yield changed
    finally:
        tree.changed = {**changed, **before}


def open_workspace(
    connection: Connection, agent_id: str, store: PageStore, spec: WindowSpec
) -> Workspace:
    """Read an agent's pages, put new messages onto pages, and collapse; writes nothing.

    To save changes, the tree must have been locked before.
    """
    messages, sessions = _new_messages(connection, agent_id, spec.viewer)
    stored = read_tree(connection, agent_id, sessions)
    workspace = _workspace(connection, agent_id, store, spec, stored, messages)
    while messages:
        workspace.settle(messages)
        workspace.settled += len(messages)
        if not is_batch(messages):
            break
        messages = unsettled_messages(connection, agent_id, messages[-1].seq, _BATCH)
        load_sessions(connection, agent_id, workspace.tree, {each.session_id for each in messages})
    workspace.fetch_open()
    if workspace.settled:
        workspace.enforce_limits()
    else:
        workspace.report_excess()
    return workspace


def open_visible(
    connection: Connection,
    agent_id: str,
    store: PageStore,
    spec: WindowSpec,
    named: Collection[str] = (),
) -> tuple[Workspace, list[Message]]:
    """Read only the pages that the window shows and the ``named`` ones.

    Returns the new messages as well, at most ``_BATCH``, without putting them onto pages.
    """
    messages, sessions = _new_messages(connection, agent_id, spec.viewer)
    stored = read_visible(connection, agent_id, spec.viewer, sessions, named)
    return _workspace(connection, agent_id, store, spec, stored, messages), messages


def is_batch(messages: Sequence[Message]) -> bool:
    """Return True if this is a full batch: there may be more messages."""
    return len(messages) == _BATCH


def _new_messages(
    connection: Connection, agent_id: str, viewer: Viewer
) -> tuple[list[Message], frozenset[str | None]]:
    """Return the first batch of messages without a page, and their sessions with the viewer's."""
    seq = settled_seq(connection, agent_id)
    messages = unsettled_messages(connection, agent_id, seq, _BATCH)
    return messages, frozenset({viewer.session_id, *(each.session_id for each in messages)})


def _workspace(
    connection: Connection,
    agent_id: str,
    store: PageStore,
    spec: WindowSpec,
    stored: StoredTree,
    messages: Sequence[Message],
) -> Workspace:
    tree, viewer = stored.tree, spec.viewer
    language = language_spoken(connection, agent_id, viewer) or _language_of(tree, messages)
    guide = guide_in(language)
    # Before new messages get indexes: so the page on ATTP has the same index for every reader.
    set_attp_guide(tree, on=spec.rules.attp, name=guide.name, description=guide.description)
    texts = PageTexts(connection, agent_id, store, guide.text)
    writer = BlockWriter(spec.format, labels_of(language))
    pins = read_pins(connection, agent_id)
    tree.viewer = viewer
    visible_pins = tuple(filter(viewer.sees, pins.pins))
    plan = read_plan(connection, agent_id, viewer)
    rendering = Rendering(
        tree, writer, spec.count, texts, viewer.session_id, visible_pins, plan=plan
    )
    return Workspace(rendering, spec.rules, texts, stored.version, pins)


def _language_of(tree: Tree, messages: Iterable[Message]) -> Language:
    """Return the language of page names and of new user messages, which will name pages.

    It is the language of a window whose session has no messages.
    """
    names = (page.name for page in tree.pages.values() if not is_attp_guide(page))
    lines = (one_line(each.text, LONGEST_NAME) for each in messages if each.role is Role.USER)
    return language_of(" ".join((*names, *lines)))
