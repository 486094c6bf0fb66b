"""`memci mcp`: a process that lives as long as its client."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import IO, Any

import pytest

from memci.api_keys import new_key
from tests.support.command_line import MEMCI, environment, run
from tests.support.mcp_clients import over_stdio, talk
from tests.support.model_server import model_server, sends

_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture
def process(server, alice):
    begun = subprocess.Popen(
        [*MEMCI, "mcp", "--agent", alice],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(MEMCI_API_URL=server.url),
    )
    yield begun
    begun.kill()
    begun.wait()
    for stream in (begun.stdin, begun.stdout, begun.stderr):
        assert stream is not None
        stream.close()


def ask(process: subprocess.Popen[bytes], request: Any) -> Any:
    write(process.stdin, json.dumps(request).encode() + b"\n")
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def write(stream: IO[bytes] | None, line: bytes) -> None:
    assert stream is not None
    stream.write(line)
    stream.flush()


def test_the_process_ends_when_its_client_disconnects(process):
    assert ask(process, _HELLO)["result"]["serverInfo"]["name"] == "memci"
    process.stdin.close()
    assert process.wait(20) == 0
    assert process.stderr.read() == b""


def test_the_process_ends_without_any_request(process):
    process.stdin.close()
    assert process.wait(20) == 0


def test_an_interrupt_ends_the_process(process):
    ask(process, _HELLO)
    process.send_signal(2)
    assert process.wait(20) != 0
    assert b"Traceback" not in process.stderr.read()


def test_invalid_lines_do_not_end_the_process(process):
    for line in (b"not json\n", b"\n", b"\xff\xfe\n", b"[]\n", b"{}\n"):
        write(process.stdin, line)
    answers = [ask(process, _HELLO)]
    while answers[-1].get("id") != 1:
        answers.append(json.loads(process.stdout.readline()))
    assert answers[-1]["result"]["serverInfo"]["name"] == "memci"


def test_an_unreachable_server_is_an_answer_with_advice():
    async def go() -> None:
        async with over_stdio("http://127.0.0.1:9", "alice") as client:
            refused = await client.call_tool("get_page", {"index": "usr-1"})
            assert refused.is_error
            assert "http://127.0.0.1:9" in refused.content[0].text
            assert "memci doctor" in refused.content[0].text

    talk(go)


def test_an_address_of_another_program_is_reported():
    async def go() -> None:
        async with over_stdio(model.url.removesuffix("/v1"), "alice") as client:
            refused = await client.call_tool("get_page", {"index": "usr-1"})
            assert refused.is_error
            assert "is the address right?" in refused.content[0].text

    with model_server() as model:
        model.rest = sends(b"<html>")
        talk(go)


def test_missing_and_wrong_keys_are_reported(serve):
    key, entry = new_key("ours", agents="team-*", scope="write")
    server = serve(api_keys=(entry,))

    async def refusal(agent: str, key: str) -> str:
        async with over_stdio(server.url, agent, key=key) as client:
            refused = await client.call_tool("get_page", {"index": "usr-1"})
            assert refused.is_error
            return refused.content[0].text

    assert "MEMCI_API_KEY" in talk(lambda: refusal("team-1", ""))
    assert "not for this agent" in talk(lambda: refusal("other", key))


@pytest.mark.parametrize("scope", ["read", "write"])
def test_a_key_is_offered_only_the_tools_that_it_may_use(serve, scope):
    key, entry = new_key("ours", scope=scope)
    server = serve(api_keys=(entry,))

    async def go() -> list[str]:
        async with over_stdio(server.url, "alice", key=key) as client:
            return [each.name for each in (await client.list_tools()).tools]

    offered = talk(go)
    assert "get_page" in offered
    assert "erase" not in offered
    assert ("hide_details" in offered) == (scope == "write")


@pytest.mark.parametrize(
    ("arguments", "settings", "says"),
    [
        ((), {}, "--agent"),
        (("--agent", "a b"), {}, "agent_id"),
        (("--agent", "alice"), {"MEMCI_API_URL": "nowhere"}, "MEMCI_API_URL"),
    ],
)
def test_wrong_use_is_reported_at_once(arguments, settings, says):
    done = run("mcp", *arguments, settings=settings)
    assert done.returncode in {1, 2}
    assert says in done.stderr
    assert done.stdout == ""


def test_without_the_sdk_it_says_what_to_install():
    code = (
        "import sys; sys.modules['mcp'] = sys.modules['mcp_types'] = None\n"
        "sys.argv = ['memci', 'mcp', '--agent', 'alice']\n"
        "from memci.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert 'pip install "memci[mcp]"' in done.stderr
