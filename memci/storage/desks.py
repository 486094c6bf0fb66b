"""An agent's pages as they are worked on or looked at, with what was said since (P6, P16)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memci.domain.context.budget import Count
from memci.domain.language import Language, language_of
from memci.domain.message import Message, Role
from memci.domain.pages.block import Format, Writer
from memci.domain.pages.desk import Desk
from memci.domain.pages.guide import is_guide, keep_guide
from memci.domain.pages.labels import labels_of
from memci.domain.pages.page import LONGEST_NAME, one_line
from memci.domain.pages.render import Rendering
from memci.domain.pages.rules import PageRules
from memci.domain.pages.tree import Tree
from memci.shapes.attp_guide import guide_in
from memci.storage.page_store.port import PageStore
from memci.storage.page_texts import PageTexts
from memci.storage.pages import know_sessions, read_tree, settled_seq, unsettled
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


def open_desk(connection: Connection, agent_id: str, store: PageStore, view: View) -> OpenDesk:
    """Read an agent's pages, and settle all messages that are on none yet.

    Nothing is written. To change something, the tree must have been locked first.
    """
    seq = settled_seq(connection, agent_id)
    said = unsettled(connection, agent_id, seq, _BATCH)
    sessions = frozenset({view.session_id, *(each.session_id for each in said)})
    stored = read_tree(connection, agent_id, sessions)
    language = _language(stored.tree, said)
    guide = guide_in(language)
    keep_guide(stored.tree, on=view.rules.attp, name=guide.name, description=guide.description)
    texts = PageTexts(connection, agent_id, store, guide.text)
    texts.fetch(page for page in stored.tree.pages.values() if page.expanded and not page.cold)
    writer = Writer(view.format, labels_of(language))
    rendering = Rendering(stored.tree, writer, view.count, texts, view.session_id)
    desk = Desk(rendering, view.rules)
    while said:
        desk.settle(said)
        said = unsettled(connection, agent_id, said[-1].seq, _BATCH) if len(said) == _BATCH else []
        know_sessions(connection, agent_id, stored.tree, {each.session_id for each in said})
    return OpenDesk(desk, texts, stored.version)


def _language(tree: Tree, said: Iterable[Message]) -> Language:
    """Return the language of an agent's pages, and of what users said that is on none yet."""
    names = (page.name for page in tree.pages.values() if not is_guide(page))
    lines = (one_line(each.text, LONGEST_NAME) for each in said if each.role is Role.USER)
    return language_of(" ".join((*names, *lines)))
