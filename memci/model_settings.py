"""Where language models are and how they are asked: ``[llm]`` in memci.toml, ``MEMCI_LLM__…``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class TaskSettings(BaseModel):
    """What differs for the model of one task; what is left out is as for all."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    api_base: str | None = None
    api_key: SecretStr | None = None
    timeout_ms: int | None = Field(None, ge=100, le=300_000)
    temperature: float | None = Field(None, ge=0, le=2)
    max_answer_tokens: int | None = Field(None, ge=64, le=1_000_000)


class ModelAccess(BaseModel):
    """How the model of one task is asked."""

    model_config = ConfigDict(frozen=True)

    api_base: str | None
    api_key: SecretStr | None
    timeout_ms: int
    temperature: float
    max_answer_tokens: int


class LlmSettings(BaseModel):
    """How the models of the family ``llm`` are asked, and what differs for some tasks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    api_base: str | None = None  # unset: the provider's own
    api_key: SecretStr | None = None  # unset: the variable that LiteLLM reads for the provider
    timeout_ms: int = Field(30_000, ge=100, le=300_000)  # of one call
    temperature: float = Field(0.2, ge=0, le=2)  # above 0, so that another try is another answer
    max_answer_tokens: int = Field(2_048, ge=64, le=1_000_000)  # reasoning included
    dimension: int | None = Field(None, ge=1, le=16_000)  # of the embedder's vectors

    segmenter: TaskSettings = TaskSettings()
    annotator: TaskSettings = TaskSettings()
    relation_namer: TaskSettings = TaskSettings()
    compressor: TaskSettings = TaskSettings()
    judge: TaskSettings = TaskSettings()
    summarizer: TaskSettings = TaskSettings()
    embedder: TaskSettings = TaskSettings()
    query_planner: TaskSettings = TaskSettings()

    def of(self, task: str) -> ModelAccess:
        """Return how the model of a task, named as its setting, is asked."""
        own: TaskSettings = getattr(self, task)
        values = {
            name: getattr(self, name) if getattr(own, name) is None else getattr(own, name)
            for name in TaskSettings.model_fields
        }
        return ModelAccess(**values)
