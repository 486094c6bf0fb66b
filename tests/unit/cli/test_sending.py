"""Messages are split into requests within the limits of the server."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.cli.commands.remember import batches, check_sizes
from memci.cli.formats.parsed_file import BadFileError, Parsed
from memci.message import AppendLimits

MESSAGES = st.lists(
    st.text(max_size=300).map(lambda text: {"role": "user", "content": text}), max_size=40
)


@given(MESSAGES, st.integers(1, 7), st.integers(3_000, 5_000))
def test_batches_keep_order_lose_nothing_and_stay_within_the_limits(messages, most, most_bytes):
    limits = AppendLimits(most_bytes, 10**6, most)
    split = list(batches(messages, limits))
    assert [message for batch in split for message in batch] == messages
    assert all(batch and len(batch) <= most for batch in split)
    for batch in split:
        size = len(json.dumps({"messages": batch}).encode())
        assert size <= most_bytes or len(batch) == 1


def test_a_message_over_the_limit_is_named_before_anything_is_sent():
    parsed = Parsed("chat text")
    parsed.add({"role": "user", "content": "short"}, "line 1")
    parsed.add({"role": "user", "content": "long" * 1000}, "line 2")
    limits = AppendLimits(10**6, 1000, 500)
    with pytest.raises(BadFileError, match=r"^line 2: a message of 4,.* limit is 1,000"):
        check_sizes(parsed, limits)
