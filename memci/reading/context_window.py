"""The context window, pins and plan of an agent (P11, P12, R7)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from memci.domain.pages.collapse import collapse_to, report_excess
from memci.domain.pages.page import Lifecycle
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.pins import Pin
from memci.domain.pages.render import Rendering
from memci.domain.pages.window_labels import labels_of
from memci.domain.pages.window_text import BlockWriter, Format
from memci.domain.token_counts import Utterance
from memci.language.detection import language_of
from memci.message import Role
from memci.queue.job_requests import request_naming_by_read
from memci.reading.lists.cursors import page_of, place_after
from memci.schemas import pages as schemas
from memci.schemas.reads import ContextMessage
from memci.smallmodel.ports import TokenCounter
from memci.storage.agents import snapshot_of
from memci.storage.page_store.port import PageStore
from memci.storage.pages.page_queries import removed_pages, session_viewer
from memci.storage.pages.texts import prefetch_texts
from memci.storage.pages.workspace import Workspace, open_workspace, window_spec
from memci.storage.pins import pinned_pages, read_pins
from memci.storage.plans import read_plan
from memci.storage.reading.messages import message_ids
from memci.storage.session import Connection, Database
from memci.storage.sessions import language_spoken


def _pin_out(pin: Pin, ids: Mapping[int, str]) -> schemas.PinOut:
    return schemas.PinOut(
        **asdict(pin),
        pin=pin.number,
        message=None if pin.message_seq is None else ids.get(pin.message_seq),
    )


LATEST = schemas.WindowRequest()
_LAST = 2**62  # after every place


@dataclass(frozen=True, slots=True)
class Windows:
    """Renders windows. Pages are not written: they are collapsed in the answer only.

    If very many messages are not on pages yet, the job that writes them is requested.
    """

    database: Database
    store: PageStore
    counter: TokenCounter
    rules: PageRules

    def show(self, agent_id: str, asked: schemas.WindowRequest = LATEST) -> schemas.WindowAnswer:
        """Return the window of a session (None: that of the last message).

        It has at most ``budget_tokens`` if the permanent parts allow that (P13); None: the agent's
        limit. Raises ``NotFoundError`` for no agent.
        """
        with self._open(agent_id, asked.session_id, asked.format) as (workspace, _):
            over = _collapse_within(workspace, asked.budget_tokens)
            window = workspace.rendering.window()
        return schemas.WindowAnswer(
            messages=[ContextMessage.of(each) for each in window.messages],
            tokens=window.tokens,
            by_segment=window.by_segment,
            collapsed=list(window.collapsed),
            over=over,
            session_id=workspace.rendering.session_id,
            new_session=workspace.tree.viewer.names_new_session,
            tokenizer=self.counter.tokenizer,
        )

    def pins(self, agent_id: str) -> schemas.PinList:
        """Return the pins of all sessions; raises ``NotFoundError`` for no agent.

        Their tokens are those of a window, in the language of the last speaker.
        """
        with snapshot_of(self.database, agent_id) as connection:
            pins = read_pins(connection, agent_id).pins
            seqs = [each.message_seq for each in pins if each.message_seq is not None]
            ids = message_ids(connection, agent_id, seqs)
            pages = pinned_pages(connection, agent_id)
            spoken = language_spoken(
                connection, agent_id, session_viewer(connection, agent_id, None)
            )
        language = spoken or language_of(" ".join(each.text for each in pins))
        text = BlockWriter(Format.MARKDOWN, labels_of(language)).pins(pins)
        tokens = Utterance(Role.USER, text).tokens(self.counter.count) if text else 0
        return schemas.PinList(
            pins=[_pin_out(each, ids) for each in pins], pages=pages, tokens=tokens
        )

    def plan(self, agent_id: str, session_id: str | None = None) -> schemas.PlanAnswer:
        """Return the plan of a session (None: that of the last message).

        Raises ``NotFoundError`` for no agent.
        """
        with snapshot_of(self.database, agent_id) as connection:
            viewer = session_viewer(connection, agent_id, session_id)
            plan = read_plan(connection, agent_id, viewer)
        return schemas.PlanAnswer.of(plan, viewer.session_id)

    def tree(
        self,
        agent_id: str,
        *,
        session_id: str | None = None,
        lifecycle: Lifecycle | None = None,
    ) -> schemas.PageTree:
        """Return the tree of a session (None: that of the last message), without its texts.

        ``lifecycle``: only pages in this one; pages outside the tree are in ``removed``. Raises
        ``NotFoundError`` for no agent.
        """
        with self._open(agent_id, session_id) as (workspace, _):
            _collapse_within(workspace, None)
            pages = [
                schemas.page_out(workspace.rendering, page.index)
                for segment in workspace.tree.segments.values()
                for page in workspace.rendering.visible.subtree(workspace.tree[segment.root])
            ]
            return _page_tree(
                workspace.rendering, [each for each in pages if lifecycle in {None, each.lifecycle}]
            )

    def removed(
        self,
        agent_id: str,
        *,
        session_id: str | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> schemas.PageTree:
        """List removed pages, the latest first; each stands for all pages inside it.

        Raises ``NotFoundError`` for no agent, ``InvalidInputError`` for a cursor of another list.
        """
        before = _LAST if cursor is None else place_after(cursor)[0]
        with self._open(agent_id, session_id) as (workspace, connection):
            _collapse_within(workspace, None)
            found = {
                page.place: schemas.removed_out(page, inside)
                for page, inside in removed_pages(connection, agent_id, before, limit + 1)
            }
            # Messages without stored pages can remove further pages from the archive.
            for page in workspace.tree.pages.values():
                if page.cold and page.parent is None and page.place < before:
                    found[page.place] = schemas.page_out(workspace.rendering, page.index)
            places, following = page_of(sorted(found, reverse=True), limit, str)
            return _page_tree(workspace.rendering, [found[each] for each in places], following)

    @contextmanager
    def _open(
        self, agent_id: str, session_id: str | None, form: Format = Format.MARKDOWN
    ) -> Iterator[tuple[Workspace, Connection]]:
        """Open a session's window on one snapshot, with its connection."""
        store = prefetch_texts(self.database, self.store, agent_id, session_id)
        with snapshot_of(self.database, agent_id) as connection:
            count = self.counter.count
            spec = window_spec(
                connection, agent_id, count, self.rules, session_id=session_id, form=form
            )
            workspace = open_workspace(connection, agent_id, store, spec)
            yield workspace, connection
        request_naming_by_read(self.database, agent_id, workspace.settled)


def _page_tree(
    rendering: Rendering, pages: list[schemas.PageOut], following: str | None = None
) -> schemas.PageTree:
    tree = rendering.tree
    seen = (
        page
        for segment in tree.segments.values()
        if rendering.visible.count_children(tree[segment.root])
        for page in rendering.visible.shown_pages(segment)
    )
    return schemas.PageTree(
        segments=[schemas.segment_out(each) for each in tree.segments.values()],
        pages=pages,
        session_id=rendering.session_id,
        archive=tree.counters.archive,
        tokens=rendering.tokens(),
        tokens_of={page.index: rendering.own_tokens(page) for page in seen},
        next_cursor=following,
        new_session=tree.viewer.names_new_session,
    )


def _collapse_within(workspace: Workspace, budget_tokens: int | None) -> int:
    """Collapse pages until the window fits; return the remaining excess in tokens."""
    if budget_tokens is None:
        return workspace.enforce_if_over()
    collapse_to(workspace.rendering, budget_tokens)
    return report_excess(workspace.rendering, budget_tokens)
