"""When exactly a line leaves the Contents Page: counted in interactions (P8)."""

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
# One interaction is active: the one before is archived when the next one begins.
RULES = PageRules(active_pages=1, archive_unused=5, archive_unrecalled=7)


class GrowingConversation:
    """A conversation that goes on, an interaction at a time."""

    def __init__(self, rules: PageRules = RULES) -> None:
        self.tree, self.rules = Tree.new(), rules
        self.tokens: dict[str, int] = {}
        self.tree.viewer = Viewer("s1")

    def until(self, interaction: int) -> Tree:
        """Go on until so many have begun."""
        while self.tree.counters.interactions < interaction:
            self.talk()
        return self.tree

    def talk(self, user: str | None = None, session: str = "s1") -> None:
        """Begin another interaction."""
        number = self.tree.counters.interactions + 1
        said = [
            Message(2 * number - 1, f"q{number}", Role.USER, "?", NOW, None, session, user),
            Message(2 * number, f"a{number}", Role.ASSISTANT, "!", NOW, None, session, user),
        ]
        settle(self.tree, said, self.rules, self.tokens_of, len)

    def tokens_of(self, page: Page) -> int:
        """What a line takes: one, unless it was said otherwise."""
        return self.tokens.get(page.index, 1)

    def lines(self) -> list[int]:
        """The interactions that the Contents Page lists."""
        archive = self.tree.children(self.tree.counters.archive or "")
        return [each.span.number for each in archive if each.span]


@pytest.mark.parametrize("unused", [1, 5, PageRules().archive_unused])
def test_a_line_never_recalled_leaves_when_m_interactions_have_passed(unused):
    told = GrowingConversation(PageRules(active_pages=1, archive_unused=unused))
    archived_at = 2
    tree = told.until(archived_at)
    assert tree.is_archived(tree["usr-1"])
    assert tree["usr-1"].recalls.archived_at == archived_at
    assert tree.is_archived(told.until(archived_at + unused - 1)["usr-1"])
    assert tree.lifecycle("usr-1") is Lifecycle.HOT_ARCHIVED
    assert told.until(archived_at + unused).lifecycle("usr-1") is Lifecycle.COLD_ARCHIVED
    assert told.until(archived_at + unused + 1)["usr-1"].parent is None


@pytest.mark.parametrize("unrecalled", [2, 7, PageRules().archive_unrecalled])
def test_a_recalled_line_leaves_when_p_interactions_have_passed_since(unrecalled):
    told = GrowingConversation(
        PageRules(active_pages=1, archive_unused=3, archive_unrecalled=unrecalled)
    )
    recalled_at = 4  # the last interaction at which it is there without a recall
    tree = told.until(recalled_at)
    recall_page(tree, Actor.AGENT, index="usr-1")
    assert tree["usr-1"].recalls.last_at == recalled_at
    assert tree.is_archived(told.until(recalled_at + unrecalled - 1)["usr-1"])
    assert told.until(recalled_at + unrecalled).lifecycle("usr-1") is Lifecycle.COLD_ARCHIVED


def test_each_recall_begins_the_count_anew():
    told = GrowingConversation()
    tree = told.until(6)
    recall_page(tree, Actor.AGENT, index="usr-1")
    told.until(12)
    recall_page(tree, Actor.AGENT, index="usr-1")
    assert told.until(18).is_archived(tree["usr-1"])
    assert tree["usr-1"].recalls.count == 2
    assert told.until(19).lifecycle("usr-1") is Lifecycle.COLD_ARCHIVED


def test_the_limit_of_tokens_is_kept_exactly():
    """The heading of the Contents Page counts one, as each line does here."""
    told = GrowingConversation(PageRules(active_pages=1, contents_max_tokens=4))
    told.until(4)
    assert told.lines() == [1, 2, 3]
    told.until(5)
    assert told.lines() == [2, 3, 4]


def test_who_talks_much_pushes_out_no_line_of_another_user():
    told = GrowingConversation(PageRules(active_pages=1, contents_max_tokens=4))
    for _ in range(3):
        told.talk("bob", "b")
    for _ in range(9):
        told.talk("alice", "a")
    # Two of bob's, the last three of alice's, and each has the last one open.
    assert told.lines() == [1, 2, 9, 10, 11]


def test_what_all_users_see_counts_for_each_and_leaves_for_the_one_who_has_most():
    told = GrowingConversation(PageRules(active_pages=1, contents_max_tokens=4))
    told.talk(None, "n")
    told.talk("bob", "b")
    told.talk(None, "n")
    told.talk("bob", "b")
    assert told.lines() == [1, 2]
    for _ in range(3):
        told.talk("alice", "a")
    assert told.lines() == [1, 2, 5, 6]
    told.talk("alice", "a")
    assert told.lines() == [2, 5, 6, 7], "for alice there are four of hers and nobody's"
    told.talk("alice", "a")
    assert told.lines() == [2, 6, 7, 8]


def test_a_pinned_page_is_not_archived_and_an_unpinned_one_when_its_turn_comes():
    told = GrowingConversation()
    told.until(1)
    pin_page(told.tree, Actor.AGENT, index="usr-1")
    tree = told.until(20)
    assert tree["usr-1"].parent == "usr-0"
    assert [each.index for each in tree.chapter("s1")] == ["usr-1", tree.latest("s1").index]
    pin_page(tree, Actor.AGENT, index="usr-1", pinned=False)
    assert tree["usr-1"].parent == "usr-0", "it goes when an interaction begins"
    assert told.until(21).is_archived(tree["usr-1"])


@pytest.mark.parametrize("rules", [RULES, PageRules(active_pages=1, contents_max_tokens=0)])
def test_a_line_that_is_pinned_nevertheless_stays(rules):
    """Archives of former times may have such."""
    told = GrowingConversation(RULES)
    tree = told.until(4)
    tree.put(replace(tree["usr-1"], pinned_by="developer"))
    told.rules = rules
    assert told.until(20).is_archived(tree["usr-1"])
    assert tree.lifecycle("usr-2") is Lifecycle.COLD_ARCHIVED


def test_what_is_not_in_the_window_is_not_pinned():
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


def test_a_line_that_takes_more_than_all_may_leaves_before_any_other():
    told = GrowingConversation(PageRules(active_pages=1, contents_max_tokens=10))
    told.tokens["usr-4"] = 10  # with the heading that is one too many
    told.until(9)
    assert told.lines() == [1, 2, 4, 5, 6, 7, 8]
    assert told.tree["usr-4"].cold


@pytest.mark.parametrize("words", ["word", "词"])
def test_one_long_interaction_takes_no_room_from_the_others(words):
    """Ninety messages were ninety lines: they pushed all others out, and then themselves."""
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
