"""Examples that docs/generate.py shows: a call of ATTP, a window, a chart of forgetting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from memci.commands.attp.outcome import Outcome
from memci.commands.attp.perform import succeeded
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.chapters import settle
from memci.domain.pages.collapse import collapse_to
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
from memci.domain.pages.window_labels import labels_of
from memci.domain.pages.window_text import BlockWriter, Format, PageContent
from memci.language.detection import Language
from memci.message import Message, Role
from memci.schemas.attp import AttpChanges
from memci.smallmodel.offline.token_counter import OfflineTokenCounter

ATTP_ANSWER = """\
thought = "The first question is answered, and long"

[tool_call]
status = "success"
target = "usr-1"
code = '''
page = hide_details(index="usr-1")
__result__ = {"saved": page["tokens_before"] - page["tokens_after"]}
'''
"""

# A Celery message as any programming language can write it to Redis.
CELERY_MESSAGE = """\
{
  "body": "<base64 of the JSON array [[], {…the arguments…}, {}]>",
  "content-type": "application/json",
  "content-encoding": "utf-8",
  "headers": {
    "task": "memci.memory.create", "id": "<a fresh UUID>", "lang": "any", "ignore_result": false
  },
  "properties": {
    "correlation_id": "<the same UUID>",
    "reply_to": "",
    "body_encoding": "base64",
    "delivery_mode": 2,
    "delivery_tag": "<another UUID>",
    "delivery_info": {"exchange": "", "routing_key": "memci.agent.42"}
  }
}
"""

_RULES = PageRules(active_pages=3)
_count = OfflineTokenCounter().count

# Pairs of messages; the system prompt; name, description and text of a note; those of a folder.
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


def attp_reply() -> str:
    """The answer to the call above, as a model gets it."""
    changes = AttpChanges(
        pages=["usr-1"], collapsed=[], tokens_before=1630, tokens_after=1218, over=0
    )
    return succeeded("usr-1", Outcome(result={"saved": 412}), changes).text


def window(language: Language) -> str:
    """The window of an agent that plans a trip; some pages are archived."""
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


# The chart of forgetting: a memory with one link to a focus point and two to its neighbours

_PASSES = 140
_IN_FOCUS = 20
_CHARACTERS = 100
_LEFT, _TOP, _PLOT_WIDTH, _PLOT_HEIGHT = 60, 50, 700, 250
_MOST = 2.0  # the importance at the top of the chart


def forgetting_chart(rules: MemoryParameters) -> str:
    """Importance and length of one memory, pass by pass, as SVG."""
    focus, neighbour, length = 1.0, rules.link_initial_strength, _CHARACTERS
    importances, lengths = [], []
    for number in range(_PASSES + 1):
        importance = focus + 2 * neighbour
        target = int(_CHARACTERS * min(1.0, importance))
        if target < rules.delete_threshold or not length:
            length = 0
        elif length - target >= rules.min_shrink * length:
            length = target
        importances.append(importance)
        lengths.append(length / _CHARACTERS)
        neighbour *= rules.decay_rate
        focus *= 1.0 if number < _IN_FOCUS else rules.decay_rate
    end = lengths.index(0)
    first = next(at for at, share in enumerate(lengths) if share < 1)
    steps = [
        point for at in range(1, end + 1) for point in ((at, lengths[at - 1]), (at, lengths[at]))
    ]
    bottom, right = _TOP + _PLOT_HEIGHT, _LEFT + _PLOT_WIDTH
    ticks = "".join(
        f'<text x="{_x(at):.0f}" y="{bottom + 22}" text-anchor="middle">{at}</text>'
        for at in range(0, _PASSES + 1, 20)
    ) + "".join(
        f'<text x="{_LEFT - 10}" y="{_y(at) + 5:.0f}" text-anchor="end">{at:g}</text>'
        for at in (0, 0.5, 1, 1.5, 2)
    )
    notes = "".join(
        f'<path d="M{_x(at):.1f} {bottom}V{_y(high):.1f}" stroke="#888" stroke-dasharray="4 4"/>'
        f'<text x="{_x(at) + 6:.1f}" y="{_y(high) + 12:.1f}">{label}</text>'
        for at, high, label in (
            (_IN_FOCUS, 1.95, f"pass {_IN_FOCUS}: it leaves the focus"),
            (first, 1.3, f"pass {first}: the text begins to shrink"),
            (end, 0.6, "forgotten"),
        )
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right + 40} {bottom + 60}" \
font-family="sans-serif" font-size="14" fill="#222">
<rect width="100%" height="100%" fill="#fff"/>
<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="#222"/>
<path d="M{_LEFT} {_y(1):.1f}H{right}" stroke="#ccc"/>
<path d="M{_LEFT} {_TOP}H{_x(_IN_FOCUS):.1f}V{bottom}H{_LEFT}z" fill="#fdf3d8"/>
<text x="{_LEFT + 12}" y="{bottom - 12}" fill="#8a6d1d">in focus</text>
{ticks}{notes}
<g fill="none" stroke-width="2.5">
<path d="{_line(enumerate(importances[: end + 1]))}" stroke="#c2541b"/>
<path d="{_line([(0, 1.0), *steps])}" stroke="#1f5fa8"/></g>
<text x="{_LEFT}" y="28" fill="#c2541b">importance: sum of the strengths of its links</text>
<text x="{_LEFT + 380}" y="28" fill="#1f5fa8">text: share of its {_CHARACTERS} characters</text>
<text x="{(_LEFT + right) / 2:.0f}" y="{bottom + 46}" text-anchor="middle">passes</text>
</svg>
"""


def _x(number: float) -> float:
    return _LEFT + _PLOT_WIDTH * number / _PASSES


def _y(value: float) -> float:
    return _TOP + _PLOT_HEIGHT * (1 - value / _MOST)


def _line(points: Iterable[tuple[int, float]]) -> str:
    return "M" + "L".join(f"{_x(at):.1f} {_y(value):.1f}" for at, value in points)
