"""Usage of language models, over HTTP, on the command line and for Prometheus."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import httpx
import pytest

from memci import Memci
from memci.domain.usage import Usage
from memci.storage.usage import Use, add_to_job, add_usage
from tests.integration.http.serving import Served
from tests.integration.http.test_health import metrics_of
from tests.support.command_line import run, run_json

TODAY = datetime.now(UTC).date()
COMPRESSOR, JUDGE = Use("compressor", "openai/tiny"), Use("judge", "gpt-4o-mini")
ONE = Usage(calls=2, failures=1, prompt_tokens=100, completion_tokens=20, unpriced=1)
TWO = Usage(calls=1, prompt_tokens=50, completion_tokens=5, cost=0.25, over_budget=1)


@pytest.fixture
def job_id(server: Served) -> UUID:
    """A job of the agent ann, with usage of models today and 40 days ago."""
    with Memci(server.url) as memci:
        job_id = memci.agent("ann").remember([{"role": "user", "content": "Hi"}]).job_id
    assert job_id is not None
    with server.runtime.database.agent_transaction("ann") as connection:
        for day, use, usage in (
            (TODAY, COMPRESSOR, ONE), (TODAY, JUDGE, TWO), (TODAY - timedelta(40), JUDGE, TWO),
        ):  # fmt: skip
            add_usage(connection, "ann", day, use, usage)
        add_to_job(connection, "ann", job_id, COMPRESSOR, ONE)
        add_to_job(connection, "ann", job_id, COMPRESSOR, ONE)
    return job_id


@pytest.mark.usefixtures("job_id")
def test_usage_by_day_and_the_budget_of_today(http: httpx.Client) -> None:
    http.put("/v1/agents/ann/settings", json={"llm_tokens_per_day": 175, "llm_cost_per_day": 1.0})
    answer = http.get("/v1/agents/ann/usage").json()
    assert [(each["task"], each["cost"], each["calls"]) for each in answer["days"]] == [
        ("compressor", None, 2), ("judge", 0.25, 1),
    ]  # fmt: skip
    total = answer["total"]
    assert (total["calls"], total["cost"], total["unpriced"]) == (3, 0.25, 1)
    assert answer["budget"] == {
        "day": TODAY.isoformat(), "tokens_per_day": 175, "cost_per_day": 1.0, "tokens": 175,
        "cost": 0.25, "used_up": True,
    }  # fmt: skip
    assert answer["passes"] == []
    assert len(http.get("/v1/agents/ann/usage?days=60").json()["days"]) == 3
    assert http.get("/v1/agents/ann/usage?days=0").status_code == 422


def test_an_agent_without_models_has_used_nothing(http: httpx.Client) -> None:
    http.post("/v1/agents/bob/messages", json={"messages": [{"role": "user", "content": "Hi"}]})
    answer = http.get("/v1/agents/bob/usage").json()
    assert (answer["days"], answer["total"]["cost"]) == ([], None)
    assert not answer["budget"]["used_up"]


def test_a_job_shows_its_usage(http: httpx.Client, job_id: UUID) -> None:
    job = http.get(f"/v1/agents/ann/jobs/{job_id}").json()
    (usage,) = job["result"]["models"]
    assert (usage["task"], usage["model"], usage["calls"]) == ("compressor", "openai/tiny", 4)
    assert usage["cost"] is None


@pytest.mark.usefixtures("job_id")
def test_metrics_show_usage_by_task_and_model(http: httpx.Client) -> None:
    found = metrics_of(http)
    assert found['memci_model_calls_total{model="gpt-4o-mini",task="judge"}'] == 2
    assert found['memci_model_cost_total{model="gpt-4o-mini",task="judge"}'] == 0.5
    assert found['memci_model_unpriced_total{model="openai/tiny",task="compressor"}'] == 1
    assert not any("ann" in name for name in found)


@pytest.mark.usefixtures("job_id")
def test_the_command_line_prints_usage(server: Served) -> None:
    settings = {"MEMCI_API_URL": server.url}
    assert run_json("agents", "usage", "--agent", "ann", settings=settings)["total"]["calls"] == 3
    printed = run("agents", "usage", "--agent", "ann", settings=settings).stdout
    assert run("agents", "usage", "-a", "ann", settings=settings).stdout == printed
    assert "openai/tiny" in printed
    assert "not known" in printed
    assert "0.2500 and 1 calls of unknown price" in printed
    assert "no budget" in printed
    with Memci(server.url) as memci:
        memci.agent("ann").configure({"llm_tokens_per_day": 10})
        memci.agent("bob").remember([{"role": "user", "content": "Hi"}])
    assert "used up" in run("agents", "usage", "--agent", "ann", settings=settings).stdout
    assert (
        "used no language model"
        in run("agents", "usage", "--agent", "bob", settings=settings).stdout
    )
