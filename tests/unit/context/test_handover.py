"""A handover names the days of its messages and marks what is cut (R8)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from memci.domain.context.handover import Handover, exchanges
from memci.domain.pages.pins import Pin, PinKind
from memci.language.detection import Language
from memci.language.sentences import sentence_spans
from memci.language.summary_lines import shorten_summary
from memci.message import Message, Role
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.offline.token_counter import OfflineTokenCounter

TODAY = date(2026, 11, 22)
count = OfflineTokenCounter().count


def turn(
    seq: int, text: str | None, role: Role = Role.USER, day: int = 22, **fields: Any
) -> Message:
    at = datetime(2026, 11, day, 9, seq, tzinfo=UTC)
    return Message(seq, f"m{seq}", role, text, at, session_id="s1", **fields)


def handover(*messages: Message, **fields: Any) -> Handover:
    fields = {"language": Language.ENGLISH, "today": TODAY, **fields}
    return Handover("s1", recent=exchanges(messages), **fields)


def within(whole: Handover, budget: int) -> Handover:
    shortened = whole.within(budget, count, lambda text, target: text[:target])
    assert count(shortened.text()) <= budget
    return shortened


def calls(*arguments: str) -> dict[str, Any]:
    tool_calls = [
        {"id": f"c{at}", "type": "function", "function": {"name": f"write_{at}", "arguments": each}}
        for at, each in enumerate(arguments)
    ]
    return {"tool_calls": tuple(tool_calls)}


ROWS = json.dumps({f"row {each}": each * 7919 for each in range(900)})


def test_long_arguments_of_a_call_are_cut_and_the_tool_is_named():
    whole = handover(
        turn(1, "Write the table, please."), turn(2, None, Role.ASSISTANT, **calls(ROWS)),
        turn(3, "It is written to the disk."),
    )  # fmt: skip
    assert count(whole.text()) > 5_000
    held = within(whole, 200)
    assert held.left_out == 0
    text = held.text()
    assert 'write_0({"row 0":0,' in text
    assert f"{899 * 7919}}})" in text
    assert " … " in text
    assert "It is written to the disk." in text


def test_each_of_many_calls_is_named():
    whole = handover(
        turn(1, "Write them."), turn(2, "As you like.", Role.ASSISTANT, **calls(*[ROWS] * 9, "{}"))
    )
    text = within(whole, 400).text()
    assert [f"write_{each}({{" in text for each in range(9)] == [True] * 9
    assert "write_9({})" in text
    assert "As you like." in text


@pytest.mark.parametrize(
    ("language", "whole", "cut"),
    [
        (Language.ENGLISH, "What was said last, word for word\n",
         "What was said last, with … where something is cut\n"),
        (Language.CHINESE, "最近的对话原文\n", "最近的对话，以…标出删节之处\n"),
    ],
)  # fmt: skip
def test_the_heading_says_whether_messages_are_cut(language: Language, whole: str, cut: str):
    made = handover(turn(1, "word " * 900), turn(2, "Done.", Role.ASSISTANT), language=language)
    assert f"## {whole}" in made.text()
    shorter = within(made, 400)
    assert f"## {cut}" in shorter.text()
    assert shorter.left_out == 0
    # Whole messages are left out; the others are word for word.
    bare = handover(*(turn(at, f"Crate {at}.") for at in range(1, 30)), language=language)
    fewer = within(bare, 120)
    assert fewer.left_out
    assert f"## {whole}" in fewer.text()


@pytest.mark.parametrize(
    ("language", "day", "today"),
    [
        (Language.ENGLISH, "21 November 2026 (Sat)", "22 November 2026 (Sun)"),
        (Language.CHINESE, "2026-11-21（六）", "2026-11-22（日）"),
    ],
)
def test_messages_of_other_days_have_a_day_line(language: Language, day: str, today: str):
    made = handover(
        turn(1, "Tomorrow I have my driving test.", day=21), turn(2, "Luck!", Role.ASSISTANT, 21),
        turn(3, "I passed."), turn(4, "Bravo!", Role.ASSISTANT), language=language,
    ).text()  # fmt: skip
    lines = made.splitlines()
    assert [each for each in lines if "2026" in each] == [day, today]
    assert lines.index(day) < lines.index("Tomorrow I have my driving test.")
    assert lines.index("Luck!") < lines.index(today) < lines.index("I passed.")


def test_messages_of_today_have_no_day():
    made = handover(turn(1, "I have my driving test."), turn(2, "Luck!", Role.ASSISTANT))
    assert "2026" not in made.text()


def test_a_day_is_that_of_the_speakers_offset():
    late = datetime.fromisoformat("2026-11-21T20:30:00-08:00")  # the 22nd in UTC
    late_message = Message(1, "m1", Role.USER, "Good night.", late, session_id="s1")
    assert "21 November 2026 (Sat)\n" in handover(late_message).text()


@pytest.mark.parametrize("budget", range(90, 460, 4))
def test_the_first_message_has_its_day_if_older_ones_are_left_out(budget: int):
    messages = [turn(at, f"Crate {at} is full of tea.", day=21) for at in range(1, 20)]
    held = within(handover(*messages, turn(20, "Thanks.")), budget)
    lines = held.text().splitlines()
    first = held.messages[0]
    assert ("21 November 2026 (Sat)" in lines) == (first.seq < 20)
    assert ("22 November 2026 (Sun)" in lines) == (first.seq < 20)
    if first.seq > 1:
        one_more = [*messages[first.seq - 2 :], turn(20, "Thanks.")]
        more = replace(held, recent=exchanges(one_more), left_out=first.seq - 2)
        assert count(more.text()) > budget - count("21 November 2026 (Sat)\n\n")


def test_the_document_is_counted_as_a_whole():
    """A text may have more tokens than its lines together."""
    whole = handover(*(turn(at, f"Crate {at} is full of tea.", day=21) for at in range(1, 20)))
    lengths = set()
    for budget in range(3, 80):
        held = whole.within(budget, lambda text: len(text) // 20, lambda text, _: text)
        assert len(held.text()) // 20 <= budget
        lengths.add(len(held.messages))
    assert len(lengths) > 4


ENGLISH = (
    ("Our oven, a Miwe Condo, broke down this morning: error code E17.",
     "E17 on a Miwe Condo is usually the steam sensor. Check the plug behind the left panel."),
    ("The technician would have cost 340 euros.", "Great, 340 euros saved."),
    ("My daughter Lena turns seven on 3 December. Never use nuts.", "A cake without nuts, then."),
)  # fmt: skip
CHINESE = (
    ("今天空调坏了，师傅说压缩机要换，报价两千三百元。", "可以先问问保修期，一般保三年。"),
    ("昨天进了二十斤龙井，供应商是梅家坞的老周。", "记下了，合计一万七千二百元。"),
    ("我妈妈对花生过敏。不要给她端花生酥。", "好的，不给伯母端花生酥。"),
)  # fmt: skip
TALKS = pytest.mark.parametrize(
    ("language", "exchanged"),
    [(Language.ENGLISH, ENGLISH), (Language.CHINESE, CHINESE)],
    ids=["en", "zh"],
)


def ended(language: Language, exchanged: tuple[tuple[str, str], ...], **fields: Any) -> Handover:
    """Return the handover of an ended session, with a summary of all its messages."""
    messages = [
        turn(2 * at + of, text, (Role.USER, Role.ASSISTANT)[of], day=12 + at)
        for at, both in enumerate(exchanged)
        for of, text in enumerate(both)
    ]
    summary = OfflineSummarizer().summarize(messages, "", 4_000)
    return handover(*messages, language=language, summary=summary, spans=sentence_spans, **fields)


def blocks(text: str) -> dict[str, str]:
    """Return the text under each heading."""
    parts = text.split("\n## ")[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


@TALKS
def test_messages_that_are_quoted_are_not_in_the_summary(
    language: Language, exchanged: tuple[tuple[str, str], ...]
):
    whole = ended(language, exchanged)
    assert len(blocks(whole.without_repeated_lines().text())) == 1
    older = replace(whole, recent=whole.recent[1:]).without_repeated_lines()
    summary, recent = blocks(older.text()).values()
    assert exchanged[0][0] in summary
    assert "2026-11-12" in summary
    assert all(each in recent and each not in summary for each in exchanged[1])
    roomy = whole.within(count(whole.without_repeated_lines().text()), count, shorten_summary)
    assert roomy.text() == whole.without_repeated_lines().text()


@TALKS
def test_a_summary_has_whole_sentences_once_at_any_budget(
    language: Language, exchanged: tuple[tuple[str, str], ...]
):
    start, end = sentence_spans(exchanged[2][0])[1]
    pinned = exchanged[2][0][start:end]
    pin = Pin(1, PinKind.CONSTRAINT, pinned, "agent", datetime(2026, 11, 12, tzinfo=UTC))
    whole = ended(language, exchanged, pins=[pin])
    known = set(whole.summary.splitlines())
    english = language is Language.ENGLISH
    refused = "(What was said before is not" if english else "（因篇幅所限，此处没有"
    least = count(replace(whole, summary="", recent=()).text())
    seen = set()
    for budget in range(least, 330, 9):
        held = whole.within(budget, count, shorten_summary)
        text = held.text()
        assert count(text) <= budget
        lines = held.summary.splitlines()
        seen.add((bool(lines), refused in text))
        assert set(lines) <= known
        assert text.count(pinned) == 1 or pinned in "".join(e.text for e in held.messages)
        below = [sentence for each in held.messages for sentence in each.text.split("\n")]
        assert not [each for each in lines if each.partition(": ")[2] in below]
        if lines:
            assert lines[0].startswith("2026-11-1")
            assert refused not in text
        follows = bool(held.left_out and held.messages)
        assert ("before the next" in text) == (english and follows)
    assert seen >= {(True, False), (False, True)}


@TALKS
def test_without_quoted_messages_there_is_no_heading_for_them(
    language: Language, exchanged: tuple[tuple[str, str], ...]
):
    whole = ended(language, exchanged)
    held = next(
        held
        for budget in range(20, 200)
        if (held := whole.within(budget, count, shorten_summary)).left_out == 6
    )
    words = "(6 messages are not here word for word, for want of room)"
    if language is Language.CHINESE:
        words = "（因篇幅所限，此处略去原文 6 条消息）"
    assert held.text().endswith(f"\n\n{words}\n")
    assert "word for word\n" not in held.text()
    assert "对话原文" not in held.text()


def test_a_summary_in_a_models_own_words_is_kept():
    summary = "Nora's oven broke down.\nIt was the plug.\n\n- A cake without nuts, for Lena."
    whole = replace(ended(Language.ENGLISH, ENGLISH), summary=summary)
    assert whole.without_repeated_lines().summary == summary
