"""The checks of the soak notice what they are for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.soak.checks import Found, Row, check_agent
from tests.soak.ledger import NEVER, NOW, Ledger, Stream, Success, message_id
from tests.soak.report import Waits

COUNT = 20


def streams() -> list[Stream]:
    both = [Stream("a", "http", NOW), Stream("a", "celery", NEVER)]
    for each in both:
        each.batch(COUNT)
    return both


def stored() -> list[Row]:
    """Both streams, one message of each in turn."""
    contents = [zip(range(COUNT), each.contents(), strict=False) for each in streams()]
    rows: list[Row] = []
    for made, never in zip(*contents, strict=True):
        for name, (number, (role, content)) in (("http", made), ("celery", never)):
            is_made, seq = name == "http", len(rows) + 1
            state = "made" if is_made else "none"
            rows.append(Row(seq, message_id(name, number), role, content, True, state, seq,
                            int(is_made)))  # fmt: skip
    return rows


def check(rows: list[Row]) -> Found:
    return check_agent(streams(), rows)


def test_what_was_sent_keeps_all_laws():
    found = check(stored())
    assert (found.broken, found.stored, found.through_memory) == ({}, 2 * COUNT, {"made": COUNT})


def remove(rows: list[Row]) -> None:
    del rows[4]


def double(rows: list[Row]) -> None:
    rows.insert(5, rows[4]._replace(seq=99, position=99))


def invent(rows: list[Row]) -> None:
    rows.append(rows[4]._replace(seq=99, position=99, id=f"http-{COUNT}"))


def foreign(rows: list[Row]) -> None:
    rows.append(rows[4]._replace(seq=99, position=99, id="other-1"))


def index_twice(rows: list[Row]) -> None:
    rows[5] = rows[5]._replace(position=rows[4].position)


def create_twice(rows: list[Row]) -> None:
    rows[4] = rows[4]._replace(creations=2)


def create_never(rows: list[Row]) -> None:
    rows[4] = rows[4]._replace(creations=0)


def swap(rows: list[Row]) -> None:
    rows[4], rows[6] = rows[6], rows[4]


def change(rows: list[Row]) -> None:
    rows[4] = rows[4]._replace(content="something else")


def forget_to_index(rows: list[Row]) -> None:
    rows[5] = rows[5]._replace(indexed=False)


def leave_pending(rows: list[Row]) -> None:
    rows[4] = rows[4]._replace(memory_state="pending")


@pytest.mark.parametrize(
    ("damage", "law"),
    [
        (remove, "lost"),
        (double, "doubled"),
        (invent, "doubled"),
        (foreign, "doubled"),
        (index_twice, "doubled"),
        (create_twice, "doubled"),
        (swap, "reordered"),
        (change, "changed"),
        (create_never, "unfinished"),
        (forget_to_index, "unfinished"),
        (leave_pending, "unfinished"),
    ],
)
def test_one_damaged_message_breaks_a_law(damage: Callable[[list[Row]], None], law: str):
    rows = stored()
    damage(rows)
    assert check(rows).broken == {law: 1}


def test_what_the_broker_lost_may_come_later():
    rows = stored()
    late = [row for row in rows if row.id in {"http-3", "http-4"}]
    rows = [row for row in rows if row not in late] + late
    both = streams()
    assert check_agent(both, rows).broken == {"reordered": 1}
    both[0].lost_by_broker = {3, 4}
    assert not check_agent(both, rows).broken


@pytest.mark.parametrize(
    ("status", "retry_after", "is_lawful"),
    [(202, False, True), (503, True, True), (503, False, False), (500, True, False),
     (409, False, False)],
)  # fmt: skip
def test_the_only_lawful_errors_are_503_with_retry_after(status, retry_after, is_lawful):
    ledger = Ledger()
    ledger.answered("accept", status, retry_after=retry_after, what="…")
    assert bool(ledger.broken) is not is_lawful


def test_recovery_counts_only_requests_that_were_sent_after_the_fault():
    waits = Waits([Success(5.0, 12.0), Success(11.0, 14.0), Success(12.0, 13.5)])
    assert waits.after(10.0) == 3.5
    assert waits.after(4.0) == 8.0
    assert waits.after(20.0) is None
