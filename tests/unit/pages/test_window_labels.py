"""The labels of a window are in one language, with its own punctuation."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest

from memci.domain.pages.chapters import settle
from memci.domain.pages.page import RecallStats
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.pins import Pin, PinKind
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree, Viewer
from memci.domain.pages.window_labels import labels_of
from memci.domain.pages.window_text import BlockWriter, Excess, Format, PageContent
from memci.language.detection import Language
from memci.message import Message, Role
from memci.schemas.attp import guide_in
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from tests.support.document_examples import window

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HALF_WIDTH = re.compile(r"[,;:()!?]")
# A half-width mark next to a Chinese character; words and code of other languages may have some.
MIXED = re.compile(r"[\u3400-\u9fff」] ?[,;:()!?]|[,;:()!?] ?[\u3400-\u9fff「]")


def texts_of(language: Language) -> list[str]:
    """Return all labels of a language, without their placeholders."""
    every = asdict(labels_of(language)).values()
    flat = (each.values() if isinstance(each, dict) else [each] for each in every)
    return [re.sub(r"\{\w*(:,)?\}", "", text) for texts in flat for text in texts]


def render(language: Language, recalls: RecallStats) -> Rendering:
    """Return a conversation of two interactions, the first of which is archived."""
    said = [
        Message(1, "m1", Role.USER, "问题一", NOW, session_id="s"),
        Message(2, "m2", Role.ASSISTANT, "回答一", NOW, session_id="s", name="小美"),
        Message(3, "m3", Role.USER, "问题二", NOW, session_id="s"),
    ]
    tree = Tree.new()
    tree.viewer = Viewer("s")
    writer = BlockWriter(Format.MARKDOWN, labels_of(language))
    pins = [Pin(1, PinKind.TASK, "写报告", "agent", NOW)]
    count = OfflineTokenCounter().count
    rendering = Rendering(tree, writer, count, lambda _: PageContent(said[2:]), "s", tuple(pins))
    settle(tree, said, PageRules(active_pages=1), rendering.own_tokens, rendering.count)
    rendering.put(replace(tree["usr-1"], recalls=recalls))
    tree.counters = replace(tree.counters, notice=("usr-1", "usr-2"))
    rendering.excess = Excess(1_200, 8_000)
    return rendering


def text_of(rendering: Rendering) -> str:
    return "\n".join(each.content or "" for each in rendering.window().messages)


def test_chinese_labels_have_full_width_marks():
    assert [each for each in texts_of(Language.CHINESE) if HALF_WIDTH.search(each)] == []


def test_chinese_windows_have_full_width_marks():
    text = text_of(render(Language.CHINESE, RecallStats(count=2, last_at=7)))
    for line in (
        "# 置顶（始终可见）",
        "- [1] 任务：写报告",
        "# 超出上限 1,200 token（上限 8,000）：不可隐藏的内容已超出",
        "# 为适应窗口已折叠 2 页（usr-1、usr-2）",
        "# [usr-0] 对话（目录，已展开）",
        "### [usr-1] 问题一（召回 2 次，最近在第 7 轮交互）",
        "- 助手 小美：回答一",
    ):
        assert line in text.splitlines()
    for each in (text, window(Language.CHINESE), guide_in(Language.CHINESE).text):
        assert MIXED.findall(each) == []


@pytest.mark.parametrize(
    ("recalls", "english", "chinese"),
    [
        (RecallStats(), "never recalled", "未召回"),
        (RecallStats(1, 7), "recalled once, at interaction 7", "召回 1 次，在第 7 轮交互"),
        (
            RecallStats(2, 7),
            "recalled 2 times, last at interaction 7",
            "召回 2 次，最近在第 7 轮交互",
        ),
    ],
)
def test_the_recalls_of_a_page_are_shown_in_words(recalls, english, chinese):
    assert f" ({english})\n" in text_of(render(Language.ENGLISH, recalls))
    assert f"（{chinese}）\n" in text_of(render(Language.CHINESE, recalls))
