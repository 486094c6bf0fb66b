"""The configuration and the address in docs/how-to/mcp.md work."""

from __future__ import annotations

import json
import re
import sys

from mcp import Client, StdioServerParameters

from tests.integration.http.conftest import serve
from tests.support.documented import DOCS
from tests.support.fleet import ROOT
from tests.support.mcp_clients import talk

__all__ = ["serve"]

TEXT = (DOCS / "how-to/mcp.md").read_text(encoding="utf-8")


def test_the_configuration_starts_a_server(serve):
    server = serve()
    (configuration,) = re.findall(r"^```json\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    (entry,) = json.loads(configuration)["mcpServers"].values()
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


def test_the_documented_address_serves_the_tools(serve):
    server = serve()
    (address,) = re.findall(r"^claude mcp add .*http://127.0.0.1:8000(\S+)", TEXT, re.MULTILINE)

    async def go() -> None:
        async with Client(server.url + address) as client:
            assert (await client.list_tools()).tools

    talk(go)
