"""The usage of calls is stored by day, by pass and in total; a budget ends the calls."""

from __future__ import annotations

import dataclasses
from typing import Any
from uuid import uuid4

import pytest
import structlog

from memci.domain.usage import Usage
from memci.queue.usage_accounting import Accounts
from memci.smallmodel.registry import SmallModels
from memci.smallmodel.usage_account import current_account
from memci.storage.session import Database
from memci.storage.usage import Use, add_usage, total_usage, usage_by_day, usage_in
from tests.integration.llm.conftest import models_of
from tests.support.fading import NO_FOCUS, remember_shrinking_texts, remember_with_half_a_link
from tests.support.model_server import ModelServer, fails, says
from tests.support.models import (
    BagOfWords,
    FourCharactersAToken,
    LowerCaseWords,
    OneSegmentAMessage,
)
from tests.support.network import AgentUnderTest

TINY = ("compressor", "openai/tiny")
DAY_S = 86_400


def with_fast_models(models: SmallModels) -> SmallModels:
    """Replace the models that take long to load."""
    return dataclasses.replace(
        models,
        segmenter=OneSegmentAMessage(),
        embedder=BagOfWords(),
        lexicon=LowerCaseWords(),
        tokens=FourCharactersAToken(),
    )


@pytest.fixture
def ada(database: Database, server: ModelServer) -> AgentUnderTest:
    """An agent with six memories to compress; its models are those of the server."""
    made = AgentUnderTest(database)
    remember_shrinking_texts(made)
    made.models = with_fast_models(models_of(server))
    return made


def scan(ada: AgentUnderTest) -> None:
    lease = ada.lease()
    while ada.compression().step(lease, budget_ms=60_000):
        pass


def used(ada: AgentUnderTest, task: str = "compressor") -> list[Usage]:
    """Return the usage of a task, the earliest day first."""
    with ada.database.agent_transaction("ada") as connection:
        days = usage_by_day(connection, "ada", ada.clock().date().min, ada.clock().date())
    return [usage_in(each) for each in reversed(days) if each["task"] == task]


def models_of_pass(ada: AgentUnderTest, number: int = 1) -> list[dict[str, Any]]:
    (found,) = (each for each in ada.passes() if each.number == number)
    return found.models or []


def test_the_usage_of_every_call_of_a_pass_is_stored(ada: AgentUnderTest, server: ModelServer):
    scan(ada)
    assert len(server.requests) == 6
    whole = Usage(calls=6, prompt_tokens=600, completion_tokens=120, unpriced=6)
    assert used(ada) == [whole]
    expected = {"task": "compressor", "model": "openai/tiny", **dataclasses.asdict(whole)}
    assert models_of_pass(ada) == [expected]
    with ada.database.upkeep_transaction() as connection:
        assert total_usage(connection) == [(Use(*TINY), whole)]


def test_a_known_price_is_summed(ada: AgentUnderTest, server: ModelServer):
    ada.models = with_fast_models(models_of(server, "openai/gpt-4o-mini"))
    scan(ada)
    (usage,) = used(ada)
    assert usage.cost == pytest.approx(6 * (100 * 0.15e-6 + 20 * 0.6e-6))
    assert usage.unpriced == 0


def test_failed_calls_and_their_tokens_are_counted(ada: AgentUnderTest, server: ModelServer):
    server.script = [
        fails(503),
        says("no JSON", prompt_tokens=90, completion_tokens=10),
        fails(429),
    ]
    scan(ada)
    assert used(ada) == [
        Usage(calls=6, failures=3, prompt_tokens=390, completion_tokens=70, unpriced=4)
    ]


def budget(ada: AgentUnderTest, **values: float) -> None:
    ada.parameters = dataclasses.replace(NO_FOCUS, **values)


def test_a_budget_ends_the_calls_until_midnight(ada: AgentUnderTest, server: ModelServer):
    """The third call finds 240 of 200 tokens used; the offline model does the other four."""
    budget(ada, llm_tokens_per_day=200)
    with structlog.testing.capture_logs() as logged:
        scan(ada)
    assert len(server.requests) == 2
    assert {node.scan_count for node in ada.nodes()} == {1}
    assert all(len(node.content) < node.original_length for node in ada.nodes("memory"))
    assert used(ada)[0].over_budget == 4
    assert models_of_pass(ada)[0]["over_budget"] == 4
    (warning,) = (each for each in logged if "budget" in each["event"])
    assert (warning["log_level"], warning["agent_id"]) == ("warning", "ada")

    ada.execute(
        "UPDATE node SET content = rpad(content, original_length, ' again') WHERE agent_id = %s"
    )
    ada.clock.advance(DAY_S)
    ada.compress()
    assert len(server.requests) == 4
    assert [each.calls for each in used(ada)] == [2, 2]
    assert [each.over_budget for each in used(ada)] == [4, 4]


def test_a_budget_in_dollars(ada: AgentUnderTest, server: ModelServer):
    ada.models = with_fast_models(models_of(server, "openai/gpt-4o-mini"))
    budget(ada, llm_cost_per_day=0.00006)
    scan(ada)
    assert len(server.requests) == 3


def test_calls_of_unknown_price_use_up_no_dollars(ada: AgentUnderTest, server: ModelServer):
    budget(ada, llm_cost_per_day=0.00001)
    scan(ada)
    assert len(server.requests) == 6


def test_an_agents_own_budget_wins(ada: AgentUnderTest, server: ModelServer):
    budget(ada, llm_tokens_per_day=200)
    ada.execute(
        "INSERT INTO agent_setting (agent_id, parameters) VALUES (%s, %s)",
        '{"llm_tokens_per_day": 1, "focus_limit": 0}',
    )
    scan(ada)
    assert len(server.requests) == 1


def test_an_erased_agent_gets_no_rows(database: Database):
    with database.agent_transaction("gone") as connection:
        day = AgentUnderTest(database).clock().date()
        add_usage(connection, "gone", day, Use(*TINY), Usage(calls=1))
        assert usage_by_day(connection, "gone", day, day) == []


def test_a_job_keeps_its_answers_between_its_tries_and_no_longer(
    database: Database, server: ModelServer
):
    ada = AgentUnderTest(database)
    models = models_of(server)
    accounts = Accounts(database, ada.parameters, clock=ada.clock)
    job = ada.say("Ada moved to Oslo", "Grace moved to Bergen")
    with accounts.of_job(job):
        models.annotator.annotate(["Ada moved to Oslo"])
    with accounts.of_job(job):
        first, _ = models.annotator.annotate(["Ada moved to Oslo", "Grace moved to Bergen"])
    assert first.entities
    assert len(server.requests) == 2
    accounts.settled(job)
    with accounts.of_job(job):
        models.annotator.annotate(["Ada moved to Oslo"])
    assert len(server.requests) == 3
    for _ in range(20):  # more jobs than are kept at once
        with accounts.of_job(dataclasses.replace(job, id=uuid4())):
            pass
    with accounts.of_job(job):
        assert current_account().answers == {}


def test_jobs_do_not_share_answers(database: Database, server: ModelServer):
    ada = AgentUnderTest(database)
    models = models_of(server)
    accounts = Accounts(database, ada.parameters, clock=ada.clock)
    for _ in range(2):
        with accounts.of_job(ada.say("Ada moved to Oslo")):
            models.annotator.annotate(["Ada moved to Oslo"])
    assert len(server.requests) == 2


def test_answers_that_cannot_be_used_are_counted(database: Database, server: ModelServer):
    ada = AgentUnderTest(database)
    models = models_of(server)
    server.rest = says("no JSON")
    with Accounts(database, ada.parameters, clock=ada.clock).of_agent("ada"):
        (judgement,) = models.judge.judge(["We decided to move to Oslo."])
    assert judgement.eligible
    (usage,) = used(ada, "judge")
    assert (usage.calls, usage.failures, usage.fell_back) == (3, 3, 1)


def test_fifteen_calls_and_no_more(database: Database, server: ModelServer):
    """M13, counted at the server: a useless answer and an outage each are a call."""
    ada = AgentUnderTest(database)
    memory = remember_with_half_a_link(ada)
    ada.models = with_fast_models(models_of(server))
    server.rest = fails(500)
    server.script = [says("no"), says({"text": ""}), fails(429, retry_after="90"), fails(503)]
    ada.ask_for_pass()
    lease = ada.lease()
    for _ in range(80):
        ada.compression().step(lease, budget_ms=60_000)
        ada.clock.advance(20)
    node = ada.row("SELECT * FROM node WHERE agent_id = %s AND id = %s", memory)
    assert len(server.requests) == 15
    assert (node.attempts, node.scan_count) == (0, 1)
    assert ada.passes()[0].given_up == 1
    assert [(each.calls, each.failures) for each in used(ada)] == [(15, 15)]
