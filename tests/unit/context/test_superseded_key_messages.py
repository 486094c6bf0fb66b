"""When a key message supersedes an older one (R6, R7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from memci.domain.pages.automatic_pins import KeyPins, pinned
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.pins import Maker, Pin, PinKind

SUPERSEDING = (
    ("Our budget is $4,800.", "Our budget is $6,200 now."),
    ("The budget for the app is $4,800.", "The budget for the app has been raised to $6,200."),
    ("Deadline: 30 June, end of day.", "The deadline has been moved to 15 July."),
    ("The deadline is 30 June.", "Deadline: 15 July."),
    ("We decided to use Postgres for the database.", "We decided to use MySQL for the database."),
    ("From now on, answer in English.", "Please answer in Chinese, even when I write English."),
    ("Please answer in English.", "Please answer in Chinese, not in English."),
    ("Keep your answers short.", "From now on, keep your answers detailed."),
    ("Please call me Ann.", "Please call me Annie."),
    ("Always use metric units.", "From now on use imperial units."),
    ("我们的预算是5000元。", "我们的预算增加到8000元。"),
    ("预算：5000元。", "预算是8000元。"),
    ("截止时间：6月30日下班前。", "截止时间推迟到7月15日。"),
    ("我们决定用 Postgres 做数据库。", "我们决定改用 MySQL 做数据库。"),
    ("以后请用中文回答我。", "以后请用英文回答我。"),
    ("以后叫我老王。", "以后请叫我王老师。"),
    ("回答问题时请尽量简洁。", "以后回答请尽量详细。"),
    ("请一律用公制单位。", "以后请都用英制单位。"),
    ("From now on, answer in English.", "以后请用中文回答我。"),
)
# Both sentences of a pair hold.
COMPATIBLE = (
    ("Our budget is $4,800.", "The budget for the app is $900."),
    ("Our budget is $4,800.", "The deadline is 30 June."),
    ("Our budget is $4,800 for flights.", "Our budget is $900 for hotels."),
    ("Our budget is $100 per person.", "Our budget is $2,000 in total."),
    ("My budget is $500.", "Our budget is $900."),
    ("Our launch date is 15 July.", "Our submission date is 30 June."),
    ("The deadline for the report is Friday.", "The deadline for the slides is 30 June."),
    ("The deadline is 30 June for the draft.", "The deadline is 15 July for the final version."),
    ("We decided to use Postgres for the database.", "We decided to use Redis for the cache."),
    ("We decided to use Python for scripts.", "We decided to use Go for scripts."),
    ("Always answer in English.", "Answer in German when I write in German."),
    ("Always answer in English.", "Always reply in German to my mother."),
    ("Always answer in English.", "Never answer in German."),
    ("Always answer in English.", "Always write the documentation in German."),
    ("Always answer in English and include prices in euros.", "Please answer in German."),
    ("Always answer in English.", "Keep your answers short."),
    ("Keep your answers short and never include emojis.", "Keep your answers detailed."),
    ("Keep your answers short.", "Keep your explanations detailed."),
    ("Please call me Ann.", "Never call me before nine in the morning."),
    ("Always use metric units.", "Always use imperial units in the US report."),
    ("Always use metric units and never send my emails.", "From now on use imperial units."),
    ("Please build the landing page, the deadline is 30 June.", "The deadline is now 15 July."),
    ("Never commit to the main branch.", "Never touch the production database."),
    ("我们的预算是5000元。", "截止日期是6月30日。"),
    ("我们的预算是每晚800元。", "我们的预算是一共5000元。"),
    ("帮我做一个网站，我们的预算是5000元。", "我们的预算增加到8000元。"),
    ("交付日期是6月1日。", "上线日期是7月1日。"),
    ("我们决定用 Python 写脚本。", "我们决定用 Go 写脚本。"),
    ("以后请用中文回答我。", "客户的邮件必须用英文回复。"),
    ("以后请用中文回答我。", "以后请用中文回答，并且必须附上代码。"),
    ("以后请用中文回答我。", "以后叫我老王。"),
    ("以后叫我老王。", "千万别在早上八点前叫我起床。"),
    ("以后叫我老王。", "以后请每天七点叫我起床。"),
    ("密码不能写进日志。", "不要直接修改生产环境的数据库。"),
)


@pytest.mark.parametrize(("older", "newer"), SUPERSEDING)
def test_a_contradicting_key_message_supersedes_the_older_one(older: str, newer: str):
    assert added(pin(1, older), pin(2, newer)) == [newer]
    assert added(pin(1, newer), pin(2, older)) == [older]


@pytest.mark.parametrize(("older", "newer"), COMPATIBLE)
def test_a_compatible_key_message_keeps_the_older_one(older: str, newer: str):
    assert added(pin(1, older), pin(2, newer)) == [older, newer]


def test_a_repeated_key_message_supersedes_again():
    texts = ["Our budget is $4,800.", "Our budget is $6,200 now.", "Our budget is $4,800 again."]
    assert added(*(pin(number, each) for number, each in enumerate(texts, start=1))) == [texts[2]]


def test_a_pin_of_the_agent_supersedes_an_older_detected_pin():
    own = replace(pin(2, "Our budget is $6,200 now."), by=Maker.AGENT, speaker=None)
    done = pinned_with([pin(1, "Our budget is $4,800."), own], [pin(3, own.text)])
    assert (done.added, done.taken_down) == ((), (1,))


def test_a_superseded_pin_is_taken_down_and_reported():
    done = pinned_with([pin(1, "Our budget is $4,800.")], [pin(2, "Our budget is $6,200 now.")])
    assert (done.added, done.taken_down) == ((pin(2, "Our budget is $6,200 now."),), (1,))


def test_a_finding_that_is_over_gives_its_place_to_a_new_one():
    over = replace(pin(1, "I prefer tea (until 2026-01-02)."), is_over=True)
    pinned_by_agent = replace(over, number=2, by=Maker.AGENT)
    done = pinned_with([over, pinned_by_agent], [pin(3, "I prefer window seats.")])
    assert ([each.number for each in done.added], done.taken_down) == ([3], (1,))


@pytest.mark.parametrize(
    "older",
    [
        {"by": Maker.AGENT},
        {"by": Maker.DEVELOPER},
        {"user_id": None},
        {"user_id": "bob"},
        {"speaker": "Bob"},
        {"kind": PinKind.TASK},
        {"created_at": datetime(2026, 1, 3, tzinfo=UTC)},
    ],
    ids=str,
)
def test_pins_of_others_are_not_superseded(older: dict[str, Any]):
    there = replace(pin(1, "Our budget is $4,800."), **older)
    assert pinned_with([there], [pin(2, "Our budget is $6,200 now.")]).taken_down == ()


@pytest.mark.parametrize(
    ("older", "newer", "gives_way"),
    [
        ("Our budget is $4,800.", "Our budget is $900.", False),
        ("Our budget is $4,800.", "Our budget is $6,200 now.", True),
        ("The deadline is 30 June.", "The deadline has been moved to 15 July.", True),
        ("我们的预算是5000元。", "我们的预算是800元。", False),
        ("我们的预算是5000元。", "我们的预算增加到8000元。", True),
        ("From now on, answer in English.", "Please answer in Chinese.", True),
    ],
)
def test_in_another_session_only_an_explicit_change_supersedes(
    older: str, newer: str, *, gives_way: bool
):
    """Without it, the new sentence may be about another trip with its own budget."""
    there, here = (
        replace(pin(1, older), message_session="s1"),
        replace(pin(2, newer), message_session="s2"),
    )
    assert pinned_with([there], [here]).taken_down == ((1,) if gives_way else ())


def test_constraints_outlast_other_key_messages():
    talk = [
        replace(pin(at, f"We go with plan {at}."), kind=PinKind.DECISION) for at in range(2, 20)
    ]
    kept = added(pin(1, "I'm allergic to nuts."), *talk)
    assert kept == ["I'm allergic to nuts.", *(each.text for each in talk[-7:])]
    constraints = [pin(at, f"Never open door {at}.") for at in range(2, 20)]
    plan = replace(pin(20, "We go with Ann."), kind=PinKind.DECISION)
    assert added(*constraints, plan) == [*(each.text for each in constraints[-7:]), plan.text]


def pin(number: int, text: str) -> Pin:
    at = datetime(2026, 1, number, tzinfo=UTC)
    return Pin(
        number, PinKind.CONSTRAINT, text, Maker.DETECTOR, at, number, user_id="ann", speaker="Ann"
    )


def added(*found: Pin) -> list[str]:
    return [each.text for each in pinned_with([], found).added]


def pinned_with(there: Iterable[Pin], found: Iterable[Pin]) -> KeyPins:
    return pinned(found, list(there), [], PageRules(), len)
