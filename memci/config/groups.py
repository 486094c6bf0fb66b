"""Groups of settings: documents, language models, the page store."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator


class DocumentSettings(BaseModel):
    """Limits of one document; whatever is over one of them is refused whole, and says so."""

    max_document_bytes: int = Field(32 * 1024 * 1024, ge=1024)
    # What a zip may hold: Office files, EPUB
    max_document_unpacked_bytes: int = Field(256 * 1024 * 1024, ge=1024)
    max_document_pages: int = Field(2_000, ge=1)  # of a PDF, or slides
    max_document_chunks: int = Field(20_000, ge=1)
    document_seconds: int = Field(60, ge=1)  # of processor time
    document_memory_bytes: int = Field(1024 * 1024 * 1024, ge=128 * 1024 * 1024)


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


# S3's own rule; compatible stores have the same, or a looser one.
_BUCKET = r"^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$"
# No dots or slashes twice: servers and proxies tidy paths up.
_PREFIX = r"^(?:[A-Za-z0-9_=-][A-Za-z0-9._=-]*(?:/[A-Za-z0-9_=-][A-Za-z0-9._=-]*)*)?$"


class PageStoreSettings(BaseModel):
    """Which store it is, where that is, and how much of it a process keeps at hand."""

    page_store: Literal["postgres", "files", "s3", "memory"] = "postgres"
    # A second one that is read as well, while texts move from one to the other
    page_store_reads_also: Literal["postgres", "files", "s3"] | None = None
    page_folder: Path | None = None  # unset: the folder "pages" in data_dir
    page_s3_bucket: str | None = Field(None, pattern=_BUCKET)
    page_s3_prefix: str = Field("memci", max_length=200, pattern=_PREFIX)
    page_s3_endpoint: str | None = None  # unset: AWS
    page_s3_region: str | None = Field(None, pattern=r"^[A-Za-z0-9-]{1,64}$")  # unset: as boto3's
    page_s3_addressing: Literal["auto", "path", "virtual"] = "auto"
    page_cache_bytes: int = Field(16 * 1024 * 1024, ge=0)  # of each process; 0 = none
    page_sweep_period_s: float = Field(86_400.0, gt=0)
    # Longer than any transaction, and than any back-up of the database is from that of the store
    page_sweep_grace_s: float = Field(86_400.0, ge=600)

    @field_validator("page_s3_endpoint")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("expected an address such as https://s3.example.org")
        if "@" in parts.netloc or parts.query:
            raise ValueError(
                "expected an address without credentials: boto3 takes them from AWS_ACCESS_KEY_ID"
                " and AWS_SECRET_ACCESS_KEY, or any other way that it knows"
            )
        return value

    @model_validator(mode="after")
    def _has_all_that_the_stores_need(self) -> Self:
        used = {self.page_store, self.page_store_reads_also}
        if "s3" in used and self.page_s3_bucket is None:
            raise ValueError("a page store on S3 needs a bucket: set MEMCI_PAGE_S3_BUCKET")
        if self.page_store == self.page_store_reads_also:
            raise ValueError(
                f"MEMCI_PAGE_STORE_READS_ALSO: {self.page_store} is the page store itself; name"
                " another one, or leave it out"
            )
        return self
