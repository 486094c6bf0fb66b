"""An agent's pages as they are worked on or looked at, with what was said since (P6, P16)."""

from __future__ import annotations

from dataclasses import dataclass

from memci.domain.context.budget import Count
from memci.domain.language import Language, language_of
from memci.domain.pages.block import Format, Writer
from memci.domain.pages.desk import Desk
from memci.domain.pages.labels import labels_of
from memci.domain.pages.render import Rendering
from memci.domain.pages.rules import PageRules
from memci.domain.pages.tree import Tree
from memci.storage.page_store.port import PageStore
from memci.storage.page_texts import PageTexts
from memci.storage.pages import know_sessions, read_tree, settled_seq, unsettled
from memci.storage.pins import read_pins
from memci.storage.session import Connection

# Messages that are put onto pages at once; more of them wait only where an agent has many already
# when its first page is asked for.
_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class View:
    """Which window is meant: of which session, how it is written and counted, by which rules."""

    session_id: str | None
    count: Count
    rules: PageRules
    format: Format = Format.MARKDOWN


@dataclass(frozen=True, slots=True)
class OpenDesk:
    """A desk, the texts behind it, and the version of the tree that it was opened at."""

    desk: Desk
    texts: PageTexts
    version: int
    last_pin: int  # the last number that a pin was given


def open_desk(connection: Connection, agent_id: str, store: PageStore, view: View) -> OpenDesk:
    """Read an agent's pages, and settle all messages that are on none yet.

    Nothing is written. To change something, the tree must have been locked first.
    """
    seq = settled_seq(connection, agent_id)
    said = unsettled(connection, agent_id, seq, _BATCH)
    sessions = frozenset({view.session_id, *(each.session_id for each in said)})
    stored = read_tree(connection, agent_id, sessions)
    texts = PageTexts(connection, agent_id, store)
    texts.fetch(page for page in stored.tree.pages.values() if page.expanded and not page.cold)
    writer = Writer(view.format, labels_of(_language(stored.tree)))
    pins = read_pins(connection, agent_id)
    rendering = Rendering(stored.tree, writer, view.count, texts, view.session_id, tuple(pins.pins))
    desk = Desk(rendering, view.rules)
    while said:
        desk.settle(said)
        said = unsettled(connection, agent_id, said[-1].seq, _BATCH) if len(said) == _BATCH else []
        know_sessions(connection, agent_id, stored.tree, {each.session_id for each in said})
    return OpenDesk(desk, texts, stored.version, pins.last)


def _language(tree: Tree) -> Language:
    return language_of(" ".join(page.name for page in tree.pages.values()))
