"""Cursors of lists in pages."""

from __future__ import annotations

import pytest

from memci.errors import InvalidInputError
from memci.reading.lists.cursors import page_of, place_after


def test_a_first_page_begins_before_everything():
    assert place_after(None) == (-1,)
    assert place_after(None, parts=2) == (-1, -1)


def test_a_cursor_names_the_last_element_of_its_page():
    page, cursor = page_of([3, 5, 8], 2, str)
    assert (page, cursor) == ([3, 5], "5")
    assert place_after(cursor) == (5,)
    assert page_of([3, 5], 2, str) == ([3, 5], None)
    assert place_after("5.17", parts=2) == (5, 17)


@pytest.mark.parametrize("cursor", ["", "x", "1.2", "-1", "9" * 30, " 1", "٣", "²"])
def test_an_invalid_cursor_is_refused(cursor: str):
    with pytest.raises(InvalidInputError) as refused:
        place_after(cursor)
    assert refused.value.field == "cursor"
