"""The line of a large hidden page says about how many tokens it needs when expanded."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memci.domain.pages.chapters import settle
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree
from memci.domain.pages.window_labels import labels_of
from memci.domain.pages.window_text import BlockWriter, Format, PageContent
from memci.language.detection import Language
from memci.message import Message, Role
from memci.smallmodel.offline.token_counter import OfflineTokenCounter

count = OfflineTokenCounter().count
TEXTS = {
    Language.ENGLISH: "The museum opens at nine, and on Sundays it is free until noon. ",
    Language.CHINESE: "博物馆九点开门，周日中午以前免费。",
}


def render(language: Language, times: int, archived: int = 0) -> Rendering:
    """Return two interactions with the repeated text; the first `archived` ones are archived."""
    now, text = datetime(2026, 1, 1, tzinfo=UTC), TEXTS[language] * times
    roles = (Role.USER, Role.ASSISTANT)
    messages = [
        Message(seq, f"m{seq}", roles[(seq - 1) % 2], text, now, session_id="s")
        for seq in range(1, 5)
    ]

    def reads(page):
        assert page.expanded, "of a hidden page nothing is read"
        return PageContent(
            [each for each in messages if page.span.first_seq <= each.seq <= page.span.last_seq]
        )

    tree = Tree.new()
    writer = BlockWriter(Format.MARKDOWN, labels_of(language))
    rendering = Rendering(tree, writer, count, reads, "s")
    rules = PageRules(active_pages=2 - archived)
    settle(tree, messages, rules, rendering.own_tokens, count)
    return rendering


def heading(rendering: Rendering, index: str) -> str:
    text = "".join(each.content or "" for each in rendering.window().messages)
    (line,) = (each for each in text.splitlines() if f"[{index}]" in each)
    return line


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("times", [10, 30, 300])
def test_the_line_says_about_how_many_tokens_the_expanded_page_needs(language, times):
    rendering = render(language, times)
    opened = rendering.tokens()
    rendering.put(replace(rendering.tree["usr-1"], expanded=False))
    needed = opened - rendering.tokens()
    line = heading(rendering, "usr-1")
    pattern = {
        Language.ENGLISH: r"\(page, hidden, can be expanded, about ([\d,]+) tokens\)",
        Language.CHINESE: r"（页面，已隐藏，可展开，约 ([\d,]+) token）",
    }[language]
    found = re.search(pattern, line)
    assert found is not None, line
    about = found[1].replace(",", "")
    assert len(about.rstrip("0")) <= 2
    assert abs(int(about) - needed) <= 0.1 * needed


def test_the_line_of_a_small_page_has_no_token_count():
    rendering = render(Language.ENGLISH, 3)
    assert 0 < rendering.tree["usr-1"].content_tokens < 200
    rendering.put(replace(rendering.tree["usr-1"], expanded=False))
    assert heading(rendering, "usr-1").endswith(" (page, hidden, can be expanded)")


def test_the_line_of_an_expanded_page_has_no_token_count():
    assert heading(render(Language.ENGLISH, 30), "usr-1").endswith(" (page, expanded)")


def test_the_contents_page_shows_the_token_count_too():
    line = heading(render(Language.ENGLISH, 30, archived=1), "usr-1")
    assert re.search(r" \(never recalled, about [\d,]+ tokens\)$", line)


@pytest.mark.parametrize(
    ("held", "shown"),
    [(199, ""), (200, "200"), (204, "200"), (999, "1,000"), (1_249, "1,200"), (123_456, "120,000")],
)
def test_token_counts_are_rounded_to_two_digits(held, shown):
    rendering = render(Language.ENGLISH, 1)
    rendering.put(replace(rendering.tree["usr-1"], expanded=False, content_tokens=held))
    line = heading(rendering, "usr-1")
    assert line.endswith(f", about {shown} tokens)" if shown else "can be expanded)")
