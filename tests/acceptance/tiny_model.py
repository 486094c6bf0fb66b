"""A real language model shortens memories, through LiteLLM and HTTP; run by `make test-llm`.

A model of this size repeats its input and ignores lengths. So the test says nothing about quality,
only that requests and answers work and that wrong answers are refused.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memci.errors import SmallModelAnswerError
from memci.smallmodel.litellm.compressor import invented
from memci.smallmodel.registry import SmallModels
from tests.integration.llm.conftest import models_of
from tests.support.model_server import ModelServer, close_clients, model_server
from tests.support.tiny_model import TinyModel

pytestmark = [pytest.mark.timeout(900), pytest.mark.filterwarnings("ignore")]
TRAIN = (
    "The train to Porto leaves at 9:40 on Friday. We have to be at the station half an hour "
    "earlier, because the tickets must be collected at the counter."
)
MOVE = (
    "My sister Ada moves to Lisbon in May. She found a flat near the river, it costs 900 euros a "
    "month, and she will start her new job at the museum on the first of June."
)
DATABASE = (
    "We tried the new database for two weeks and it was slow, so the team agreed to stay with "
    "PostgreSQL until at least next spring."
)
TEXTS = (TRAIN, MOVE, DATABASE)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server() as made:
        made.rest = TinyModel()
        yield made
        close_clients()


@pytest.fixture(scope="module")
def models(server: ModelServer) -> SmallModels:
    return models_of(server, timeout_ms=300_000)


def test_a_real_model_shortens_texts(server: ModelServer, models: SmallModels):
    shortened: list[str] = []
    refused: list[str] = []
    for text in TEXTS:
        target = len(text) // 2
        try:
            answer = models.compressor.compress(text, target)
        except SmallModelAnswerError as error:
            refused.append(str(error))
            continue
        assert 0 < len(answer) <= target
        assert invented(answer, text) == []
        shortened.append(answer)
    assert len(server.requests) == len(TEXTS)
    assert shortened, refused
