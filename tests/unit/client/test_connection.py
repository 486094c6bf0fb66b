"""A bad address or key is refused before a request is sent."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest

from memci import AsyncMemci, Memci
from memci.client import Retries
from memci.client.requests import headers_for
from memci.errors import InvalidInputError


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8000", "localhost:8000", "http://", "http://[::1", "ftp://a"]
)
def test_a_bad_address_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(InvalidInputError, match=r"such as http://127\.0\.0\.1:8000") as refused:
        Memci(url)
    assert refused.value.field == "url"


def test_without_an_address_it_says_what_runs_a_server() -> None:
    unset: Any = None
    with pytest.raises(InvalidInputError, match=r"Memci\.local\(\) runs a server"):
        Memci(unset)


def test_a_line_break_after_a_key_is_removed() -> None:
    assert headers_for("secret\r\n") == {"Authorization": "Bearer secret"}
    assert headers_for("\n") == headers_for(None) == {}


@pytest.mark.parametrize("key", ["sec\nret", "sec\x00ret", "sécret"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(InvalidInputError, match="line break") as refused:
        Memci(api_key=key)
    assert refused.value.field == "api_key"
    assert key not in str(refused.value)


def test_both_clients_have_the_same_constructor() -> None:
    client = AsyncMemci("http://127.0.0.1:8000", api_key="mk_x", wait_ms=5, retries=Retries())
    assert repr(client) == "AsyncMemci('http://127.0.0.1:8000')"
    assert repr(client.agent("ann")) == "AsyncAgent('ann')"
    assert signature(AsyncMemci) == signature(Memci)
    with pytest.raises(InvalidInputError):
        AsyncMemci("no address")


def test_the_async_client_of_a_client_shares_its_options() -> None:
    memci = Memci()
    assert memci.aio is memci.aio
    assert memci.aio._options is memci._options
