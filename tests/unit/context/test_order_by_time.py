"""Questions for the latest or the earliest of several occasions (R11)."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memci.domain.search.candidate import Candidate, Channel, Source
from memci.domain.search.hints import Hints
from memci.language.question.intent import Order
from tests.support.talk import BEGIN, memory, message, ranked_hits

DAY = timedelta(days=1)
RUNS = range(10)
TEXT = "a text as long as any"


def chat(seq: int, dense: float, at: datetime) -> Candidate:
    return message(seq, TEXT, dense=dense, session_id=f"s{seq}")._replace(at=at)


def fused(candidates: list[Candidate], order: Order | None) -> list[int]:
    ranked = ranked_hits(candidates, Hints(order=order), (Channel.DENSE,))
    return [each.candidate.key for each in ranked]


def runs() -> list[Candidate]:
    """Return ten messages about runs, one a day; those in the middle match best."""
    return [chat(seq, 0.9 - 0.02 * abs(seq - 5), BEGIN + seq * DAY) for seq in RUNS]


def test_without_an_order_the_best_match_ranks_first() -> None:
    assert fused(runs(), None)[0] == 5


@pytest.mark.parametrize(("order", "expected"), [(Order.LATEST, [9, 8]), (Order.EARLIEST, [0, 1])])
def test_the_latest_or_earliest_match_ranks_first(order: Order, expected: list[int]) -> None:
    found = fused(runs(), order)
    assert found[0] == expected[0]
    # The best match of all may be next.
    assert [each for each in found if each != 5][:2] == expected


@pytest.mark.parametrize("order", Order)
def test_messages_about_other_things_gain_nothing(order: Order) -> None:
    others = [chat(20, 0.3, BEGIN + 30 * DAY), chat(21, 0.3, BEGIN - 30 * DAY)]
    assert set(fused([*runs(), *others], order)[-2:]) == {20, 21}


def test_a_conversation_about_it_is_one_occasion() -> None:
    talk = [chat(30 + n, 0.8, BEGIN + 11 * DAY + n * timedelta(minutes=1)) for n in range(8)]
    assert set(fused([*runs(), *talk], Order.LATEST)[:8]) == {each.key for each in talk}
    others = fused([*runs(), *talk], Order.LATEST)[8:]
    assert others.index(9) < others.index(8)


def test_memories_and_messages_are_ordered_together() -> None:
    newest = memory(40, text=TEXT, dense=0.85)._replace(at=BEGIN + 12 * DAY)
    assert fused([*runs(), newest], Order.LATEST)[0] == 40


def test_the_latest_inside_a_named_time_ranks_first() -> None:
    def fits(at: datetime, _session: str | None) -> float:
        return 1.0 if at < BEGIN + 7 * DAY else 0.4

    hints = Hints(time_fit=fits, order=Order.LATEST)
    assert ranked_hits(runs(), hints, (Channel.DENSE,))[0].candidate.key == 6


def test_earlier_questions_are_no_occasions() -> None:
    asked = [
        message(60 + n, "Did I run then or not?", dense=0.9)._replace(at=BEGIN + (12 + n) * DAY)
        for n in range(3)
    ]
    assert fused([*runs(), *asked], Order.LATEST)[0] == 9


def test_a_much_better_match_ranks_before_newer_ones() -> None:
    report = Candidate(Source.DOCUMENT, 70, TEXT, (), BEGIN, dense=0.9)
    newer = [chat(80, 0.42, BEGIN + 20 * DAY), chat(81, 0.38, BEGIN + 21 * DAY)]
    assert fused([report, *newer], Order.LATEST)[0] == 70


def test_the_time_when_a_document_was_added_does_not_count() -> None:
    added = Candidate(Source.DOCUMENT, 50, TEXT, (), BEGIN + 12 * DAY, dense=0.85)
    assert fused([*runs(), added], Order.LATEST)[0] == 9
