"""The content of a page's block (P3, P7, P11)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memci.domain.pages.chapters import settle
from memci.domain.pages.interaction_outline import with_outline
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree
from memci.domain.pages.window_labels import labels_of
from memci.domain.pages.window_text import BlockWriter, Format, PageContent
from memci.language.detection import language_of
from memci.message import Message, Role
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.offline.token_counter import OfflineTokenCounter

count = OfflineTokenCounter().count
TALKS = [
    ("What does the museum cost?", "12 euros; free on Sunday mornings."),
    ("Thanks!", "You are welcome."),
    ("My name is Mira and I live in Porto.", "Nice to meet you, Mira."),
    ("博物馆门票多少钱？", "十二元；周日上午免费。"),
    ("谢谢！", "不客气。"),
]


def render(pair, names=(None, None)):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    roles = (Role.USER, Role.ASSISTANT)
    messages = [
        Message(seq, f"m{seq}", role, text, now, session_id="s", name=name)
        for seq, (role, text, name) in enumerate(zip(roles, pair, names, strict=True), 1)
    ]
    tree = Tree.new()
    writer = BlockWriter(Format.MARKDOWN, labels_of(language_of(pair[0])))
    rendering = Rendering(tree, writer, count, lambda _: PageContent(messages), "s")
    settle(tree, messages, PageRules(), rendering.own_tokens, rendering.count)
    return rendering, tree["usr-1"], messages


def block(rendering, page):
    """Return the block of the page in this state."""
    rendering.put(page)
    return next(m.content for m in rendering.window().messages).partition("## ")[2]


@pytest.mark.parametrize("pair", TALKS)
def test_an_archived_page_never_has_more_tokens_than_its_messages(pair):
    rendering, page, messages = render(pair)
    outline = OfflineSummarizer().outline(messages, language_of(pair[0]), count)
    for each in (page, with_outline(page, outline)):
        rendering.put(replace(each, expanded=True))
        opened = rendering.own_tokens(rendering.tree["usr-1"])
        rendering.put(replace(each, expanded=False))
        assert rendering.own_tokens(rendering.tree["usr-1"]) <= opened
        rendering.tree.counters = replace(rendering.tree.counters, archive="usr-0")
        rendering.put(replace(each, expanded=False, description=each.description + " "))
        assert rendering.own_tokens(rendering.tree["usr-1"]) <= opened
        rendering.tree.counters = replace(rendering.tree.counters, archive=None)


@pytest.mark.parametrize(
    "description",
    ["What does the museum cost?", "what does the museum…", "The museum cost → 12 euros; free…"],
)
def test_a_description_that_repeats_the_name_is_left_out(description):
    rendering, page, _ = render(TALKS[0])
    shown = block(rendering, replace(page, description=description))
    assert shown == block(rendering, replace(page, description=""))
    assert "museum" in shown


def test_another_description_is_shown():
    rendering, page, _ = render(TALKS[0])
    for expanded in (True, False):
        known = replace(page, description="Prices in Porto", expanded=expanded)
        assert block(rendering, known).count("\n\nPrices in Porto\n\n") == 1


@pytest.mark.parametrize("pair", [TALKS[0], TALKS[3]])
def test_lines_name_the_speaker(pair):
    _, page, messages = render(pair, ("Mira\n```", "Bot"))
    user, assistant = page.entries
    outline = OfflineSummarizer().outline(messages, language_of(pair[0]), count)
    roles = labels_of(language_of(pair[0])).roles
    for lines in ((user, assistant), outline.entries):
        assert lines[0].startswith(f"{roles['user']} Mira")
        assert lines[1].startswith(f"{roles['assistant']} Bot")
    assert "`" not in user


@pytest.mark.parametrize(
    ("ask", "more"),
    [("What does the museum cost?", "… 86 more (get_page)"), ("门票多少钱？", "…… 另有 86 条")],
)
def test_an_archived_page_shows_its_first_and_last_lines(ask, more):
    rendering, page, _ = render((ask, "12 euros."))
    rendering.tree.counters = replace(rendering.tree.counters, archive="usr-0")
    entries = tuple(f"assistant: line {each}" for each in range(91))
    shown = block(rendering, replace(page, entries=entries))
    lines = [each for each in shown.splitlines() if each.startswith("- ")]
    assert lines[:3] == [f"- {each}" for each in entries[:3]]
    assert lines[3].startswith(f"- {more}")
    assert lines[4:] == [f"- {each}" for each in entries[-2:]]
    few = block(rendering, replace(page, entries=entries[:6]))
    assert [each for each in few.splitlines() if each.startswith("- ")] == [
        f"- {each}" for each in entries[:6]
    ]


def test_a_block_is_rendered_again_when_its_page_changes():
    """Lines are counted while messages are settled, that is, in the middle of a change."""
    rendering, page, _ = render(TALKS[0])
    before = rendering.own_tokens(page)
    rendering.tree.put(replace(page, expanded=False))
    hidden = rendering.own_tokens(rendering.tree["usr-1"])
    assert hidden < before
    assert rendering.own_tokens(page) == before
