"""Operations report the window in the format that the model uses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import httpx
import pytest

from memci import AsyncMemci, Memci
from memci.client import Agent
from memci.domain.pages.window_text import Format
from memci.errors import RefusedError
from tests.integration.http.serving import Served
from tests.support.command_line import run

PAGE = "usr-1"  # with tool calls, which take far more tokens as messages than in Markdown
CALLS = [
    {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": "look", "arguments": json.dumps({"at": str(number)})},
    }
    for number in range(20)
]
LIMIT = 600  # between the sizes in both formats


@pytest.fixture
def alice(server: Served) -> Iterator[Agent]:
    with Memci(server.url) as client:
        agent = client.agent("alice")
        agent.record(
            [
                {"role": "user", "content": "Look at all of it"},
                {"role": "assistant", "tool_calls": CALLS},
                *({"role": "tool", "tool_call_id": each["id"], "content": "ok"} for each in CALLS),
                {"role": "assistant", "content": "I have seen all."},
                {"role": "user", "content": "Thank you"},
            ],
            session_id="s1",
            remember="never",
        )
        agent.hide_details(PAGE)
        yield agent


def test_an_opened_page_is_open_in_the_next_window(alice: Agent) -> None:
    before = alice.window(format="native").tokens
    opened = alice.call_tool("expand_details", {"index": PAGE}, format="native")
    window = alice.window(format="native")
    assert (opened["tokens_before"], opened["tokens_after"]) == (before, window.tokens)
    assert CALLS in [each.get("tool_calls") for each in window.as_dicts()]
    again = alice.hide_details(PAGE, format=Format.NATIVE)
    assert (again.tokens_before, again.tokens_after) == (window.tokens, before)


@pytest.mark.parametrize("form", list(Format))
def test_reported_tokens_are_those_of_the_next_window(alice: Agent, form: Format) -> None:
    for verb in ("expand_details", "hide_details", "pin_page"):
        before = alice.window(format=form).tokens
        done = alice.call_tool(verb, {"index": PAGE}, format=form)
        assert done["tokens_before"] == before
        assert done["tokens_after"] == alice.window(format=form).tokens


def test_a_page_that_fits_only_in_markdown_is_refused_in_native(alice: Agent) -> None:
    alice.configure({"window_max_tokens": LIMIT})
    assert alice.expand_details(PAGE).tokens_after == alice.window().tokens < LIMIT
    alice.hide_details(PAGE)
    for attempt in (
        lambda: alice.call_tool("expand_details", {"index": PAGE}, format="native"),
        lambda: alice.expand_details(PAGE, format="native"),
    ):
        with pytest.raises(RefusedError, match=rf"{PAGE} does not fit: it takes 6\d\d tokens"):
            attempt()
    assert alice.window(format="native").collapsed == []


def test_a_page_opened_in_markdown_is_hidden_in_native(alice: Agent) -> None:
    """A page opened in Markdown does not fit into a native window, and stays hidden."""
    alice.configure({"window_max_tokens": LIMIT})
    alice.expand_details(PAGE)
    window = alice.window(format="native")
    assert window.collapsed == [PAGE]
    noted = alice.call_tool("pin", {"text": "Be brief."}, format="native")
    assert (noted["tokens_before"], noted["collapsed"]) == (window.tokens, [])
    assert noted["tokens_after"] == alice.window(format="native").tokens
    assert not alice.page(PAGE).page.expanded


def test_every_interface_takes_a_format(server: Served, alice: Agent, http: httpx.Client) -> None:
    alice.configure({"window_max_tokens": LIMIT})
    path = "/v1/agents/alice"
    for route in ("tools", "pages"):
        url = f"{path}/{route}/expand_details?format=native"
        assert http.post(url, json={"index": PAGE}).status_code == 403
        refused = http.post(url.replace("native", "yaml"), json={"index": PAGE})
        assert (refused.status_code, refused.json()["field"]) == (422, "format")
    command = ("pages", "expand-details", PAGE, "--agent", "alice")
    settings = {"MEMCI_API_URL": server.url}
    assert "does not fit" in run(*command, "--format", "native", settings=settings).stderr
    assert run(*command, settings=settings).returncode == 0

    async def go() -> None:
        async with AsyncMemci(server.url) as client:
            agent = client.agent("alice")
            await agent.hide_details(PAGE, format="native")
            with pytest.raises(RefusedError, match="does not fit"):
                await agent.expand_details(PAGE, format="native")

    asyncio.run(go())
