"""Groups of settings: API keys, models of tasks, calls of language models, the page store."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias
from urllib.parse import parse_qs, urlsplit

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, SecretStr, model_validator

OFFLINE = "offline"
ModelTask: TypeAlias = Literal[
    "segmenter",
    "annotator",
    "relation_namer",
    "compressor",
    "judge",
    "summarizer",
    "embedder",
    "query_planner",
]


class KeyLimits(BaseModel):
    """What one API key may use. 0: no limit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests_per_minute: int | None = Field(
        None, ge=0, le=2**31, description="Requests in a minute, for each process of the API."
    )
    messages_per_day: int | None = Field(
        None, ge=0, le=2**53, description="New messages in a day of UTC."
    )
    stored_bytes: int | None = Field(
        None,
        ge=0,
        le=2**53,
        description="Bytes of the messages and documents of all agents that the key is for.",
    )
    agents: int | None = Field(
        None, ge=0, le=2**31, description="Agents that the key is for, whoever created them."
    )

    def over(self, defaults: Self) -> Self:
        """Return these limits; those that are not set are taken from ``defaults``."""
        mine = self.model_dump(exclude_none=True)
        return defaults.model_copy(update=mine)


KEY_NAME = r"[A-Za-z0-9._:@-]{1,64}"
# Patterns of agent ids and of collection/NAME, with commas between: * and ? as in file names.
KEY_AGENTS = r"[A-Za-z0-9._:@*?/-]{1,128}(,[A-Za-z0-9._:@*?/-]{1,128})*"
KeyScope: TypeAlias = Literal["read", "write", "admin"]


class ApiKey(BaseModel):
    """What is known of an API key: an entry of MEMCI_API_KEYS, or a row of the database."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=rf"^{KEY_NAME}$")
    hash: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    agents: str = Field("*", max_length=2_048, pattern=rf"^{KEY_AGENTS}$")
    scope: KeyScope = "read"
    expires_at: AwareDatetime | None = None
    limits: KeyLimits = KeyLimits()


class TaskModel(BaseModel):
    """The model of one task, and how it is called."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(
        OFFLINE,
        description="`offline`, `llm:<model>` by LiteLLM's name, or `<family>:<model>` of an"
        " installed adapter.",
    )
    api_base: str | None = Field(None, description="Not set: `MEMCI_LLM__API_BASE`.")
    api_key: SecretStr | None = Field(None, description="Not set: `MEMCI_LLM__API_KEY`.")
    timeout_ms: int = Field(
        30_000, ge=100, le=300_000, description="Milliseconds that one call may take."
    )
    temperature: float = Field(
        0.2, ge=0, le=2, description="Above 0, so that a retry gives another answer."
    )
    max_answer_tokens: int = Field(
        2_048, ge=64, le=1_000_000, description="Tokens of one answer, reasoning included."
    )
    dimension: int | None = Field(
        None,
        ge=1,
        le=16_000,
        description="Length of the embedder's vectors. Not set: from LiteLLM's table.",
    )
    query_prefix: str | None = Field(
        None,
        max_length=1_000,
        description="Put before questions by an embedder of `sentence-transformers`. Not set: the"
        " model's own prompt.",
    )
    passage_prefix: str | None = Field(
        None, max_length=1_000, description="The same before texts to be found."
    )

    @model_validator(mode="before")
    @classmethod
    def _accept_a_name(cls, value: Any) -> Any:
        return {"model": value} if isinstance(value, str) else value


class LlmSettings(BaseModel):
    """Address and key of language models, unless ``[models.<task>]`` sets its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    api_base: str | None = Field(
        None,
        description="Address of the provider or of your own server. Not set: the provider's own.",
    )
    api_key: SecretStr | None = Field(
        None,
        description="Its key. Not set: the variable that LiteLLM reads for the provider, such as"
        " `OPENAI_API_KEY`.",
    )


# The rule of S3 itself; compatible stores have the same or a looser one.
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,62}")
# No "." or ".." and no double slash: servers and proxies normalize such paths.
_NAME = r"[A-Za-z0-9_=-][A-Za-z0-9._=-]*"
_PREFIX = re.compile(rf"(?!.{{201}})(?:{_NAME}(?:/{_NAME})*)?")
_REGION = re.compile(r"[A-Za-z0-9-]{1,64}")
_STORES = (
    "expected postgres, files, files:///folder, s3://bucket/prefix?endpoint=…&region=… or memory"
)


@dataclass(frozen=True, slots=True)
class PageStoreAddress:
    """Address of the store of notes' texts."""

    kind: str  # postgres, files, s3 or memory
    folder: Path | None = None  # of files; None: the folder "pages" in data_dir
    bucket: str = ""
    prefix: str = "memci"  # of the names of all objects
    endpoint: str | None = None  # None: AWS
    region: str | None = None  # None: as boto3 finds it
    addressing: str = "auto"  # auto, path or virtual

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a setting; a ``ValueError`` names the expected form and never quotes the value."""
        if text in {"postgres", "files", "memory"}:
            return cls(text)
        url = urlsplit(text)
        if url.scheme == "files" and not url.netloc and url.path.startswith("/"):
            return cls("files", Path(url.path))
        if url.scheme != "s3":
            raise ValueError(_STORES)
        options = {name: values[-1] for name, values in parse_qs(url.query).items()}
        found = cls(
            "s3",
            bucket=url.netloc,
            prefix=url.path.removeprefix("/") if url.path else "memci",
            endpoint=options.pop("endpoint", None),
            region=options.pop("region", None),
            addressing=options.pop("addressing", "auto"),
        )
        found._check(options)
        return found

    def _check(self, unknown: dict[str, str]) -> None:
        if not _BUCKET.fullmatch(self.bucket):
            raise ValueError("expected the name of a bucket after s3://")
        if not _PREFIX.fullmatch(self.prefix):
            raise ValueError("expected a prefix such as memci/notes after the bucket")
        if unknown:
            raise ValueError("expected only the options endpoint, region and addressing")
        if self.region is not None and not _REGION.fullmatch(self.region):
            raise ValueError("expected a region such as eu-central-1")
        if self.addressing not in {"auto", "path", "virtual"}:
            raise ValueError("expected the addressing auto, path or virtual")
        parts = urlsplit(self.endpoint or "https://s3.example.org")
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("expected an endpoint such as https://s3.example.org")
        if "@" in parts.netloc:
            raise ValueError(
                "expected an endpoint without credentials: boto3 takes them from AWS_ACCESS_KEY_ID"
                " and AWS_SECRET_ACCESS_KEY, or any other way that it knows"
            )
