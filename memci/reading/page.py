"""Pages of lists: a cursor names the last thing of the page before, and is opaque to callers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from memci.errors import InvalidInputError

T = TypeVar("T")


def place_after(cursor: str | None, parts: int = 1) -> tuple[int, ...]:
    """Return the whole numbers in a cursor, below all others for the first page.

    Raises ``InvalidInputError`` for a cursor that no list of ours gave.
    """
    if cursor is None:
        return (-1,) * parts
    numbers = cursor.split(".")
    if len(numbers) != parts or not all(_is_number(each) for each in numbers):
        raise InvalidInputError(
            "not a cursor of this list: send next_cursor of its last page as it came",
            field="cursor",
        )
    return tuple(int(each) for each in numbers)


def page_of(
    rows: Sequence[T], limit: int, name: Callable[[T], object]
) -> tuple[Sequence[T], str | None]:
    """Cut rows, of which one more than ``limit`` was asked for, and return the next cursor."""
    if len(rows) <= limit:
        return rows, None
    return rows[:limit], str(name(rows[limit - 1]))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < len(str(2**63))
