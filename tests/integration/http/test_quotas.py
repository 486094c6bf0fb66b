"""Rates and quotas of keys: exact over API processes, with the headers that clients read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from memci.api_keys import new_key
from memci.client import Memci
from memci.config.groups import ApiKey, KeyLimits
from memci.errors import QuotaError
from tests.integration.http.conftest import Serve
from tests.integration.http.serving import Served
from tests.support.large_agents import ORIGIN_NODE, fill_with_origin

KEY, ENTRY = new_key("app", agents="t-*", scope="admin")


def limited(**limits: int) -> tuple[ApiKey, ...]:
    return (ENTRY.model_copy(update={"limits": KeyLimits(**limits)}),)


def send(url: str, agent: str, *texts: str, **more: Any) -> httpx.Response:
    body = {"messages": [{"role": "user", "content": text} for text in texts]}
    path = f"{url}/v1/agents/{agent}/messages"
    return httpx.post(path, json=body, headers={"Authorization": f"Bearer {KEY}", **more})


def stored_bytes(server: Served, agent: str) -> int:
    with server.runtime.database.lane_transaction() as connection:
        statement = "SELECT stored_bytes FROM lane WHERE agent_id = %s"
        return int(connection.exec_driver_sql(statement, (agent,)).scalar_one())


def test_the_rate_is_in_the_headers_of_each_answer(serve: Serve) -> None:
    server = serve(api_keys=limited(requests_per_minute=2))
    answers = [send(server.url, "t-1", "x") for _ in range(3)]
    assert [each.status_code for each in answers] == [202, 202, 429]
    left = [each.headers["ratelimit-remaining"] for each in answers]
    assert left == ["1", "0", "0"]
    for each in answers:
        assert each.headers.get_list("ratelimit-limit") == ["2"]
        assert 0 < int(each.headers["ratelimit-reset"]) <= 60
    assert 0 < int(answers[2].headers["retry-after"]) <= 30


def test_messages_of_a_day_are_counted_exactly_over_processes(serve: Serve) -> None:
    urls = [serve(api_keys=limited(messages_per_day=20)).url for _ in range(2)]
    with ThreadPoolExecutor(8) as threads:
        answers = list(
            threads.map(lambda n: send(urls[n % 2], f"t-{n % 5}", "x", "y", "z"), range(24))
        )
    statuses = [each.status_code for each in answers]
    assert sorted(set(statuses)) == [202, 429]
    assert statuses.count(202) == 6
    refused = next(each for each in answers if each.status_code == 429)
    assert refused.json()["type"] == "urn:memci:problem:quota-exceeded"
    assert refused.headers["ratelimit-limit"] == "20"
    assert refused.headers["ratelimit-remaining"] == "2"
    assert 0 < int(refused.headers["retry-after"]) <= 86_400
    assert send(urls[0], "t-9", "x", "y").status_code == 202


def test_a_request_sent_again_is_counted_once(serve: Serve) -> None:
    url = serve(api_keys=limited(messages_per_day=2)).url
    key = {"Idempotency-Key": "k"}
    assert [send(url, "t-1", "x", **key).status_code for _ in range(4)] == [202] * 4
    with Memci(url, api_key=KEY) as memci:
        assert memci.keys().keys[0].messages_today == 1
        memci.agent("t-1").call_tool("remember", {"text": "a note"})
        with pytest.raises(QuotaError, match="midnight"):
            memci.agent("t-1").call_tool("remember", {"text": "another"})
    assert send(url, "t-1", "x", **key).status_code == 202


def test_stored_bytes_are_of_all_agents_of_the_key_and_come_back_with_an_erasure(
    serve: Serve,
) -> None:
    server = serve(api_keys=limited(stored_bytes=100))
    url = server.url
    assert send(url, "t-1", "é" * 20, Idempotency_Key="k").status_code == 202
    assert send(url, "t-2", "x" * 40).status_code == 202
    assert [stored_bytes(server, each) for each in ("t-1", "t-2")] == [40, 40]
    full = send(url, "t-3", "x" * 21)
    assert full.status_code == 429
    assert "erase something" in full.json()["detail"]
    assert server.count("lane") == 2
    with Memci(url, api_key=KEY) as memci:
        with pytest.raises(QuotaError):
            memci.agent("t-1").add_document("a.md", "x" * 21)
        memci.agent("t-1").add_document("a.md", "x" * 15)
        assert stored_bytes(server, "t-1") == 55
        assert memci.agent("t-1").add_document("a.md", "x" * 15).unchanged
        with pytest.raises(QuotaError):
            memci.agent("t-1").add_document("a.md", "y" * 21)
        memci.agent("t-1").add_document("a.md", "y" * 20)
        assert stored_bytes(server, "t-1") == 60
        memci.agent("t-1").add_document("a.md", "x" * 5)
        assert stored_bytes(server, "t-1") == 45
        memci.agent("t-2").erase_agent()
        assert stored_bytes(server, "t-2") == 0
        (message,) = memci.agent("t-1").messages().messages
        memci.agent("t-1").erase(message_ids=[message.id])
        assert stored_bytes(server, "t-1") == 5
    assert send(url, "t-3", "x" * 95).status_code == 202


def test_bytes_of_all_parts_of_a_message_are_taken_away_with_it(
    serve: Serve, tmp_path: Path
) -> None:
    server = serve()
    call = {"id": "c", "function": {"name": "f", "arguments": '{"a": "ü"}'}}
    parts = {"content": None, "tool_calls": [call], "metadata": {"b": [1, "\n", "中"]}}
    with Memci(server.url) as memci:
        agent = memci.agent("t-1")
        agent.remember([{"role": "assistant", "id": "m", **parts}])
        size = stored_bytes(server, "t-1")
        assert size > 60
        agent.export(tmp_path / "t-1.zip")
        memci.agent("t-2").import_(tmp_path / "t-1.zip")
        assert stored_bytes(server, "t-2") == size
        agent.erase(message_ids=["m"])
    assert stored_bytes(server, "t-1") == 0


def test_agents_are_counted_until_they_are_erased(serve: Serve) -> None:
    urls = [serve(api_keys=limited(agents=3)).url for _ in range(2)]
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda n: send(urls[n % 2], f"t-{n}", "x"), range(8)))
    made = [f"t-{n}" for n, each in enumerate(answers) if each.status_code == 202]
    assert len(made) == 3
    assert send(urls[0], made[0], "x").status_code == 202
    with Memci(urls[0], api_key=KEY) as memci:
        memci.agent(made[0]).erase_agent()
    assert send(urls[1], "t-new", "x").status_code == 202
    assert send(urls[1], "t-newer", "x").status_code == 429


def test_added_and_corrected_memories_are_messages(serve: Serve) -> None:
    server = serve(api_keys=limited(messages_per_day=2))
    fill_with_origin(server.runtime.database, "t-1")
    with Memci(server.url, api_key=KEY) as memci:
        agent = memci.agent("t-1")
        agent.add_memory("A fact.")
        agent.pin_memory(ORIGIN_NODE)
        agent.correct_memory(ORIGIN_NODE, "Another fact.")
        assert memci.keys().keys[0].messages_today == 2
        for refused in (
            lambda: agent.add_memory("One more."),
            lambda: agent.correct_memory(ORIGIN_NODE + 1, "One more."),
        ):
            with pytest.raises(QuotaError):
                refused()
        agent.call_tool("forget", {"memory": ORIGIN_NODE + 1})  # it stores nothing


CODE = """[tool_call]
status = 'success'
code = '''
remember(text="one")
remember(text="two")
'''"""


def test_plans_and_programs_are_charged_for_what_they_store(serve: Serve) -> None:
    server = serve(api_keys=limited(messages_per_day=4))
    send(server.url, "t-1", "x")
    with Memci(server.url, api_key=KEY) as memci:
        agent = memci.agent("t-1")
        agent.update_plan(steps=["Buy bread."])
        assert agent.attp(CODE).status == "success"
        assert memci.keys().keys[0].messages_today == 4
        for refused in (
            lambda: agent.update_plan(steps=["Buy milk."]),
            lambda: agent.attp(CODE),
            lambda: agent.call_tool("update_plan", {"steps": ["Buy milk."]}),
        ):
            with pytest.raises(QuotaError):
                refused()
        assert [each.text for each in agent.plan().steps] == ["Buy bread."]
        assert len(agent.messages().messages) == 4
        agent.create_detail_page(name="Note", detail="A note.", parent="usr-0")  # no message


BEGINNINGS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a message": ("POST", "messages", {"messages": [{"role": "user", "content": "x"}]}),
    "a note": (
        "POST",
        "pages/create_detail_page",
        {"name": "Note", "detail": "A note.", "parent": "usr-0"},
    ),
    "a folder": (
        "POST",
        "pages/create_contents_page",
        {"name": "Things", "parent": "usr-0"},
    ),
    "a tool": (
        "POST",
        "tools/create_contents_page",
        {"name": "Things", "parent": "usr-0"},
    ),
    "a fact": ("POST", "tools/remember", {"text": "A fact."}),
    "an item": ("PUT", "items", {"items": [{"namespace": ["a"], "key": "b", "value": {}}]}),
    "writes": (
        "POST",
        "threads/t/writes",
        {"checkpoint_id": "c", "task_id": "t", "writes": []},
    ),
}


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_each_way_to_begin_an_agent_counts_it(serve: Serve, beginning: str) -> None:
    server = serve(api_keys=limited(agents=1))
    method, path, body = BEGINNINGS[beginning]
    headers = {"Authorization": f"Bearer {KEY}"}
    with httpx.Client(base_url=f"{server.url}/v1/agents", headers=headers) as http:
        first, second = (
            http.request(method, f"/{each}/{path}", json=body) for each in ("t-1", "t-2")
        )
        assert first.is_success, first.text
        assert second.status_code == 429, second.text
        assert http.request(method, f"/t-1/{path}", json=body).is_success
    assert server.count("lane") == 1


def test_defaults_hold_for_keys_without_limits_of_their_own(serve: Serve) -> None:
    defaults = KeyLimits(messages_per_day=1)
    free = serve(api_keys=limited(messages_per_day=0), key_limits=defaults).url
    assert [send(free, "t-1", "x").status_code for _ in range(2)] == [202, 202]
    bound = serve(api_keys=(ENTRY,), key_limits=defaults).url
    assert [send(bound, "t-1", "x").status_code for _ in range(2)] == [202, 429]


def test_failed_keys_are_limited_and_valid_ones_are_not(serve: Serve) -> None:
    url = serve(api_keys=(ENTRY,)).url
    with httpx.Client(base_url=url, headers={"Authorization": "Bearer memci_wrong"}) as http:
        statuses = [http.get("/v1/agents").status_code for _ in range(70)]
        assert statuses[:60] == [401] * 60
        assert statuses[-1] == 429
        assert "retry-after" in http.get("/v1/agents").headers
        valid = {"Authorization": f"Bearer {KEY}"}
        assert http.get("/v1/agents", headers=valid).status_code == 200


def test_pages_without_a_session_are_no_failed_keys(serve: Serve) -> None:
    with httpx.Client(base_url=serve(api_keys=(ENTRY,)).url) as http:
        assert [http.get("/console/agents").status_code for _ in range(70)] == [303] * 70
        assert http.get("/v1/agents").status_code == 401
