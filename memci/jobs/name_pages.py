"""``memci.page.name``: puts messages onto pages, and gives pages their names (P6, P7).

Pages are settled here, behind the lane's other work and for all that has come meanwhile at once, so
that appending a message never waits for them. What it costs goes by what is new and by what the
window shows, however large the tree is. Nothing that it does is a step to undo (P17).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memci.domain.context.token_budget import Count
from memci.domain.job import Job, JobKind
from memci.domain.pages.chapters import (
    MOST_ENTRY,
    Outline,
    entry_line,
    fit_line,
    is_valid_outline,
    settle,
    with_outline,
)
from memci.domain.pages.page import Page
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.tree import Tree
from memci.errors import SmallModelAnswerError
from memci.language.detection import Language, language_of
from memci.message import Message, Role
from memci.queue import mailbox
from memci.queue.runner import Effect
from memci.smallmodel.ports import Summarizer, TokenCounter
from memci.storage.agents import page_rules_of
from memci.storage.page_store.port import PageStore
from memci.storage.pages.texts import prefetch_texts, shown_messages
from memci.storage.pages.tree import lock_tree, messages_exist, save_tree, unnamed_pages
from memci.storage.pages.visible_pages import session_viewer
from memci.storage.pages.workspace import WindowSpec, is_batch, open_visible
from memci.storage.session import Connection, Database

# Messages that the summarizer is shown of an interaction: of a longer one its beginning, where it
# is said what is wanted, and its end, where it is said what came of it.
MOST_FIRST, MOST_LAST = 40, 20


def outline_of(
    summarizer: Summarizer, messages: Sequence[Message], language: Language, count: Count
) -> Outline:
    """Return what stands for an interaction; for messages in the middle of a long one stand-ins.

    Raises ``SmallModelAnswerError`` when the summarizer's outline does not fit the messages.
    """
    middle = messages[MOST_FIRST : max(MOST_FIRST, len(messages) - MOST_LAST)]
    shown = [*messages[:MOST_FIRST], *messages[MOST_FIRST + len(middle) :]]
    outline = summarizer.outline(shown, language, count)
    if not is_valid_outline(outline, shown):
        raise SmallModelAnswerError("the summarizer's outline does not fit the messages")
    if not middle:
        return outline
    lines = [fit_line(entry_line(each), MOST_ENTRY, count) for each in middle]
    first, last = outline.entries[:MOST_FIRST], outline.entries[MOST_FIRST:]
    return Outline(outline.name, outline.description, (*first, *lines, *last))


# One job does no more than this, so that others come between: pages, and seconds of thinking.
MOST_NAMED = 16
_LONGEST_S = 2.0
_LOOKED_AT = 500  # characters of each message, to tell its language


@dataclass(frozen=True, slots=True)
class Pages:
    """What notes are kept in, what counts tokens, and the rules of agents that set none."""

    store: PageStore
    counter: TokenCounter
    rules: PageRules


@dataclass(frozen=True, slots=True)
class _Named:
    """What an interaction is to be called, the page it was on, and the messages it was made of."""

    page: Page
    seqs: list[int]
    outline: Outline

    def holds_for(self, tree: Tree) -> bool:
        """Tell whether the page still shows the same, and still waits to be named."""
        page = tree.pages.get(self.page.index)
        return page is not None and page.span == self.page.span and page.has_placeholders


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Pages that are to be named.

    ``texts``: the page store, with what the window shows at hand.
    ``more``: there are messages that were not even looked at.
    """

    pages: Sequence[Page]
    texts: PageStore
    more: bool


class PageNaming:
    """Settles messages and names the interactions that are over, the newest first.

    The current interaction of a session keeps its stand-ins. Who has renamed a page himself keeps
    his name, and gets the lines of its messages.
    """

    kind = JobKind.NAME_PAGES
    triggers_compression = False

    def __init__(
        self,
        database: Database,
        summarizer: Summarizer,
        pages: Pages,
        *,
        most: int = MOST_NAMED,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``clock`` gives seconds; ``most`` pages are named by one job."""
        self._database = database
        self._summarizer = summarizer
        self._pages = pages
        self._most = most
        self._clock = clock

    def prepare(self, job: Job) -> Effect:
        """Read what waits, and have it summed up, with no transaction open."""
        waiting = self._read(job.agent_id)
        done: list[_Named] = []
        looked_at = 0
        ends = self._clock() + _LONGEST_S
        for page in waiting.pages[: self._most]:
            looked_at += 1
            messages = self._messages_of(job.agent_id, page)
            if not messages:
                continue
            language, count = _language_of(messages), self._pages.counter.count
            outline = outline_of(self._summarizer, messages, language, count)
            done.append(_Named(page, [each.seq for each in messages], outline))
            if self._clock() >= ends:
                break
        # Pages without messages are never named: for them alone nobody need look again.
        more = waiting.more or (bool(done) and len(waiting.pages) > looked_at)
        return _Effect(self, job.agent_id, done, waiting.texts, more=more)

    def _read(self, agent_id: str) -> _Waiting:
        texts = prefetch_texts(self._database, self._pages.store, agent_id)
        with self._database.agent_snapshot(agent_id) as connection:
            stored = frozenset(unnamed_pages(connection, agent_id, self._most + 1))
            spec = self._window_spec(connection, agent_id)
            opened, said = open_visible(connection, agent_id, texts, spec, stored)
            tree = opened.workspace.tree
            settle(tree, said, spec.rules, opened.workspace.rendering.own_tokens, spec.count)
            over = sorted(_over(tree, stored), key=lambda each: each[0], reverse=True)
        pages = [page for _, page in over[: self._most + 1]]
        return _Waiting(pages, texts, more=is_batch(said))

    def _messages_of(self, agent_id: str, page: Page) -> Sequence[Message]:
        """Return what a page shows; page by page, since one alone may be long."""
        with self._database.agent_snapshot(agent_id) as connection:
            return shown_messages(connection, agent_id, [page])[page.index]

    def write(
        self, connection: Connection, agent_id: str, done: Sequence[_Named], texts: PageStore
    ) -> tuple[int, int]:
        """Settle, name and bring the window back inside its budget, the tree locked.

        Returns how many messages were settled and how many pages named.
        """
        lock_tree(connection, agent_id)
        spec = self._window_spec(connection, agent_id)
        indexes = [each.page.index for each in done]
        opened, said = open_visible(connection, agent_id, texts, spec, indexes)
        workspace = opened.workspace
        own_tokens = workspace.rendering.own_tokens
        workspace.apply_system_change(
            lambda: settle(workspace.tree, said, spec.rules, own_tokens, spec.count)
        )
        hold = [
            each
            for each in done
            if each.holds_for(workspace.tree) and messages_exist(connection, agent_id, each.seqs)
        ]
        workspace.apply_system_change(lambda: _name(workspace.tree, hold))
        if said or hold:
            opened.fetch_shown()
            workspace.enforce_limits()
            save_tree(connection, agent_id, workspace.tree, opened.version + 1)
        return len(said), len(hold)

    def _window_spec(self, connection: Connection, agent_id: str) -> WindowSpec:
        rules = page_rules_of(connection, agent_id, self._pages.rules)
        return WindowSpec(
            session_viewer(connection, agent_id, None), self._pages.counter.count, rules
        )


@dataclass(frozen=True, slots=True)
class _Effect:
    naming: PageNaming
    agent_id: str
    done: Sequence[_Named]
    texts: PageStore
    more: bool

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        settled, count = self.naming.write(connection, self.agent_id, self.done, self.texts)
        # What has changed meanwhile is looked at anew.
        if self.more or count < len(self.done):
            mailbox.submit_once(connection, self.agent_id, JobKind.NAME_PAGES)
        return {"settled": settled, "named": count}


def _language_of(messages: Sequence[Message]) -> Language:
    """Return the language of an interaction: that of the question.

    A Chinese one that is made of foreign names for the most part is told by its answers.
    """
    texts = [(each.role, each.text[:_LOOKED_AT]) for each in messages]
    asked = " ".join(text for role, text in texts if role is Role.USER)
    is_chinese = any(language_of(word) is Language.CHINESE for word in asked.split())
    if is_chinese and language_of(asked) is not Language.CHINESE:
        return language_of(" ".join(text for _, text in texts))
    return language_of(asked)


def _name(tree: Tree, done: Iterable[_Named]) -> None:
    for each in done:
        tree.put(with_outline(tree[each.page.index], each.outline))


def _over(tree: Tree, stored: Collection[str]) -> Iterator[tuple[int, Page]]:
    """Yield pages of interactions that are over and have stand-ins, each after its number."""
    for page in tree.pages.values():
        if page.has_placeholders and page.span is not None:
            over = tree.latest(page.span.session_id) is not page
            if over or page.index in stored:
                yield page.span.number, page
