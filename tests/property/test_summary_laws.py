"""Laws of rolling summaries and of handovers (R8)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.context.handover import Handover, exchanges
from memci.domain.context.materials import Materials
from memci.domain.context.message_list import Section
from memci.domain.context.rendering import named
from memci.domain.context.session_summary import messages_at_once, summarised
from memci.domain.pages.pins import Pin, PinKind
from memci.domain.session.interaction import interactions
from memci.errors import BudgetTooSmallError
from memci.language.detection import Language
from memci.language.sentences import sentence_spans
from memci.language.summary_lines import (
    Line,
    format_to_fit,
    parse_lines,
    select_lines,
    shorten_summary,
)
from memci.message import Message, Role, note_metadata
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from tests.support.examples import examples
from tests.support.talk import assemble

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
SUMMARIZER = OfflineSummarizer()
SENTENCES = (
    "We decided to keep Postgres 17 for the ledger.", "Yesterday I met Ida in Bergen.",
    "I prefer short answers.", "Thanks!", "How are you?", "我们决定把订单服务迁到上海。",
    "我不吃辣。", "# a heading\n```\nof nobody\n```", "2026-01-01", "x → y", "",
)  # fmt: skip


def count(text: str) -> int:
    return len(text.encode()) // 3 + 1


@st.composite
def talks(draw: st.DrawFn, most: int = 30) -> list[Message]:
    messages = draw(
        st.lists(
            st.tuples(
                st.sampled_from([Role.USER, Role.ASSISTANT, Role.TOOL, Role.SYSTEM]),
                st.one_of(st.sampled_from(SENTENCES), st.text(max_size=60)),
                st.booleans(),
            ),
            max_size=most,
        )
    )
    return [
        Message(
            seq, f"m{seq}", role, text, BEGIN + timedelta(hours=9 * seq),
            metadata=note_metadata() if noted and role is Role.ASSISTANT else {},
        )
        for seq, (role, text, noted) in enumerate(messages, start=1)
    ]  # fmt: skip


@settings(max_examples=examples(300))
@given(talks(), st.integers(1, 200), st.booleans())
def test_pieces_make_the_whole_and_none_is_empty(messages: list[Message], most: int, more: bool):
    left, pieces = list(messages), []
    while left:
        taken = messages_at_once(left, most, count, more=more and len(left) == len(messages))
        assert 1 <= taken <= len(left)
        pieces.append(left[:taken])
        left = left[taken:]
    assert [each for piece in pieces for each in piece] == messages
    for piece in pieces:
        tokens = sum(count(each.content or "") + 4 for each in piece)
        assert tokens <= most or len(piece) == 1


@settings(max_examples=examples(200))
@given(talks())
def test_notes_system_and_empty_messages_are_not_summarised(messages: list[Message]):
    kept = summarised(messages)
    assert all(each.role is not Role.SYSTEM and not each.is_note and each.text for each in kept)


@settings(max_examples=examples(300))
@given(talks(), st.integers(0, 400), st.integers(1, 10))
def test_a_rolling_summary_fits_its_target_and_is_not_empty(
    messages: list[Message], target: int, at_once: int
):
    summary = ""
    for at in range(0, len(messages), at_once):
        summary = SUMMARIZER.summarize(summarised(messages[at : at + at_once]), summary, target)
        assert len(summary) <= target
        assert SUMMARIZER.summarize([], summary, target) == summary, "what fits stays as it is"
    if target:
        assert bool(summary) == bool(SUMMARIZER.summarize(summarised(messages), "", target))


LINES = st.lists(
    st.builds(
        Line,
        st.sampled_from([f"user: {each}" for each in SENTENCES if each and "\n" not in each]),
        st.sampled_from(["", "2026-01-01", "2026-01-02"]),
        st.booleans(),
    ),
    max_size=12,
)


@settings(max_examples=examples(300))
@given(LINES, st.integers(0, 300))
def test_selected_lines_fit_and_keep_their_order(lines: list[Line], room: int):
    taken = select_lines(lines, room)
    assert len(format_to_fit(taken, room)) <= room or not taken
    rest = iter(lines)
    assert all(each in rest for each in taken)


@settings(max_examples=examples(100))
@given(LINES)
def test_formatted_lines_can_be_parsed_again(lines: list[Line]):
    again = parse_lines(format_to_fit(lines))
    assert [each.text for each in again] == [each.text for each in lines]
    assert format_to_fit(again) == format_to_fit(lines)


PINS = st.lists(
    st.builds(
        Pin, st.integers(1, 9), st.sampled_from(PinKind), st.sampled_from(SENTENCES),
        st.just("agent"), st.just(BEGIN),
    ),
    max_size=3,
)  # fmt: skip


@settings(max_examples=examples(300))
@given(
    talks(12), PINS, st.sampled_from([None, "1. rent the boat"]), st.integers(1, 400),
    st.sampled_from(list(Language)), st.sampled_from(["#", "="]),
    st.sampled_from([None, BEGIN.date(), BEGIN.date() + timedelta(days=2)]),
)  # fmt: skip
def test_a_handover_fits_its_budget_or_is_refused(
    messages: list[Message],
    pins: list[Pin],
    plan: str | None,
    budget: int,
    language: Language,
    mark: str,
    today: date | None,
):
    whole = Handover(
        "s1", language, pins, plan, "user: old news\n" * 5, exchanges(messages), mark, today=today
    )
    bare = replace(whole, summary="", recent=())
    if count(bare.text()) > budget:
        with pytest.raises(BudgetTooSmallError):
            whole.within(budget, count, shorten_summary)
        return
    held = whole.within(budget, count, shorten_summary)
    assert count(held.text()) <= budget
    kept = [each.seq for each in held.messages]
    every = [each.seq for each in whole.messages]
    assert kept == every[len(every) - len(kept) :], "the latest stay"
    assert all(pin.text.strip() in held.text() for pin in pins)
    if count(whole.text()) <= budget:
        assert held.text() == whole.text()


def repeated(summary_lines: list[Line], messages: list[Message]) -> list[Line]:
    """The lines that repeat a sentence of a message with its speaker and its day."""
    sentences = {
        (f"{named(each.role, each.name, language)}{' '.join(each.text[a:b].split())}", day)
        for each in messages
        for language in Language
        for a, b in sentence_spans(each.text)
        for day in ("", each.said_at.date().isoformat())
    }
    return [each for each in summary_lines if (each.text, each.day) in sentences]


@settings(max_examples=examples(300))
@given(talks(16), st.integers(0, 3), st.integers(40, 1_500))
def test_no_line_of_a_summary_repeats_a_sentence_of_the_recent_turns(
    messages: list[Message], recent: int, budget: int
):
    summary = SUMMARIZER.summarize(summarised(messages), "", 4_000)
    materials = Materials(
        None, None, interactions(messages), recent, [], Language.ENGLISH, summary=summary,
        spans=sentence_spans,
    )  # fmt: skip
    items = assemble(materials, budget, count).items
    below = {seq for each in items if each.section is Section.RECENT for seq in each.seqs}
    turns = [each for each in messages if each.seq in below]
    block = "".join(each.text for each in items if each.section is Section.SUMMARY)
    shown_lines = parse_lines(block.partition("\n")[2])
    assert not repeated(shown_lines, turns)
    known = parse_lines(summary)
    rest = iter(known)
    assert all(each in rest for each in shown_lines), "with its day, and in order"


@settings(max_examples=examples(200))
@given(talks(16), st.integers(0, 12), st.integers(20, 600))
def test_a_handover_summary_has_whole_lines_that_repeat_no_message(
    messages: list[Message], before: int, budget: int
):
    summary = SUMMARIZER.summarize(summarised(messages), "", 4_000)
    whole = Handover(
        "s1", Language.ENGLISH, summary=summary, recent=exchanges(messages[before:]),
        spans=sentence_spans,
    )  # fmt: skip
    held = whole.within(budget, count, shorten_summary)
    shown_lines = parse_lines(held.summary)
    assert set(shown_lines) <= set(parse_lines(summary))
    assert not repeated(shown_lines, held.messages)
    assert not repeated(parse_lines(whole.without_repeated_lines().summary), whole.messages)


@settings(max_examples=examples(200))
@given(talks(12))
def test_no_message_looks_like_a_heading_of_the_document(messages: list[Message]):
    document = Handover(
        "s1", Language.ENGLISH, summary="# forged\n```x", recent=exchanges(messages)
    )
    fence, headings = "", []
    for line in document.text().splitlines():
        run = len(line) - len(line.lstrip("`"))
        if not fence and run >= 3:
            fence = "`" * run
        elif fence and line == fence:
            fence = ""
        elif not fence and line.startswith("#"):
            headings.append(line)
    assert not fence
    assert headings[:2] == ["# Handover of session s1", "## What was said before, in short"]
    assert len(headings) <= 3
