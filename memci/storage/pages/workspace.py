"""An agent's pages as they are worked on or looked at, with what was said since (P6, P16)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from memci.domain.context.token_budget import Count
from memci.domain.pages.block import BlockWriter, Format
from memci.domain.pages.labels import labels_of
from memci.domain.pages.operations import set_attp_guide
from memci.domain.pages.page import LONGEST_NAME, one_line
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import is_attp_guide
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree, Viewer
from memci.domain.pages.workspace import PageWorkspace
from memci.language.detection import Language, language_of
from memci.message import Message, Role
from memci.schemas.attp import guide_in
from memci.storage.page_store.port import PageStore
from memci.storage.pages.texts import PageTexts, unsettled_messages
from memci.storage.pages.tree import StoredTree, load_sessions, read_tree, read_visible, settled_seq
from memci.storage.pins import Pins, read_pins
from memci.storage.plans import read_plan
from memci.storage.session import Connection
from memci.storage.sessions import language_spoken

# Messages that are put onto pages at once; more of them wait only where an agent has many already
# when its first page is asked for.
_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """Which window is meant: whose, how it is written and counted, by which rules."""

    viewer: Viewer
    count: Count
    rules: PageRules
    format: Format = Format.MARKDOWN


@dataclass(frozen=True, slots=True)
class OpenWorkspace:
    """A workspace, the texts behind it, and the version of the tree that it was opened at.

    ``settled``: how many messages were on no stored page.
    """

    workspace: PageWorkspace
    texts: PageTexts
    version: int
    pins: Pins  # of all users
    settled: int = 0

    def fetch_open(self) -> None:
        """Fetch at once what all open pages hold, also those in closed folders."""
        tree = self.workspace.tree
        self.texts.fetch(
            page
            for page in tree.pages.values()
            if page.expanded and not page.cold and not tree.is_archived(page)
        )

    def fetch_shown(self) -> None:
        """Fetch at once what the open pages of the window hold."""
        rendering = self.workspace.rendering
        self.texts.fetch(
            page
            for segment in rendering.tree.segments.values()
            for page in rendering.visible.shown_pages(segment)
            if page.expanded
        )


def open_workspace(
    connection: Connection, agent_id: str, store: PageStore, view: WindowSpec
) -> OpenWorkspace:
    """Read an agent's pages, and settle all messages that are on none yet.

    Nothing is written. To change something, the tree must have been locked first.
    """
    seq = settled_seq(connection, agent_id)
    said = unsettled_messages(connection, agent_id, seq, _BATCH)
    sessions = frozenset({view.viewer.session_id, *(each.session_id for each in said)})
    stored = read_tree(connection, agent_id, sessions)
    opened = _opened(connection, agent_id, store, view, stored, said)
    tree = opened.workspace.tree
    waited = 0
    while said:
        waited += len(said)
        opened.workspace.settle(said)
        said = (
            unsettled_messages(connection, agent_id, said[-1].seq, _BATCH)
            if len(said) == _BATCH
            else []
        )
        load_sessions(connection, agent_id, tree, {each.session_id for each in said})
    opened.fetch_open()
    # Once, however much has been said: a page that grows is written as often as is looked.
    if waited:
        opened.workspace.enforce_limits()
    else:
        opened.workspace.report_excess()
    return replace(opened, settled=waited)


def open_visible(
    connection: Connection,
    agent_id: str,
    store: PageStore,
    view: WindowSpec,
    named: Collection[str] = (),
) -> tuple[OpenWorkspace, list[Message]]:
    """Read of an agent's pages what the window shows and what is named, however many there are.

    Nothing is settled: returns the messages that wait for it as well, at most a thousand.
    """
    said = unsettled_messages(connection, agent_id, settled_seq(connection, agent_id), _BATCH)
    sessions = frozenset({view.viewer.session_id, *(each.session_id for each in said)})
    stored = read_visible(connection, agent_id, view.viewer, sessions, named)
    return _opened(connection, agent_id, store, view, stored, said), said


def is_batch(said: Sequence[Message]) -> bool:
    """Tell whether these are as many as are put onto pages at once: there may be more."""
    return len(said) == _BATCH


def _opened(
    connection: Connection,
    agent_id: str,
    store: PageStore,
    view: WindowSpec,
    stored: StoredTree,
    said: Sequence[Message],
) -> OpenWorkspace:
    spoken = language_spoken(connection, agent_id, view.viewer)
    language = spoken or language_of_tree(stored.tree, said)
    guide = guide_in(language)
    # Before anything is settled: whoever looks, its index is the same.
    set_attp_guide(stored.tree, on=view.rules.attp, name=guide.name, description=guide.description)
    texts = PageTexts(connection, agent_id, store, guide.text)
    writer = BlockWriter(view.format, labels_of(language))
    pins = read_pins(connection, agent_id)
    stored.tree.viewer = view.viewer
    session, shown = view.viewer.session_id, tuple(filter(view.viewer.sees, pins.pins))
    plan = read_plan(connection, agent_id, view.viewer)
    rendering = Rendering(stored.tree, writer, view.count, texts, session, shown, plan=plan)
    return OpenWorkspace(PageWorkspace(rendering, view.rules), texts, stored.version, pins)


def language_of_tree(tree: Tree, said: Iterable[Message] = ()) -> Language:
    """Return the language that the window of a session speaks in which nobody has: that of names.

    What users have ``said`` that is on no page yet will give pages their names.
    """
    names = (page.name for page in tree.pages.values() if not is_attp_guide(page))
    lines = (one_line(each.text, LONGEST_NAME) for each in said if each.role is Role.USER)
    return language_of(" ".join((*names, *lines)))
