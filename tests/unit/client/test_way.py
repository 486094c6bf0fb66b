"""What no request could be made with is refused before one is sent."""

from __future__ import annotations

import pytest

from memci import Memci
from memci.client.way import headers_for
from memci.errors import InvalidInputError


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8000", "localhost:8000", "http://", "http://[::1", "ftp://a"]
)
def test_an_address_that_is_none_is_answered_with_one(url: str) -> None:
    with pytest.raises(InvalidInputError, match=r"such as http://127\.0\.0\.1:8000") as refused:
        Memci(url)
    assert refused.value.field == "url"


def test_the_line_break_that_ends_a_file_is_no_part_of_a_key() -> None:
    assert headers_for("secret\r\n") == {"Authorization": "Bearer secret"}
    assert headers_for("\n") == headers_for(None) == {}


@pytest.mark.parametrize("key", ["sec\nret", "sec\x00ret", "sécret"])
def test_a_key_that_no_header_takes_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(InvalidInputError, match="line break") as refused:
        Memci(api_key=key)
    assert refused.value.field == "api_key"
    assert key not in str(refused.value)
