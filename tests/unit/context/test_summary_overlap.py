"""A summary omits what recent turns or pins say word for word (R14)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memci.domain.context.materials import Covered, Materials
from memci.domain.context.message_list import Section
from memci.domain.context.summary_overlap import RepeatedLines
from memci.domain.pages.pins import Pin, PinKind
from memci.domain.session.interaction import interactions
from memci.language.detection import Language
from memci.language.sentences import sentence_spans
from memci.language.summary_lines import Line, format_lines, parse_lines
from memci.message import Message, Role
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from tests.support.talk import assemble, words

PINNED = "Please keep your answers short from now on."
ENGLISH = (
    (9, f"Hi, I'm Nora. I run a small bakery in Graz called Morgenrot. {PINNED}"),
    (9, "Nice to meet you, Nora. Short answers it is."),
    (9, "Our oven, a Miwe Condo, broke down this morning: error code E17."),
    (9, "E17 on a Miwe Condo is usually the steam sensor. Check the plug behind the left panel."),
    (12, "I have my driving test on Friday at 8:15. I'm nervous."),
    (12, "Good luck! Sleep well on Thursday."),
)
CHINESE = (
    (9, "你好，我叫陈晓雨，在杭州开一家茶馆。以后请用中文回答我。"),
    (9, "晓雨你好，以后都用中文。"),
    (9, "昨天进了二十斤龙井，每斤八百六十元，供应商是梅家坞的老周。"),
    (9, "记下了：二十斤龙井，合计一万七千二百元。"),
    (12, "我妈妈对花生过敏，来店里时不要给她端花生酥。"),
    (12, "好的，不给伯母端花生酥。"),
)


def talk(*turns: tuple[int, str]) -> list[Message]:
    return [
        Message(seq, f"m{seq}", Role.ASSISTANT if seq % 2 == 0 else Role.USER, text,
                datetime(2026, 11, day, 9, seq, tzinfo=UTC), session_id="s1")
        for seq, (day, text) in enumerate(turns, start=1)
    ]  # fmt: skip


def summary_of(
    turns: list[Message],
    summary: str,
    *,
    recent: int,
    budget: int = 2_000,
    pins: tuple[Pin, ...] = (),
) -> str:
    """Return the summary block of a message list, without its header."""
    materials = Materials(
        None, None, interactions(turns), recent, [], Language.ENGLISH, pins=pins, summary=summary,
        covered=Covered("s1", 1, len(turns)), spans=sentence_spans,
    )  # fmt: skip
    items = assemble(materials, budget, words).items
    return "".join(each.text for each in items if each.section is Section.SUMMARY).partition("\n")[
        2
    ]


def left_of(lines: list[Line], *turns: Message, pinned: tuple[str, ...] = ()) -> list[str]:
    return [each.text for each in RepeatedLines(turns, pinned, sentence_spans).left_of(lines)]


@pytest.mark.parametrize("turns", [ENGLISH, CHINESE], ids=["en", "zh"])
@pytest.mark.parametrize("budget", [220, 240, 300, 2_000])
def test_a_summary_does_not_repeat_the_turns_below_it(
    turns: tuple[tuple[int, str], ...], budget: int
):
    messages = talk(*turns)
    summary = OfflineSummarizer().summarize(messages, "", 4_000)
    block = summary_of(messages, summary, recent=1, budget=budget)
    below = [each.text for each in messages[-2:]]
    lines = block.splitlines()
    assert lines[0] == "2026-11-09"
    assert len(lines) > 1
    bodies = [each.partition(": ")[2] or each.partition("：")[2] for each in lines]
    assert not [each for each in bodies if each and any(each in text for text in below)]
    assert "2026-11-12" not in lines


@pytest.mark.parametrize("turns", [ENGLISH, CHINESE], ids=["en", "zh"])
@pytest.mark.parametrize("budget", range(140, 420, 8))
def test_remaining_lines_stay_under_their_day(turns: tuple[tuple[int, str], ...], budget: int):
    messages = talk(*turns, (13, "Ok?"), (13, "Ok!"))
    summary = OfflineSummarizer().summarize(messages, "", 4_000)
    days = {line.text: line.day for line in parse_lines(summary)}
    lines = parse_lines(summary_of(messages, summary, recent=1, budget=budget))
    assert [each.day for each in lines] == [days[each.text] for each in lines]


def test_without_remaining_lines_there_is_no_block():
    turns = talk((9, "Never fly."), (9, "No flights."), (9, "What else?"), (9, "Nothing."))
    summary = "2026-11-09\nuser: What else?\nassistant: Nothing."
    assert summary_of(turns, summary, recent=1) == ""
    assert summary_of(turns, f"{summary}\nThey talked.", recent=1) == "2026-11-09\nThey talked.\n"


def test_the_block_does_not_depend_on_the_question():
    messages = talk(*ENGLISH)
    summary = OfflineSummarizer().summarize(messages, "", 4_000)
    materials = Materials(
        None, "Where do I live?", interactions(messages), 1, [], Language.ENGLISH,
        summary=summary, covered=Covered("s1", 1, 6), spans=sentence_spans,
    )  # fmt: skip
    parts = assemble(materials, 2_000, words).items
    asked = "".join(each.text for each in parts if each.section is Section.SUMMARY)
    assert asked.partition("\n")[2] == summary_of(messages, summary, recent=1)


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        (Line("user: I'm nervous."), False),
        (Line("user: I'm nervous.", "2026-11-12"), False),
        (Line("I'm nervous."), False),  # quoted by a model
        (Line("user: I'm nervous. I have my driving test on Friday at 8:15."), False),
        (Line("2026-11-12"), False),
        (Line("user: I'm nervous.", "2026-11-05"), True),  # of another day
        (Line("assistant: I'm nervous."), True),
        (Line("user: nervous."), True),
        (Line("user: I'm"), True),
        (Line("user: I have my driving test on Friday at 8:15. I passed."), True),
        (Line("Nora is nervous because of her driving test."), True),
    ],
)
def test_only_whole_sentences_of_the_same_day_are_left_out(line: Line, stays: bool):
    turns = talk(*ENGLISH)[4]
    assert left_of([line], turns) == ([line.text] if stays else [])


def test_clauses_of_a_quoted_long_sentence_are_left_out():
    text = "; ".join(f"crate {each} of the green tea goes to the harbour" for each in range(12))
    turns = talk((9, f"Hello. {text}."))
    lines = parse_lines(OfflineSummarizer().summarize(turns, "", 4_000))
    assert len(lines) > 2
    assert left_of(lines, *turns) == []
    assert left_of(lines, *talk((9, "Hello. Some crates of tea."))) == [e.text for e in lines]


def test_a_sentence_that_is_pinned_in_full_is_left_out():
    messages = talk(*ENGLISH)
    summary = OfflineSummarizer().summarize(messages, "", 4_000)
    at = messages[0].text.index(PINNED)
    pin = Pin(1, PinKind.PREFERENCE, PINNED, "detector", messages[0].said_at, 1,
              span=(at, at + len(PINNED)), message_text=messages[0].text)  # fmt: skip
    assert PINNED in summary_of(messages, summary, recent=1)
    block = summary_of(messages, summary, recent=1, pins=(pin,))
    assert PINNED not in block
    assert "I run a small bakery in Graz" in block


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        (Line("user: Rule: we leave tomorrow.", "2026-11-09"), True),  # a pin has no day
        (Line("user: Rule: we leave tomorrow."), False),
        (Line("Rule: we leave tomorrow.", "2026-99-99"), False),
        (Line("Rule: we leave tomorrow. Never fly."), False),
        (Line("user: Never fly.", "2026-11-09"), False),
        (Line("user: Never fly with Ann.", "2026-11-09"), True),
    ],
)
def test_only_lines_that_pins_repeat_are_left_out(line: Line, stays: bool):
    pinned = ("Rule: we leave tomorrow.", "Never fly. Ask Bob.")
    assert left_of([line], pinned=pinned) == ([line.text] if stays else [])


def test_lines_are_written_as_they_were_read():
    text = "user: Hi there.\n2026-11-09\nuser: Never fly.\n助手：好。\n2026-11-10\nx → y"
    assert format_lines(parse_lines(text)) == text
