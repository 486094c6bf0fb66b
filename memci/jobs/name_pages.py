"""``memci.page.name``: puts messages onto pages, and gives pages their names (P6, P7).

Messages are put onto pages after the lane's other work, all new ones at once, so that appending a
message never waits for it. The cost depends on the new messages and on the window, not on the size
of the tree. Nothing here is a step to undo (P17).
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from memci.domain.job import Job, JobKind
from memci.domain.memory.passage import Places
from memci.domain.pages.interaction_outline import (
    MOST_ENTRY,
    Outline,
    entry_line,
    fit_line,
    is_valid_outline,
    with_outline,
)
from memci.domain.pages.page import Page
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.tree import Tree
from memci.domain.token_counts import Count
from memci.errors import SmallModelAnswerError
from memci.language.detection import Language, language_of
from memci.message import Message, Role
from memci.queue import mailbox
from memci.queue.runner import Effect
from memci.smallmodel.ports import Summarizer, TokenCounter
from memci.storage.network.edits import withheld_places
from memci.storage.page_store.port import PageStore
from memci.storage.pages.texts import prefetch_texts, shown_messages
from memci.storage.pages.tree import lock_tree, messages_exist, unnamed_pages
from memci.storage.pages.workspace import is_batch, open_visible, window_spec
from memci.storage.session import Connection, Database

# Messages of a long interaction that the summarizer gets: its beginning with the request, and its
# end with the result.
MOST_FIRST, MOST_LAST = 40, 20


def outline_of(
    summarizer: Summarizer, messages: Sequence[Message], language: Language, count: Count
) -> Outline:
    """Return the outline of an interaction, with placeholders in the middle of a long one."""
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


# Limits of one job, so that others come between: pages, and seconds of the summarizer.
MOST_NAMED = 16
_LONGEST_S = 2.0
_EXAMINED = 500  # characters of each message that decide on its language


@dataclass(frozen=True, slots=True)
class _Named:
    page: Page
    seqs: list[int]  # messages that the outline was made of
    withheld: Places  # parts of them that it was not made of
    outline: Outline

    def is_valid(self, tree: Tree) -> bool:
        """Return True if the page has the same messages, and is still to be named."""
        page = tree.pages.get(self.page.index)
        return page is not None and page.span == self.page.span and page.has_placeholders


@dataclass(frozen=True, slots=True)
class PageNaming:
    """Puts messages onto pages and names finished interactions, the newest first.

    The current interaction of a session keeps its placeholders. A page that was renamed keeps its
    name, and gets the entries of its messages.
    """

    kind = JobKind.NAME_PAGES
    triggers_compression = False

    database: Database
    summarizer: Summarizer
    store: PageStore  # of notes
    counter: TokenCounter
    rules: PageRules  # of agents that set none
    most: int = MOST_NAMED  # pages that one job names
    clock: Callable[[], float] = time.monotonic  # in seconds

    def prepare(self, job: Job) -> Effect:
        """Read the pages, and call the summarizer with no transaction open."""
        pages, texts, more = self._read(job.agent_id)
        done: list[_Named] = []
        looked_at = 0
        ends = self.clock() + _LONGEST_S
        for page in pages[: self.most]:
            looked_at += 1
            with self.database.agent_snapshot(job.agent_id) as connection:
                messages = shown_messages(connection, job.agent_id, [page])[page.index]
                seqs = [each.seq for each in messages]
                withheld = withheld_places(connection, job.agent_id, seqs)
            if not messages:
                continue
            language, count = _language_of(messages), self.counter.count
            outline = outline_of(self.summarizer, messages, language, count)
            done.append(_Named(page, seqs, withheld, outline))
            if self.clock() >= ends:
                break
        # Pages without messages are never named: they need no further job.
        more = more or (bool(done) and len(pages) > looked_at)
        return partial(self._write, agent_id=job.agent_id, done=done, texts=texts, more=more)

    def _read(self, agent_id: str) -> tuple[list[Page], PageStore, bool]:
        """Return pages to name, a store with the texts of the window, and if more must be read."""
        texts = prefetch_texts(self.database, self.store, agent_id)
        with self.database.agent_snapshot(agent_id) as connection:
            stored = frozenset(unnamed_pages(connection, agent_id, self.most + 1))
            spec = window_spec(connection, agent_id, self.counter.count, self.rules)
            workspace, messages = open_visible(connection, agent_id, texts, spec, stored)
            workspace.settle(messages)
            pages = _pages_to_name(workspace.tree, stored)
        return pages[: self.most + 1], texts, is_batch(messages)

    def _write(
        self,
        connection: Connection,
        *,
        agent_id: str,
        done: Sequence[_Named],
        texts: PageStore,
        more: bool,
    ) -> Mapping[str, Any]:
        """Settle, name and collapse, with the tree locked; return numbers of messages and pages."""
        lock_tree(connection, agent_id)
        spec = window_spec(connection, agent_id, self.counter.count, self.rules)
        indexes = [each.page.index for each in done]
        workspace, messages = open_visible(connection, agent_id, texts, spec, indexes)
        workspace.settle(messages)
        tree = workspace.tree
        named = [
            each
            for each in done
            if each.is_valid(tree)
            and messages_exist(connection, agent_id, each.seqs)
            and withheld_places(connection, agent_id, each.seqs) == each.withheld
        ]

        def name() -> None:
            for each in named:
                tree.put(with_outline(tree[each.page.index], each.outline))

        workspace.apply_system_change(name)
        if messages or named:
            workspace.fetch_shown()
            workspace.enforce_limits()
            workspace.save(connection, agent_id)
        # Pages that have changed meanwhile are named by the next job.
        if more or len(named) < len(done):
            mailbox.submit_once(connection, agent_id, JobKind.NAME_PAGES)
        return {"settled": len(messages), "named": len(named)}


def _language_of(messages: Sequence[Message]) -> Language:
    """Return the language of an interaction: that of the question.

    The answers count as well if the question is Chinese but consists mostly of foreign names.
    """
    texts = [(each.role, each.text[:_EXAMINED]) for each in messages]
    question = " ".join(text for role, text in texts if role is Role.USER)
    is_chinese = any(language_of(word) is Language.CHINESE for word in question.split())
    if is_chinese and language_of(question) is not Language.CHINESE:
        return language_of(" ".join(text for _, text in texts))
    return language_of(question)


def _pages_to_name(tree: Tree, stored: Collection[str]) -> list[Page]:
    """Return the pages of finished interactions that have placeholders, newest first."""
    pages = [
        (page.span.number, page)
        for page in tree.pages.values()
        if page.has_placeholders and page.span is not None
        if page.index in stored or tree.latest(page.span.session_id) is not page
    ]
    return [page for _, page in sorted(pages, key=lambda each: each[0], reverse=True)]
