"""Every path and every command reports an agent that does not exist."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from memci.cli import app
from memci.embedded import Postgres, Redis
from memci.schemas.tools.table import REQUIRED, TOOLS, About, arguments_of
from tests.integration.http.serving import Served, served_by_workers
from tests.integration.http.test_surface import OPERATIONS, TOOL_OPERATIONS

QUICK = "tests.support.network_worker_app"
PATH_VALUES = {
    "node_id": "1", "session": "a/b", "job_id": str(uuid4()), "receipt_id": str(uuid4()),
    "index": "usr-1", "pin": "1", "tool": "get_page",
    "document": "1",
}  # fmt: skip
BODIES: dict[str, Any] = {
    "recall": {"keywords": ["tea"], "format": "structured"},
    "search": {"query": "tea"},
    "context": {"query": "Tea?", "budget_tokens": 100},
    "handover": {"budget_tokens": 100},
    "focus": {"entity": "Lisbon"},
    "attp": {"text": "[tool_call]\nstatus = 'success'\ncode = '__result__ = 1'"},
    "erase": {"query": "tea", "preview": True},
    "pins": {"text": "tea"},
    "plan": {"steps": ["Boil water"]},
    "pin": {"text": "tea"},
    "POST nodes": {"memories": "tea"},
    "PATCH nodes": {"memories": [{"node_id": 1, "pinned": True}]},
    "PATCH 1": {"pinned": True},
}
BODIES = {
    tool.name: {
        each.name: 100 if each.type is int else "usr-1"
        for each in arguments_of(tool)
        if each.default is REQUIRED
    }
    for tool in TOOLS
    if tool.about is About.PAGES and tool.request.model_fields
} | BODIES
# Paths of frameworks, which read before they write.
FRAMEWORK_PATHS = {
    "PUT /v1/agents/{agent}/items",
    *(f"POST /v1/agents/{{agent}}/items/{each}" for each in ("get", "search", "namespaces")),
    *(
        f"POST /v1/agents/{{agent}}/threads/{{thread}}/{each}"
        for each in ("checkpoints", "writes", "copy")
    ),
    *(f"POST /v1/agents/{{agent}}/checkpoints/{each}" for each in ("search", "prune")),
}
FRAMEWORK_READS: dict[str, dict[str, Any]] = {
    "items/get": {"items": [{"namespace": ["notes"], "key": "a"}]},
    "items/search": {},
    "items/namespaces": {},
    "checkpoints/search": {"limit": 1},
}
# Requests that may come before the first message, or store it.
CREATE = {
    "POST /v1/agents/{agent}/messages",
    "POST /v1/agents/{agent}/nodes",
    "PUT /v1/agents/{agent}/settings",
    "POST /v1/agents/{agent}/import",
    "POST /v1/agents/{agent}/documents",
    *(
        f"POST /v1/agents/{{agent}}/pages/{tool.name}"
        for tool in TOOLS
        if tool.begins and tool.about is About.PAGES
    ),
}
# Reads that an agent sends in each turn, also in the first one, when its memory is empty (M1).
AGENT_READS = tuple(f"POST /v1/agents/{{agent}}/{each}" for each in ("recall", "search", "context"))
EACH = [each for each in OPERATIONS.strip().splitlines() if "{agent}" in each]
EACH += sorted(TOOL_OPERATIONS)
# The event of an erasure stays when the agent is gone.
REFUSED = sorted(
    {*EACH}.difference(CREATE, AGENT_READS, FRAMEWORK_PATHS, ["GET /v1/agents/{agent}/events"])
)
LISTS = [each for each in REFUSED if each.startswith("GET") and each.count("{") == 1]

COMMANDS = """
agents show --agent {agent}
documents list --agent {agent}
documents remove docs/ --agent {agent}
recall tea --agent {agent}
recall tea --text --agent {agent}
search tea --agent {agent}
context Tea? --agent {agent}
memory nodes --agent {agent}
memory nodes 1 --agent {agent}
memory nodes --graph --agent {agent}
memory watch --agent {agent} --once
memory plot --agent {agent} --json
jobs list --agent {agent}
jobs show {job} --agent {agent}
agents usage --agent {agent}
memory focus --agent {agent}
memory focus Lisbon --agent {agent}
memory history 1 --agent {agent}
pages tree --agent {agent}
pages pins --agent {agent}
pages tree --removed --agent {agent}
pages window --agent {agent}
pages show usr-1 --agent {agent}
pages auto-collapse 100 --agent {agent}
pages undo --agent {agent}
sessions list --agent {agent}
sessions end s --agent {agent}
sessions summaries --agent {agent}
sessions handover --agent {agent}
pages plan --agent {agent}
memory consolidate --agent {agent}
memory correct 1 Tea --agent {agent}
memory pin 1 --agent {agent}
memory unpin 1 --agent {agent}
memory delete 1 --agent {agent}
memory compress --agent {agent}
memory restore 1 --agent {agent}
memory rebuild --agent {agent}
memory rebuild --agent {agent} --compare
memory rebuild --agent {agent} --switch
memory rebuild --agent {agent} --drop
jobs retry --all --agent {agent}
jobs discard {job} --agent {agent}
jobs cancel {job} --agent {agent}
agents pause --agent {agent}
agents resume --agent {agent}
agents settings --agent {agent}
agents settings --reset --agent {agent}
erase --agent {agent} --session s --yes
erase --agent {agent} --all --yes
agents export --agent {agent} -o {folder}/x.zip
"""
# Commands that concern no single agent, or create one.
OTHERS = {
    "up", "demo", "sample", "doctor", "remember", "memory add", "tools", "mcp", "agents list",
    "agents import",
    "documents index", "documents collections", "settings show", "settings env",
    "settings compare", "audit", *(f"keys {each}" for each in ("list", "new", "rotate", "revoke")),
    *(
        f"webhooks {each}"
        for each in ("list", "add", "remove", "enable", "test", "replay", "rotate")
    ), "db upgrade", "db status", "db index",
    "db reembed", "db backup", "db restore", "pages migrate",
}  # fmt: skip


@pytest.fixture(scope="module")
def server(
    shared_postgres: Postgres, process_redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    servers, folder = (shared_postgres, process_redis), tmp_path_factory.mktemp("unknown")
    with served_by_workers(servers, folder, "memci.read", app=QUICK) as (running, _):
        yield running


@pytest.fixture(scope="module")
def fresh(server: Served) -> str:
    """An agent whose first message waits in its mailbox."""
    httpx.post(
        f"{server.url}/v1/agents/fresh/messages",
        json={"messages": [{"role": "user", "content": "I like tea."}]},
    )
    return "fresh"


@pytest.fixture(scope="module")
def erased(server: Served) -> str:
    with closing(httpx.Client(base_url=f"{server.url}/v1/agents/gone")) as http:
        http.post("/messages", json={"messages": [{"role": "user", "content": "I like tea."}]})
        answer = http.delete(f"{server.url}/v1/agents/gone")
        assert answer.status_code == 200, answer.text
    return "gone"


def ask(server: Served, operation: str, agent: str) -> httpx.Response:
    method, path = operation.format(agent=agent, **PATH_VALUES).split()
    name = path.rsplit("/", 1)[1]
    body = BODIES.get(f"{method} {name}", BODIES.get(name) if method == "POST" else None)
    if method == "DELETE":
        path += {"documents": "?prefix=docs/", "nodes": "?id=1"}.get(name, "")
    return httpx.request(method, server.url + path, json=body, timeout=20)


def lanes(server: Served) -> list[str]:
    with server.runtime.database.lane_transaction() as connection:
        return list(connection.exec_driver_sql("SELECT agent_id FROM lane ORDER BY 1").scalars())


@pytest.mark.timeout(120)
@pytest.mark.parametrize("operation", REFUSED)
def test_every_path_reports_an_unknown_agent(server: Served, erased: str, operation: str):
    for agent in ("nobody", erased):
        answer = ask(server, operation, agent)
        assert answer.status_code == 404, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"].startswith(f"there is no agent {agent}: ")
        is_for_models = "/tools/" in operation  # models cannot list agents
        assert ("memci agents list" in answer.json()["detail"]) is not is_for_models
    assert "nobody" not in lanes(server)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("operation", LISTS)
def test_an_agent_with_a_queued_first_message_exists(server: Served, fresh: str, operation: str):
    answer = ask(server, operation, fresh)
    if answer.status_code == 404:
        assert "nothing was ever rebuilt" in answer.json()["detail"]
    else:
        assert answer.status_code == 200


@pytest.mark.timeout(120)
def test_an_agent_begins_with_an_empty_memory(server: Served, fresh: str, erased: str):
    for agent in ("nobody", erased):
        recalled, found, context = (ask(server, each, agent).json() for each in AGENT_READS)
        assert (recalled["miss"], recalled["memories"]) == ("never_known", [])
        assert found["hits"] == []
        assert context["messages"] == [{"role": "user", "content": "Tea?"}]
        assert [each["new_agent"] for each in (recalled, found, context)] == [True] * 3
    assert "nobody" not in lanes(server)
    assert [ask(server, each, fresh).json()["new_agent"] for each in AGENT_READS] == [False] * 3


@pytest.mark.timeout(120)
def test_reads_of_frameworks_find_nothing(server: Served, erased: str):
    for agent in ("nobody", erased):
        for path, body in FRAMEWORK_READS.items():
            answer = httpx.post(f"{server.url}/v1/agents/{agent}/{path}", json=body, timeout=20)
            assert answer.status_code == 200, answer.text
            (found,) = (each for each in answer.json().values() if isinstance(each, list))
            assert [each for each in found if each is not None] == []
    assert "nobody" not in lanes(server)


@pytest.mark.timeout(120)
def test_an_agent_is_configured_before_its_first_message(server: Served):
    with closing(httpx.Client(base_url=f"{server.url}/v1/agents/soon")) as http:
        assert http.put("/settings", json={"focus_limit": 3}).status_code == 200
        assert http.get("/settings").json()["parameters"]["focus_limit"] == 3
    assert httpx.get(f"{server.url}/v1/agents/soon").status_code == 404


@pytest.mark.timeout(120)
def test_a_system_prompt_is_written_before_its_first_message(server: Served):
    with closing(httpx.Client(base_url=f"{server.url}/v1/agents/begun")) as http:
        rules = {"name": "Rules", "detail": "Be kind.", "parent": "sys-0"}
        assert http.post("/pages/create_detail_page", json=rules).status_code == 200
        assert http.post("/pages/hide_details", json={"index": "sys-1"}).status_code == 200
    assert httpx.get(f"{server.url}/v1/agents/begun").status_code == 200


def test_every_command_is_covered():
    listed = {" ".join(line.split()[:2]) for line in COMMANDS.strip().splitlines()}
    named = {each for each in listed if each.split()[0] in {*app.GROUPS, "pages"}}
    named |= {each.split()[0] for each in listed - named} | OTHERS
    grouped = {
        f"{group} {app.name_of(each)}" for group, (_, all_) in app.GROUPS.items() for each in all_
    }
    assert {*map(app.name_of, app.COMMANDS), *grouped} <= named


@pytest.mark.timeout(120)
@pytest.mark.parametrize("command", COMMANDS.strip().splitlines())
def test_every_command_reports_an_unknown_agent(
    server: Served,
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    line = command.format(agent="nora", job=uuid4(), folder=tmp_path)
    monkeypatch.setattr(sys, "argv", ["memci", *line.split()])
    monkeypatch.setenv("MEMCI_API_URL", server.url)
    code, printed = app.run(), capsys.readouterr()
    assert (code, printed.out) == (1, "")
    assert "there is no agent nora: " in printed.err
    assert "memci agents list" in printed.err
