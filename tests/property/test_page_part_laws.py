"""The parts of a text make the whole text, and no part is too long (P4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.domain.pages.text_search import MOST_TOKENS, text_part
from memci.errors import InvalidInputError
from memci.smallmodel.offline.token_counter import OfflineTokenCounter

COUNTER = OfflineTokenCounter()


def parts(text, count):
    """Read a text as a model does: each part at the offset that the last one gave."""
    offset = 0
    while offset is not None:
        part = text_part(text, offset, count)
        yield part.text
        offset = part.next_offset


@given(st.lists(st.text(max_size=40), max_size=20), st.integers(1, 900), st.sampled_from([1, 3]))
def test_the_parts_make_the_text_and_none_is_too_long(pieces, times, tokens_each):
    text = "".join(pieces) * times

    def count(part):
        return len(part) * tokens_each

    found = list(parts(text, count))
    assert "".join(found) == text
    assert all(count(each) <= MOST_TOKENS for each in found)
    assert all(found[:-1]), "each but the last brings it on"


@pytest.mark.parametrize(
    "text", ["word " * 30_000, "字" * 60_000, "a line\n" * 20_000, " " * 300_000, "x" * 200_000]
)
def test_with_real_tokens_parts_fit_and_are_large(text):
    found = list(parts(text, COUNTER.count))
    assert "".join(found) == text
    counted = [COUNTER.count(each) for each in found]
    assert max(counted) <= MOST_TOKENS
    enough = [
        tokens > 0.8 * MOST_TOKENS or len(each) >= 16 * MOST_TOKENS * 0.9
        for tokens, each in zip(counted[:-1], found[:-1], strict=True)
    ]
    assert all(enough)


def test_words_and_lines_stay_whole():
    assert all(each.endswith("\n") for each in list(parts("a line\n" * 20_000, COUNTER.count)))
    assert all(each.endswith(" ") for each in list(parts("word " * 30_000, COUNTER.count)))


def test_an_offset_at_the_end_is_refused():
    assert text_part("", 0, len) == ("", None)
    with pytest.raises(InvalidInputError, match="ends before that, at offset 3"):
        text_part("abc", 3, len)
