"""The family ``llm``: adapters of every task by any provider that LiteLLM knows."""

from collections.abc import Callable, Mapping
from typing import Any

from memci.config.groups import ModelTask
from memci.config.settings import Settings
from memci.smallmodel.litellm import annotator
from memci.smallmodel.litellm.compressor import LlmCompressor
from memci.smallmodel.litellm.embedder import LlmEmbedder
from memci.smallmodel.litellm.language_model import LanguageModel
from memci.smallmodel.litellm.provider import Provider
from memci.smallmodel.litellm.segmenter import LlmSegmenter
from memci.smallmodel.litellm.summarizer import LlmSummarizer

FAMILY = "llm"
_ADAPTERS: Mapping[str, Callable[[LanguageModel, Any], Any]] = {
    "segmenter": LlmSegmenter,
    "annotator": annotator.LlmAnnotator,
    "relation_namer": annotator.LlmRelationNamer,
    "compressor": LlmCompressor,
    "judge": annotator.LlmJudge,
    "summarizer": LlmSummarizer,
    "query_planner": annotator.LlmQueryPlanner,
}


def llm_adapter(task: ModelTask, model: str, settings: Settings, offline: Callable[[], Any]) -> Any:
    """Return the adapter of a task; ``offline`` makes the fallback."""
    provider = _provider(task, model, settings)
    if task == "embedder":
        return LlmEmbedder(provider, settings.model_of(task).dimension)
    return _ADAPTERS[task](LanguageModel(task, provider), offline())


def _provider(task: ModelTask, model: str, settings: Settings) -> Provider:
    where = settings.model_of(task)
    return Provider(
        model=model,
        api_base=where.api_base,
        api_key=where.api_key.get_secret_value() if where.api_key else None,
        timeout_s=where.timeout_ms / 1000,
        temperature=where.temperature,
        max_answer_tokens=where.max_answer_tokens,
    )
