from __future__ import annotations

from collections.abc import Iterator

import pytest

from memci.config.settings import Settings
from memci.smallmodel.registry import SmallModels, build_small_models
from tests.support.model_server import ModelServer, close_clients, model_server

TASKS = (
    "segmenter", "annotator", "relation_namer", "compressor", "judge", "summarizer",
    "query_planner",
)  # fmt: skip


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server of language models on this machine."""
    with model_server() as made:
        yield made
        close_clients()


@pytest.fixture
def models(server: ModelServer) -> SmallModels:
    """Models for all tasks except embedding, called like those of OpenAI."""
    return models_of(server)


def models_of(server: ModelServer, name: str = "openai/tiny", **options: object) -> SmallModels:
    access = {"api_base": server.url, "api_key": "sk-HUSH", "timeout_ms": 20_000, **options}
    setting = {"model": f"llm:{name}", **access}
    return build_small_models(Settings(models=dict.fromkeys(TASKS, setting)))
