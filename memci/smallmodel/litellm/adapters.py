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
    own = settings.model_of(task)
    provider = Provider(
        model=model,
        api_base=own.api_base,
        api_key=own.api_key.get_secret_value() if own.api_key else None,
        timeout_s=own.timeout_ms / 1000,
        temperature=own.temperature,
        max_answer_tokens=own.max_answer_tokens,
    )
    if task == "embedder":
        return LlmEmbedder(provider, own.dimension)
    return _ADAPTERS[task](LanguageModel(task, provider), offline())
