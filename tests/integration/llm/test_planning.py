"""Queries that a language model plans for a question (R10)."""

from __future__ import annotations

import pytest

from memci.config.settings import Settings
from memci.errors import ConfigurationError, SmallModelUnavailableError
from memci.language.detection import Language
from memci.reading.understand import planned_queries
from memci.smallmodel.litellm.prompts import instructions
from memci.smallmodel.registry import SmallModels, build_small_models
from tests.integration.llm.conftest import models_of
from tests.integration.llm.test_injection import INJECTIONS
from tests.support.model_server import ModelServer, fails, hangs, says

QUESTION = "Do both Ada and Grace have pets?"
PLAN = ["Which pets does Ada have?", "Which pets does Grace have?"]


def plan(models: SmallModels, text: str = QUESTION) -> list[str]:
    assert models.query_planner is not None
    return models.query_planner.plan(text, Language.ENGLISH)


def test_there_is_no_planner_by_default() -> None:
    assert build_small_models(Settings()).query_planner is None
    assert planned_queries(None, QUESTION, Language.ENGLISH) == []


def test_the_offline_rules_plan_queries() -> None:
    models = build_small_models(Settings(models={"query_planner": "offline"}))

    assert plan(models) == []
    assert plan(models, "Where was it? Who came?") == ["Where was it?", "Who came?"]
    assert plan(models, f"Where was it? {'x' * 400}? Who came?") == []


def test_an_unknown_planner_is_named() -> None:
    with pytest.raises(ConfigurationError, match="MEMCI_MODELS__QUERY_PLANNER__MODEL"):
        build_small_models(Settings(models={"query_planner": "gpt"}))


def test_the_model_plans_queries(server: ModelServer, models: SmallModels) -> None:
    server.rest = says({"queries": PLAN})

    assert plan(models) == PLAN
    (asked,) = server.requests
    assert asked.task == "plan_query"
    assert asked.data == {"question": QUESTION}


def test_a_question_is_planned_in_its_language(server: ModelServer, models: SmallModels) -> None:
    server.rest = says({"queries": ["李明有什么宠物？"]})
    assert models.query_planner is not None

    queries = models.query_planner.plan("李明和王芳都有宠物吗？", Language.CHINESE)

    assert queries == ["李明有什么宠物？"]
    assert "记忆库" in server.requests[0].instructions


def test_a_plan_has_at_most_four_new_queries(server: ModelServer, models: SmallModels) -> None:
    queries = [
        "do both Ada and Grace have pets",
        *PLAN,
        "which pets does Ada have",
        "Where is Ada?",
    ]
    server.rest = says({"queries": [*queries, "Where is Grace?", "Who has pets?"]})

    assert plan(models) == [*PLAN, "Where is Ada?", "Where is Grace?"]


def test_a_simple_question_has_no_plan(server: ModelServer, models: SmallModels) -> None:
    server.rest = says({"queries": []})

    assert plan(models) == []
    assert plan(models, " \n ") == []
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"queries": [""]},
        {"queries": ["x" * 301]},
        {"queries": ["Which pets?"] * 21},
        {"queries": ["Which pets did Mallory have?"]},
        {"queries": ["What did Ada do in 1999?"]},
        {"queries": ["Send it to mallory@evil.test"]},
        {"queries": PLAN, "k": 1_000},
        {"queries": "Which pets?"},
        {"plan": PLAN},
        "Which pets does Ada have?",
    ],
)
def test_a_wrong_plan_uses_the_offline_rules(
    server: ModelServer, models: SmallModels, answer: object
) -> None:
    server.rest = says(answer)
    text = "Which pets has Ada? Which pets has Grace?"

    assert plan(models, text) == ["Which pets has Ada?", "Which pets has Grace?"]
    assert len(server.requests) == 3


@pytest.mark.parametrize("injection", INJECTIONS)
def test_a_question_is_one_string_of_data(
    server: ModelServer, models: SmallModels, injection: str
) -> None:
    plan(models, injection)

    (asked,) = server.requests
    assert asked.data == {"question": injection}
    assert asked.instructions == instructions("plan_query", Language.ENGLISH)


def test_both_ends_of_a_long_question_are_shown(server: ModelServer, models: SmallModels) -> None:
    plan(models, "Begin. " + "Ada said much. " * 1_000 + "Why?")

    question = server.requests[0].data["question"]
    assert len(question) <= 2_000
    assert question.startswith("Begin.")
    assert question.endswith("Why?")


@pytest.mark.parametrize("reply", [fails(500), fails(429), fails(401), hangs])
def test_a_read_has_no_plan_while_the_planner_is_down(server: ModelServer, reply: object) -> None:
    server.rest = reply
    planner = models_of(server, timeout_ms=300).query_planner
    assert planner is not None

    with pytest.raises(SmallModelUnavailableError):
        planner.plan(QUESTION, Language.ENGLISH)
    assert planned_queries(planner, QUESTION, Language.ENGLISH) == []
