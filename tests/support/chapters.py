"""Random conversations, settled message by message, and the pages made of them."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

from hypothesis import strategies as st

from memci.domain.pages.chapters import archive_old_pages, settle
from memci.domain.pages.operations import pin_page, recall_page
from memci.domain.pages.page import Page
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree, Viewer
from memci.domain.pages.window_labels import labels_of
from memci.domain.pages.window_text import BlockWriter, Format, PageContent
from memci.errors import RefusedError
from memci.language.detection import Language
from memci.message import Message, Role
from memci.smallmodel.offline.token_counter import OfflineTokenCounter

count = OfflineTokenCounter().count
RULES = st.builds(
    PageRules,
    active_pages=st.integers(1, 4),
    archive_unused=st.integers(1, 6),
    archive_unrecalled=st.integers(1, 8),
    contents_max_tokens=st.sampled_from([0, 60, 200, 2_000]),
)
SAID = st.lists(
    st.tuples(
        st.sampled_from(Role),
        st.sampled_from(["s1", "s2", None]),
        st.text("a #\n`页", max_size=60),
        st.integers(0, 12),  # recalls the archived page of this place before the message, if any
    ),
    max_size=40,
)
# Seq of a message -> place of the page that is pinned (or unpinned) before it.
PINS = st.dictionaries(st.integers(1, 40), st.integers(0, 30), max_size=8)


def messages_of(said, users=None):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        Message(seq, f"m{seq}", role, text or "…", now, None, session, (users or {}).get(session))
        for seq, (role, session, text, _) in enumerate(said, 1)
    ]


def rendering_of(tree, messages, session_id=None, form=Format.MARKDOWN):
    def reads(page: Page) -> PageContent:
        return PageContent(list(messages_of_page(page, messages)))

    return Rendering(tree, BlockWriter(form, labels_of(Language.ENGLISH)), count, reads, session_id)


def messages_of_page(page, messages):
    """The messages of a page: those of its span, session and kind."""
    span = page.span
    for each in messages if span else ():
        if (
            span.first_seq <= each.seq <= span.last_seq
            and each.session_id == span.session_id
            and (each.role is Role.SYSTEM) == (span.number == 0)
        ):
            yield each


def settled_tree(said, rules, users=None, pins=None):
    """Settle messages one by one, with recalls and pins between; return tree and messages."""
    tree, messages = Tree.new(), messages_of(said, users)
    for message, (_, session, _, recall) in zip(messages, said, strict=True):
        rendering = rendering_of(tree, messages)
        archived = tree.children(tree.counters.archive) if tree.counters.archive else []
        if recall < len(archived):
            whose = archived[recall].span.session_id
            tree.viewer = Viewer(whose)
            recall_page(tree, Actor.AGENT, index=archived[recall].index)
            archive_old_pages(tree, whose, rules, rendering.own_tokens)
            assert len(unpinned(tree, whose)) <= rules.active_pages
            assert not tree.is_archived(tree.latest(whose)), "what goes on stays in sight"
        pin(tree, (pins or {}).get(message.seq))
        before, begun = indexes(tree.chapter(session)), tree.counters.interactions
        rendering = rendering_of(tree, messages)
        settle(tree, [message], rules, rendering.own_tokens, rendering.count)
        # A chapter changes when an interaction begins (P7); until then, unpinned pages stay.
        if tree.counters.interactions > begun:
            assert len(unpinned(tree, session)) <= rules.active_pages
        else:
            assert indexes(tree.chapter(session)) == before
    return tree, messages


def pin(tree, which):
    """Pin or unpin the page of this place; do nothing if that is refused."""
    if which is not None:
        page = tree[sorted(tree.pages)[which % len(tree.pages)]]
        with suppress(RefusedError):
            pin_page(tree, Actor.DEVELOPER, index=page.index, pinned=not page.pinned)


def unpinned(tree, session):
    return [each for each in tree.chapter(session) if not each.pinned]


def indexes(pages):
    return [each.index for each in pages]
