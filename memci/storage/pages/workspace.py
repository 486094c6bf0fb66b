"""Opens an agent's page workspace from the database, with the messages since (P6, P16)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
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

# Messages that are put onto pages at once. More of them wait only if an agent has many messages
# when its pages are first requested.
_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """Describes a window: its viewer, format, token counter and rules."""

    viewer: Viewer
    count: Count
    rules: PageRules
    format: Format = Format.MARKDOWN


@dataclass(frozen=True, slots=True)
class OpenWorkspace:
    """A workspace opened from the database at a version of the tree."""

    workspace: PageWorkspace
    texts: PageTexts
    version: int
    pins: Pins  # of all users
    settled: int = 0  # messages that were on no stored page

    def fetch_open(self) -> None:
        """Fetch the content of all expanded pages at once, those in closed folders, too."""
        tree = self.workspace.tree
        self.texts.fetch(
            page
            for page in tree.pages.values()
            if page.expanded and not page.cold and not tree.is_archived(page)
        )

    def fetch_shown(self) -> None:
        """Fetch the content of the expanded pages of the window at once."""
        rendering = self.workspace.rendering
        self.texts.fetch(
            page
            for segment in rendering.tree.segments.values()
            for page in rendering.visible.shown_pages(segment)
            if page.expanded
        )


def open_workspace(
    connection: Connection, agent_id: str, store: PageStore, spec: WindowSpec
) -> OpenWorkspace:
    """Read an agent's pages, and put new messages onto pages; writes nothing.

    To save changes, the tree must have been locked before.
    """
    seq = settled_seq(connection, agent_id)
    said = unsettled_messages(connection, agent_id, seq, _BATCH)
    sessions = frozenset({spec.viewer.session_id, *(each.session_id for each in said)})
    stored = read_tree(connection, agent_id, sessions)
    opened = _opened(connection, agent_id, store, spec, stored, said)
    batches = _batches(connection, agent_id, opened.workspace.tree, said)
    return replace(opened, settled=opened.workspace.settle_all(batches, opened.fetch_open))


def _batches(
    connection: Connection, agent_id: str, tree: Tree, said: list[Message]
) -> Iterator[list[Message]]:
    """Yield new messages, and load the chapters of their sessions before each further batch."""
    while said:
        yield said
        if not is_batch(said):
            return
        said = unsettled_messages(connection, agent_id, said[-1].seq, _BATCH)
        load_sessions(connection, agent_id, tree, {each.session_id for each in said})


def open_visible(
    connection: Connection,
    agent_id: str,
    store: PageStore,
    spec: WindowSpec,
    named: Collection[str] = (),
) -> tuple[OpenWorkspace, list[Message]]:
    """Read only the pages that the window shows and the ``named`` ones.

    Returns the new messages as well, at most ``_BATCH``, without putting them onto pages.
    """
    said = unsettled_messages(connection, agent_id, settled_seq(connection, agent_id), _BATCH)
    sessions = frozenset({spec.viewer.session_id, *(each.session_id for each in said)})
    stored = read_visible(connection, agent_id, spec.viewer, sessions, named)
    return _opened(connection, agent_id, store, spec, stored, said), said


def is_batch(said: Sequence[Message]) -> bool:
    """Return True if this is a full batch: there may be more messages."""
    return len(said) == _BATCH


def _opened(
    connection: Connection,
    agent_id: str,
    store: PageStore,
    spec: WindowSpec,
    stored: StoredTree,
    said: Sequence[Message],
) -> OpenWorkspace:
    spoken = language_spoken(connection, agent_id, spec.viewer)
    language = spoken or language_of_tree(stored.tree, said)
    guide = guide_in(language)
    # Before new messages get indexes: so the page on ATTP has the same index for every reader.
    set_attp_guide(stored.tree, on=spec.rules.attp, name=guide.name, description=guide.description)
    texts = PageTexts(connection, agent_id, store, guide.text)
    writer = BlockWriter(spec.format, labels_of(language))
    pins = read_pins(connection, agent_id)
    stored.tree.viewer = spec.viewer
    session, shown = spec.viewer.session_id, tuple(filter(spec.viewer.sees, pins.pins))
    plan = read_plan(connection, agent_id, spec.viewer)
    rendering = Rendering(stored.tree, writer, spec.count, texts, session, shown, plan=plan)
    return OpenWorkspace(PageWorkspace(rendering, spec.rules), texts, stored.version, pins)


def language_of_tree(tree: Tree, said: Iterable[Message] = ()) -> Language:
    """Return the language of page names and of new user messages, which will name pages.

    It is the language of a window whose session has no messages.
    """
    names = (page.name for page in tree.pages.values() if not is_attp_guide(page))
    lines = (one_line(each.text, LONGEST_NAME) for each in said if each.role is Role.USER)
    return language_of(" ".join((*names, *lines)))
