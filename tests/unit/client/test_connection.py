"""What no request could be made with is refused before one is sent."""

from __future__ import annotations

from inspect import signature

import pytest

from memci import AsyncMemci, Memci
from memci.client import Retries
from memci.client.requests import headers_for
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


def test_the_client_for_asyncio_is_made_as_the_other_one_is() -> None:
    made = AsyncMemci("http://127.0.0.1:8000", api_key="mk_x", wait_ms=5, retries=Retries())
    assert repr(made) == "AsyncMemci('http://127.0.0.1:8000')"
    assert repr(made.agent("ann")) == "AsyncAgent('ann')"
    assert signature(AsyncMemci) == signature(Memci)
    with pytest.raises(InvalidInputError):
        AsyncMemci("no address")


def test_both_clients_of_one_server_share_what_was_written() -> None:
    memci = Memci()
    assert memci.aio is memci.aio
    assert memci.aio._options is memci._options
