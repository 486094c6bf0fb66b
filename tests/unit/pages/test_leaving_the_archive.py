"""A line leaves the Contents Page after a number of interactions (P8)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memci.domain.pages.chapters import settle
from memci.domain.pages.operations import pin_page, recall_page
from memci.domain.pages.page import Lifecycle, Page
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

NOW = datetime(2026, 1, 1, tzinfo=UTC)
# One interaction is active; it is archived when the next one begins.
RULES = PageRules(active_pages=1, archive_unused=5, archive_unrecalled=7)


class GrowingConversation:
    """A conversation that grows by one interaction at a time."""

    def __init__(self, rules: PageRules = RULES) -> None:
        self.tree, self.rules = Tree.new(), rules
        self.tokens: dict[str, int] = {}
        self.tree.viewer = Viewer("s1")

    def until(self, interaction: int) -> Tree:
        """Add interactions until there are so many."""
        while self.tree.counters.interactions < interaction:
            self.talk()
        return self.tree

    def talk(self, user: str | None = None, session: str = "s1") -> None:
        """Add an interaction."""
        number = self.tree.counters.interactions + 1
        messages = [
            Message(2 * number - 1, f"q{number}", Role.USER, "?", NOW, None, session, user),
            Message(2 * number, f"a{number}", Role.ASSISTANT, "!", NOW, None, session, user),
        ]
        settle(self.tree, messages, self.rules, self.tokens_of, len)

    def tokens_of(self, page: Page) -> int:
        """Return the tokens of a line: one, unless `tokens` has another number."""
        return self.tokens.get(page.index, 1)

    def lines(self) -> list[int]:
        """Return the interactions that the Contents Page lists."""
        archive = self.tree.children(self.tree.counters.archive or "")
        return [each.span.number for each in archive if each.span]


@pytest.mark.parametrize("unused", [1, 5, PageRules().archive_unused])
def test_a_line_without_a_recall_leaves_after_archive_unused_interactions(unused):
    chat = GrowingConversation(PageRules(active_pages=1, archive_unused=unused))
    archived_at = 2
    tree = chat.until(archived_at)
    assert tree.is_archived(tree["usr-1"])
    assert tree["usr-1"].recalls.archived_at == archived_at
    assert tree.is_archived(chat.until(archived_at + unused - 1)["usr-1"])
    assert tree.lifecycle("usr-1") is Lifecycle.HOT_ARCHIVED
    assert chat.until(archived_at + unused).lifecycle("usr-1") is Lifecycle.COLD_ARCHIVED
    assert chat.until(archived_at + unused + 1)["usr-1"].parent is None


@pytest.mark.parametrize("unrecalled", [2, 7, PageRules().archive_unrecalled])
def test_a_recalled_line_leaves_after_archive_unrecalled_interactions(unrecalled):
    chat = GrowingConversation(
        PageRules(active_pages=1, archive_unused=3, archive_unrecalled=unrecalled)
    )
    recalled_at = 4  # the last interaction before it would leave
    tree = chat.until(recalled_at)
    recall_page(tree, Actor.AGENT, index="usr-1")
    assert tree["usr-1"].recalls.last_at == recalled_at
    assert tree.is_archived(chat.until(recalled_at + unrecalled - 1)["usr-1"])
    assert chat.until(recalled_at + unrecalled).lifecycle("usr-1") is Lifecycle.COLD_ARCHIVED


def test_each_recall_restarts_the_count():
    chat = GrowingConversation()
    tree = chat.until(6)
    recall_page(tree, Actor.AGENT, index="usr-1")
    chat.until(12)
    recall_page(tree, Actor.AGENT, index="usr-1")
    assert chat.until(18).is_archived(tree["usr-1"])
    assert tree["usr-1"].recalls.count == 2
    assert chat.until(19).lifecycle("usr-1") is Lifecycle.COLD_ARCHIVED


def test_the_token_limit_holds_exactly():
    """Here the heading of the Contents Page has one token, like each line."""
    chat = GrowingConversation(PageRules(active_pages=1, contents_max_tokens=4))
    chat.until(4)
    assert chat.lines() == [1, 2, 3]
    chat.until(5)
    assert chat.lines() == [2, 3, 4]


def test_a_user_with_many_lines_removes_no_line_of_another_user():
    chat = GrowingConversation(PageRules(active_pages=1, contents_max_tokens=4))
    for _ in range(3):
        chat.talk("bob", "b")
    for _ in range(9):
        chat.talk("alice", "a")
    # Two lines of bob and the last three of alice; the newest interaction of each is expanded.
    assert chat.lines() == [1, 2, 9, 10, 11]


def test_a_line_for_all_users_counts_for_each_user():
    chat = GrowingConversation(PageRules(active_pages=1, contents_max_tokens=4))
    chat.talk(None, "n")
    chat.talk("bob", "b")
    chat.talk(None, "n")
    chat.talk("bob", "b")
    assert chat.lines() == [1, 2]
    for _ in range(3):
        chat.talk("alice", "a")
    assert chat.lines() == [1, 2, 5, 6]
    chat.talk("alice", "a")
    assert chat.lines() == [2, 5, 6, 7], "for alice there are four of hers and nobody's"
    chat.talk("alice", "a")
    assert chat.lines() == [2, 6, 7, 8]


def test_a_pinned_page_is_archived_only_after_it_is_unpinned():
    chat = GrowingConversation()
    chat.until(1)
    pin_page(chat.tree, Actor.AGENT, index="usr-1")
    tree = chat.until(20)
    assert tree["usr-1"].parent == "usr-0"
    assert [each.index for each in tree.chapter("s1")] == ["usr-1", tree.latest("s1").index]
    pin_page(tree, Actor.AGENT, index="usr-1", pinned=False)
    assert tree["usr-1"].parent == "usr-0", "it goes when an interaction begins"
    assert chat.until(21).is_archived(tree["usr-1"])


@pytest.mark.parametrize("rules", [RULES, PageRules(active_pages=1, contents_max_tokens=0)])
def test_a_pinned_line_in_the_archive_stays(rules):
    """Older archives may have pinned lines."""
    chat = GrowingConversation(RULES)
    tree = chat.until(4)
    tree.put(replace(tree["usr-1"], pinned_by="developer"))
    chat.rules = rules
    assert chat.until(20).is_archived(tree["usr-1"])
    assert tree.lifecycle("usr-2") is Lifecycle.COLD_ARCHIVED


def test_an_archived_or_removed_page_cannot_be_pinned():
    tree = GrowingConversation().until(3)
    before = dict(tree.pages)
    with pytest.raises(RefusedError, match="usr-1 is archived: recall_page brings it back, and"):
        pin_page(tree, Actor.DEVELOPER, index="usr-1")
    assert tree.pages == before
    recall_page(tree, Actor.AGENT, index="usr-1")
    assert pin_page(tree, Actor.AGENT, index="usr-1").pinned
    tree = GrowingConversation().until(7)
    with pytest.raises(RefusedError, match="was removed from the context: restore_page brings"):
        pin_page(tree, Actor.AGENT, index="usr-1")


def test_a_line_above_the_token_limit_leaves_first():
    chat = GrowingConversation(PageRules(active_pages=1, contents_max_tokens=10))
    chat.tokens["usr-4"] = 10  # one too many, with the heading
    chat.until(9)
    assert chat.lines() == [1, 2, 4, 5, 6, 7, 8]
    assert chat.tree["usr-4"].cold


@pytest.mark.parametrize("words", ["word", "词"])
def test_a_long_interaction_takes_no_room_from_others(words):
    """An interaction of 90 messages has only one line on the Contents Page."""
    tree = Tree.new()
    short = [(Role.USER, "Short."), (Role.ASSISTANT, "Short.")]
    long = [(Role.USER, f"{words} " * 40), *[(Role.ASSISTANT, f"{words} " * 40)] * 90]
    said = [
        Message(seq, f"m{seq}", role, text, NOW, None, "s1")
        for seq, (role, text) in enumerate(short * 15 + long + short * 40, 1)
    ]
    count = OfflineTokenCounter().count
    writer = BlockWriter(Format.MARKDOWN, labels_of(Language.ENGLISH))
    rendering = Rendering(tree, writer, count, lambda _: PageContent(), "s1")
    rules = PageRules(active_pages=1, archive_unused=1_000)
    settle(tree, said, rules, rendering.own_tokens, count)
    numbers = [page.span.number for page in tree.children(tree.counters.archive)]
    assert numbers == list(range(1, tree.counters.interactions))
    lines = {each.span.number: each for each in tree.children(tree.counters.archive)}
    assert len(lines[16].entries) == 91
    assert rendering.own_tokens(lines[16]) <= rules.contents_max_tokens / 7
