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
    """A language model on this machine."""
    with model_server() as made:
        yield made
        close_clients()


@pytest.fixture
def models(server: ModelServer) -> SmallModels:
    """All tasks but embedding done by the server, called as OpenAI's."""
    return models_of(server)


def models_of(server: ModelServer, name: str = "openai/tiny", **how: object) -> SmallModels:
    access = {"api_base": server.url, "api_key": "sk-HUSH", "timeout_ms": 20_000, **how}
    each = {"model": f"llm:{name}", **access}
    return build_small_models(Settings(models=dict.fromkeys(TASKS, each)))
