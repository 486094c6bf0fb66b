"""Reads, answered by a real context worker."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import httpx
import pytest

from memci import Memci
from memci.embedded import Postgres, Redis
from memci.errors import BudgetTooSmallError
from memci.schemas.reads import ContextMessage
from tests.integration.http.exploring import explore
from tests.integration.http.serving import Served, served_by_workers

MESSAGES = [
    {"role": "user", "content": "My sister Lena moves to Lisbon in March."},
    {"role": "assistant", "content": "How nice! I will remember that."},
    {"role": "user", "content": "我每天早上喝一杯绿茶。"},
]


@pytest.fixture(scope="module")
def server(
    shared_postgres: Postgres, process_redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    servers, folder = (shared_postgres, process_redis), tmp_path_factory.mktemp("reads")
    with served_by_workers(servers, folder, "memci.read", app="workers") as (running, _):
        yield running


@pytest.mark.timeout(120)
def test_messages_are_found_at_once(server: Served) -> None:
    with Memci(server.url, wait_ms=0) as memci:
        memory = memci.agent("alice")
        memory.remember(MESSAGES, session_id="s")
        for query, expected in (("Where does Lena move?", "Lisbon"), ("绿茶", "绿茶")):
            found = memory.search(query, sources=["chat"], k=1)
            assert expected in found.hits[0].text
        context = memory.context("Where does Lena move?", budget_tokens=400, session_id="s")
        assert context.tokens <= 400
        assert context.messages[-1].content == "Where does Lena move?"
        assert context.pending == 3
        receipt = memory.receipt(context.receipt_id)
        assert receipt.kind == "context"
        assert memory.recall(["Lena"]).miss == "pending"
        assert memory.recall_text(["Lena"]).text


@pytest.mark.timeout(120)
def test_days_follow_the_time_zone_of_the_message_or_question(server: Served) -> None:
    said_at = "2026-11-18T06:30:00+08:00"
    message = {"role": "user", "content": "昨天我和老赵去了灵隐寺。", "timestamp": said_at}
    with Memci(server.url, wait_ms=0) as memci:
        memory = memci.agent("zones")
        memory.remember([message], session_id="s")
        assert memory.messages().messages[0].timestamp.isoformat() == said_at
        context = memory.context("老赵和灵隐寺", budget_tokens=400, session_id="other")
        assert "2026-11-18（三）" in (context.messages[0].content or "")
        for question, now, since in (
            ("昨天我说了什么？", "2026-11-22T06:00:00+08:00", "2026-11-21T00:00:00+08:00"),
            ("Who came this morning?", "2026-11-20T20:00:00-08:00", "2026-11-20T00:00:00-08:00"),
        ):
            for asked in (now, datetime.fromisoformat(now)):
                found = memory.search(question, now=asked, explain=True)
                assert found.explain is not None
                assert since in {each[0] for each in found.explain["analysis"]["times"]}
        hit = memory.search("老赵和灵隐寺").hits[0]
        assert hit.created_at.isoformat() == said_at
    stored = httpx.get(f"{server.url}/v1/agents/zones/messages").json()["messages"]
    assert [each["timestamp"] for each in stored] == [said_at]


@pytest.mark.timeout(120)
def test_a_message_of_a_context_holds_no_nulls(server: Served) -> None:
    answer = httpx.post(
        f"{server.url}/v1/agents/nobody/context",
        json={"query": "Hello?", "budget_tokens": 400},
        timeout=20,
    ).json()
    assert answer["messages"] == [{"role": "user", "content": "Hello?"}]
    assert answer["explain"] is None
    described = httpx.get(f"{server.url}/openapi.json").json()["components"]["schemas"]
    assert described["ContextMessage"]["required"] == ["role"]
    assert set(described["ContextMessage"]["properties"]) == set(ContextMessage.model_fields)


@pytest.mark.timeout(120)
def test_an_error_of_the_worker_reaches_the_caller(server: Served) -> None:
    with Memci(server.url) as memci, pytest.raises(BudgetTooSmallError) as refused:
        memci.agent("alice").context("word " * 100, budget_tokens=20)
    assert refused.value.needs["query"] > 20
    answer = httpx.post(
        f"{server.url}/v1/agents/alice/context",
        json={"query": "word " * 100, "budget_tokens": 20},
        timeout=20,
    )
    assert answer.status_code == 422
    assert answer.json()["type"] == "urn:memci:problem:budget-too-small"


@pytest.mark.timeout(120)
def test_a_keyword_of_a_million_characters_is_answered(server: Served) -> None:
    answer = httpx.post(
        f"{server.url}/v1/agents/alice/recall", json={"keywords": ["x" * 1_000_000]}, timeout=20
    )
    assert answer.status_code == 200


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.examples
def test_schemathesis_finds_no_error(server: Served, tmp_path: Path) -> None:
    explore(server, tmp_path, "--include-path-regex", "/(recall|search|context|erase)$")
