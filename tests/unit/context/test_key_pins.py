"""Which findings are pinned beside others (R7)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memci.domain.context.key_pins import pinned
from memci.domain.pages.pin import Maker, Pin, PinKind
from memci.domain.pages.rules import PageRules

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def pin(number: int, text: str) -> Pin:
    return Pin(number, PinKind.CONSTRAINT, text, Maker.DETECTOR, NOW)


def after(there: Pin, found: Pin) -> tuple[list[int], tuple[int, ...]]:
    """Return which are added, and which gave way."""
    pins = pinned([found], [there], [], PageRules(), len)
    return [each.number for each in pins.added], pins.taken_down


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("Report deadline: 30 June, end of day.", "Report deadline: 14 July."),
        ("The deadline for the report is Friday.", "The deadline for the report is now March 3."),
        ("Our budget is $500 for the app.", "Our budget is 800 dollars for the app."),
        ("Keep the summary at most 200 words.", "Keep the summary at most 150 words."),
        ("报告的截止日期：6月30日。", "报告的截止日期改为7月14日。"),
        ("服务器预算最多5000元。", "服务器预算最多八千元。"),
    ],
)
def test_of_one_limit_the_newest_holds(before, now):
    assert after(pin(1, before), pin(2, now)) == ([2], (1,))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("The deadline for the report is Friday.", "The deadline for the slides is Friday."),
        ("Our budget is $500 for the app.", "The deadline for the app is 30 June."),
        ("The library has to run on Python 3.10.", "The library has to run on Python 3.12."),
        ("Never deploy on a Friday.", "Never deploy on a Monday."),
        ("Deadline: 30 June.", "Deadline: 14 July."),
        ("Our budget is $500.", "Our budget is $800."),
        ("预算最多5000元。", "预算最多八千元。"),
        ("报告的截止日期是周五。", "幻灯片的截止日期是周五。"),
    ],
)
def test_what_is_said_of_something_else_holds_as_well(before, now):
    assert after(pin(1, before), pin(2, now)) == ([2], ())


def test_what_others_pinned_or_see_never_gives_way():
    before, now = pin(1, "Report deadline: 30 June."), pin(2, "Report deadline: 14 July.")
    assert after(replace(before, by=Maker.AGENT), now) == ([2], ())
    assert after(replace(before, user_id="ada"), now) == ([2], ())
    assert after(replace(before, session_id="s1"), now) == ([2], ())


def test_within_one_message_the_last_holds():
    found = [pin(1, "Report deadline: 30 June."), pin(2, "Report deadline: 14 July.")]
    pins = pinned(found, [], [], PageRules(), len)
    assert [each.number for each in pins.added] == [2]
    assert pins.taken_down == ()
