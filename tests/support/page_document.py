"""The parts of docs/pages.md that are made from the code: windows, and the table of tools.

``python -m tests.support.page_document`` writes them anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from memci.domain.pages.block import BlockWriter, Format, PageContent
from memci.domain.pages.chapters import settle
from memci.domain.pages.collapse import collapse_to
from memci.domain.pages.labels import labels_of
from memci.domain.pages.operations import (
    create_contents_page,
    create_detail_page,
    pin_page,
    recall_page,
)
from memci.domain.pages.page import Page
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree, Viewer
from memci.language.detection import Language
from memci.message import Message, Role
from memci.schemas.tools import TOOLS, About, Tool
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from tests.support.fleet import ROOT

DOCUMENT = ROOT / "docs/pages.md"
_PART = re.compile(r"(<!-- made: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
_RULES = PageRules(active_pages=3)
_count = OfflineTokenCounter().count

# What is said, pair by pair; the system prompt; a note's name, description and text; a folder's.
_ENGLISH = (
    [
        ("My train to Porto leaves at 9:40 on Friday.", "Noted: Friday, 9:40, to Porto."),
        ("Book a room with a view for two nights.", "Done: Casa Azul, two nights, river view."),
        ("What does the museum cost?", "12 euros; free on Sunday mornings."),
        ("Is there a market nearby?", "Yes, Bolhão, five minutes on foot."),
        (
            "How do I get to the airport on Sunday?",
            "By metro, line E: 30 minutes, from 6:00 to 1:00.",
        ),
        ("When do I have to leave on Friday?", None),
    ],
    "You plan journeys. Be brief.",
    ("Lesson", "What Mira likes", "Mira takes the metro whenever there is one."),
    ("Sights", "What there is to see in Porto"),
)
_CHINESE = (
    [
        ("我周五 9:40 的火车去杭州。", "记下了：周五 9:40，去杭州。"),
        ("订一间看得到湖的房间，住两晚。", "已订：湖畔居，两晚，湖景房。"),
        ("博物馆门票多少钱？", "十二元；周日上午免费。"),
        ("附近有集市吗？", "有，河坊街，步行五分钟。"),
        ("周日怎么去机场？", "地铁一号线，三十分钟，早上六点到夜里十一点，每十分钟一班。"),
        ("我周五几点要出门？", None),
    ],
    "你负责规划旅行。回答要简短。",
    ("经验", "米拉的喜好", "只要有地铁，米拉就坐地铁。"),
    ("景点", "杭州值得一看的地方"),
)


def made() -> Mapping[str, str]:
    """The parts by their names."""
    return {
        "window-en": _fenced(window(Language.ENGLISH)),
        "window-zh": _fenced(window(Language.CHINESE)),
        "tools-pages": _table([each for each in TOOLS if each.about is About.PAGES]),
    }


def remade(document: str) -> str:
    """The document with its parts made anew."""
    parts = made()
    return _PART.sub(lambda part: f"{part[1]}{parts[part[2]]}\n{part[3]}", document)


def window(language: Language) -> str:
    """A small trip, as its agent sees it: an answer is due, and some things were put away."""
    said, prompt, note, folder = _CHINESE if language is Language.CHINESE else _ENGLISH
    tree, messages = Tree.new(), list(_messages(said, prompt))
    tree.viewer = Viewer("trip")
    notes: dict[str, str] = {}

    def reads(page: Page) -> PageContent:
        span = page.span
        if span is None:
            return PageContent(text=notes.get(page.index, ""))
        return PageContent(
            [each for each in messages if span.first_seq <= each.seq <= span.last_seq]
        )

    writer = BlockWriter(Format.MARKDOWN, labels_of(language))
    rendering = Rendering(tree, writer, _count, reads, "trip")
    settle(tree, messages[:-1], _RULES, rendering.own_tokens, rendering.count)
    agent = Actor.AGENT
    lesson = create_detail_page(tree, agent, name=note[0], description=note[1], parent="usr-0")
    notes[lesson.index] = note[2]
    market = tree.chapter("trip")[-2]
    create_contents_page(
        tree, agent, name=folder[0], description=folder[1], parent="usr-0", children=[market.index]
    )
    settle(tree, messages[-1:], _RULES, rendering.own_tokens, rendering.count)
    recall_page(tree, agent, index="usr-1")
    pin_page(tree, agent, index="usr-3")
    rendering = Rendering(tree, writer, _count, reads, "trip")
    contents = tree.counters.archive
    collapse_to(rendering, rendering.tokens() - 10, [contents] if contents else ())
    return "".join(each.content or "" for each in rendering.window().messages)


def _messages(said: Sequence[tuple[str, str | None]], prompt: str) -> Sequence[Message]:
    texts = [(Role.SYSTEM, prompt)]
    for question, answer in said:
        texts += [(Role.USER, question), *([(Role.ASSISTANT, answer)] if answer else [])]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        Message(seq, f"m{seq}", role, text, now, session_id="trip")
        for seq, (role, text) in enumerate(texts, 1)
    ]


def _fenced(text: str) -> str:
    return f"````markdown\n{text.strip()}\n````"


def _table(tools: Sequence[Tool]) -> str:
    rows = ["| tool | arguments | what a model reads of it |", "|---|---|---|"]
    rows += [f"| `{each.name}` | {_arguments(each)} | {each.description} |" for each in tools]
    return "\n".join(rows)


def _arguments(tool: Tool) -> str:
    """Names of arguments; those that may be left out are in brackets."""
    names = [
        f"`{name}`" if field.is_required() else f"[`{name}`]"
        for name, field in tool.request.model_fields.items()
    ]
    return ", ".join(names) or "–"


if __name__ == "__main__":
    DOCUMENT.write_text(remade(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
