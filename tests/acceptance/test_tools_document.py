"""What docs/tools.md shows works as it stands."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from memci import Memci
from memci.schemas.tools import tools_of_agents
from tests.integration.http.conftest import serve
from tests.support.fleet import ROOT
from tests.support.mcp_clients import talk
from tests.support.model_server import ModelServer, model_server, sends

__all__ = ["serve"]

TEXT = (ROOT / "docs/tools.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def block(language: str) -> str:
    (body,) = (body for name, body in BLOCKS if name == language)
    return body


def completion(**message: Any) -> Any:
    """What a model says, or asks for, as OpenAI's API puts it."""
    choice = {
        "index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message},
    }  # fmt: skip
    body = {
        "id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice],
    }  # fmt: skip
    return sends(json.dumps(body).encode())


def calls(*made: tuple[str, str, dict[str, Any] | str]) -> Any:
    return completion(
        content=None,
        tool_calls=[
            {
                "id": number,
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": given if isinstance(given, str) else json.dumps(given),
                },
            }
            for number, name, given in made
        ],
    )


@pytest.fixture
def model():
    with model_server() as running:
        yield running


def loop(monkeypatch: pytest.MonkeyPatch, model: ModelServer, url: str) -> Any:
    """The loop of the document, with its addresses changed."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", model.url)
    names: dict[str, Any] = {}
    exec(block("python").replace("http://127.0.0.1:8000", url), names)  # noqa: S102 - ours
    return names


def test_the_loop_runs(serve, model, monkeypatch):
    server = serve()
    names = loop(monkeypatch, model, server.url)
    note = {"name": "Colour", "detail": "Blue is liked.", "parent": "usr-0"}
    model.script += [
        calls(("t1", "create_detail_page", note), ("t2", "expand_details", {"index": "usr-9"})),
        calls(("t3", "expand_details", '{"index": "usr-2"}'), ("t4", "no_such_tool", "{")),
        completion(content="Noted."),
    ]
    try:
        assert names["answer"]("I like blue.") == "Noted."
        with Memci(server.url) as client:
            text = client.agent("alice").window().as_dicts()[-1]["content"]
    finally:
        names["model"].close()
        names["memory"]._transport.close()
    assert [len(each.body["tools"]) for each in model.asked] == [len(tools_of_agents())] * 3
    first, second, third = (each.body["messages"] for each in model.asked)
    assert "I like blue." in json.dumps(first)
    answers = {each["tool_call_id"]: each["content"] for each in second if each["role"] == "tool"}
    assert json.loads(answers["t1"])["index"] == "usr-2"
    assert "usr-9" in json.loads(answers["t2"])["error"]
    answers = {each["tool_call_id"]: each["content"] for each in third if each["role"] == "tool"}
    assert json.loads(answers["t3"])["state"] == "expanded"
    assert "JSON object" in json.loads(answers["t4"])["error"]
    assert "Blue is liked." in json.dumps(third)
    assert "Blue is liked." in text


@pytest.mark.parametrize("nothing", [None, ""])
def test_the_loop_goes_on_after_an_answer_that_says_nothing(serve, model, monkeypatch, nothing):
    server = serve()
    names = loop(monkeypatch, model, server.url)
    model.script += [completion(content=nothing), completion(content="Hello.")]
    try:
        assert names["answer"]("Hi") == "(no answer)"
        assert names["answer"]("Hi again") == "Hello."
    finally:
        names["model"].close()
        names["memory"]._transport.close()
    assert server.messages("alice") == ["Hi", "(no answer)", "Hi again", "Hello."]


def test_the_configuration_starts_a_server(serve):
    server = serve()
    (entry,) = json.loads(block("json"))["mcpServers"].values()
    assert (set(entry), set(entry["env"])) == (
        {"command", "args", "env"}, {"MEMCI_API_URL", "MEMCI_API_KEY"},
    )  # fmt: skip
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memci.cli", *entry["args"]],
        env={"PYTHONPATH": str(ROOT), "MEMCI_API_URL": server.url},
    )

    async def go() -> None:
        async with Client(started) as client:
            assert (await client.list_tools()).tools

    talk(go)


def test_the_address_is_that_of_the_api(serve):
    server = serve()
    (line,) = (line for line in TEXT.splitlines() if line.startswith("claude mcp add"))
    (address,) = re.findall(r"http://127.0.0.1:8000(\S+)", line)

    async def go() -> None:
        async with Client(server.url + address) as client:
            assert (await client.list_tools()).tools

    talk(go)


def test_every_hint_and_resource_is_as_it_says():
    assert "`memci://agents/{agent}/window`" in TEXT
    destroying = [tool.name for tool in tools_of_agents() if tool.destroys]
    assert destroying == re.findall(r"which destroys \(`(\w+)`\)", TEXT)
