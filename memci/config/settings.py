"""Settings: the only reader of the environment and of memci.toml.

Every field can be set as ``MEMCI_<NAME>`` in the environment or as ``name = …`` in
``memci.toml`` (in the working directory, or where ``MEMCI_CONFIG`` points); the environment
wins. Memory parameters live in a table of their own: ``[memory]`` or ``MEMCI_MEMORY__<NAME>``.
Tables that group settings otherwise are read by ``memci.config.toml_tables``.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from memci.config.groups import DocumentSettings, LlmSettings, PageStoreSettings
from memci.config.toml_tables import as_settings, place_of
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.scan import SNAPSHOT_BYTES
from memci.domain.pages.parameters import PageRules
from memci.errors import ConfigurationError, InvalidInputError
from memci.message import AppendLimits, Remember
from memci.validation_messages import expectation, own_faults

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
# Addresses that stand for all of a machine's, and where a client on it finds what listens there.
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - to turn them into loopback
_DATABASE_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg", "postgres+psycopg")
_BROKER_SCHEMES = ("redis", "rediss", "redis+socket", "amqp", "amqps", "pyamqp")
_BOOLEANS = {"true": True, "false": False}


class _SettingsFile(TomlConfigSettingsSource):
    """memci.toml, with the values of its tables where the settings have them."""

    def _read_file(self, file_path: Any) -> dict[str, Any]:
        return as_settings(super()._read_file(file_path))


class ApiKey(BaseModel):
    """One entry of MEMCI_API_KEYS; ``memci keys new`` prints it together with its key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=64)
    hash: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    # Patterns of agent ids and of collection/NAME, with commas between: * and ? as in file names.
    agents: str = Field("*", pattern=r"^[A-Za-z0-9._:@*?/-]{1,128}(,[A-Za-z0-9._:@*?/-]{1,128})*$")
    scope: Literal["read", "write", "admin"] = "read"


class Settings(DocumentSettings, PageStoreSettings, BaseSettings):
    """All settings, with their defaults. Periods are seconds, time-outs carry their unit."""

    model_config = SettingsConfigDict(
        env_prefix="MEMCI_", env_nested_delimiter="__", extra="ignore", frozen=True
    )

    # Where things are
    data_dir: Path = Path("~/.local/share/memci")
    database_url: SecretStr | None = None  # unset: the embedded PostgreSQL in data_dir
    broker_url: SecretStr | None = None  # unset: the embedded Redis in data_dir

    # HTTP
    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    api_url: str | None = None  # where the CLI finds the API; unset: http://host:port
    api_key: SecretStr | None = None  # the key that the CLI sends
    api_keys: tuple[ApiKey, ...] = ()  # without keys the server binds to loopback only
    rate_limit_per_minute: int = Field(0, ge=0)  # requests per key; 0 = no limit
    max_request_bytes: int = Field(8 * 1024 * 1024, ge=1024)
    max_message_bytes: int = Field(1024 * 1024, ge=1)  # content and tool calls, as UTF-8
    max_messages: int = Field(500, ge=1)  # in one request
    max_import_bytes: int = Field(256 * 1024 * 1024, ge=1024)  # one archive of an agent
    read_timeout_ms: int = Field(10_000, ge=100)  # how long the API waits for a context worker

    # Chat proxy (docs/frameworks.md)
    proxy_upstream_url: str | None = None  # an OpenAI-compatible API; unset: there is no proxy
    proxy_upstream_key: SecretStr | None = None  # unset: clients send the upstream's key
    proxy_budget_tokens: int = Field(1_000, ge=0, le=2_000_000)  # put into a chat; 0 = nothing
    proxy_remember: Remember = Remember.NOW
    proxy_memory_timeout_ms: int = Field(3_000, ge=50)  # then a chat goes on without memory
    proxy_timeout_s: float = Field(600.0, gt=0)  # between two chunks of the upstream

    # Flower
    flower_port: int = Field(5555, ge=0, le=65535)
    flower_user: str = "memci"
    flower_password: SecretStr | None = None  # unset: `memci up` makes one and keeps it in data_dir

    # Lanes; queue.md says why each is there
    lease_ms: int = Field(30_000, ge=300)
    lease_renew_ms: int = Field(5_000, ge=50)
    lane_slice_ms: int = Field(2_000, ge=50)
    claim_batch: int = Field(16, ge=1, le=256)  # lanes that one token claims at most
    max_started: int = Field(3, ge=1)  # starts without an outcome before a job is dead
    max_attempts: int = Field(15, ge=1)  # tries of one job while small models do not answer
    on_dead: Literal["skip", "halt"] = "skip"
    bridge_batch: int = Field(100, ge=1, le=1000)
    compress_yields: bool = True  # workers that do nothing but compress take idle processors only
    token_stale_s: float = Field(10.0, gt=0)  # due for longer and unclaimed: told to operators

    # Periods of beat
    sweep_period_s: float = Field(5.0, gt=0)
    compress_period_s: float = Field(3600.0, gt=0)
    prune_period_s: float = Field(3600.0, gt=0)
    consolidate_period_s: float = Field(600.0, gt=0)
    janitor_period_s: float = Field(86_400.0, gt=0)
    idle_passes_per_day: int = Field(0, ge=0, le=24)
    keep_done_jobs_s: float = Field(7 * 86_400.0, gt=0)
    keep_receipts_s: float = Field(30 * 86_400.0, gt=0)
    snapshot_bytes: int = Field(SNAPSHOT_BYTES, ge=0)  # of one agent's network; 0 = take none

    # Small models, one per task: "offline", "llm:<model>" by LiteLLM's name for it, or
    # "<family>:<model>" of an installed adapter
    segmenter: str = "offline"
    annotator: str = "offline"
    relation_namer: str = "offline"
    compressor: str = "offline"
    judge: str = "offline"
    summarizer: str = "offline"
    embedder: str = "offline"
    query_planner: str | None = None  # unset: no model is asked what to search for
    model_threads: int = Field(0, ge=0)  # threads of torch in one process; 0 = its own default

    # Reading
    tokenizer: str = "o200k_base"
    recent_interactions: int = Field(8, ge=0)
    # Hits of a search that names no k; unset: by how much the question asks for.
    search_k: int | None = Field(None, ge=1, le=200)
    context_max_tokens: int = Field(8_192, ge=256)
    sandbox_processes: int = Field(4, ge=1, le=64)  # that run models' code at once, in one process
    context_threshold_ratio: float = Field(0.8, gt=0, le=1)

    # Telemetry
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["auto", "json", "console"] = "auto"
    otel_endpoint: str | None = None  # OTLP over HTTP; needs the extra memci[otel]

    llm: LlmSettings = LlmSettings()
    memory: MemoryParameters = MemoryParameters()
    pages: PageRules = PageRules()

    @field_validator("data_dir", "page_folder")
    @classmethod
    def _expand_home(cls, value: Path | None) -> Path | None:
        return None if value is None else value.expanduser().absolute()

    @field_validator("database_url")
    @classmethod
    def _is_a_database(cls, value: SecretStr | None) -> SecretStr | None:
        return _with_scheme(value, _DATABASE_SCHEMES, "postgresql://…")

    @field_validator("broker_url")
    @classmethod
    def _is_a_broker(cls, value: SecretStr | None) -> SecretStr | None:
        return _with_scheme(value, _BROKER_SCHEMES, "redis://…, rediss://… or amqp://…")

    @field_validator("proxy_upstream_url")
    @classmethod
    def _is_an_api(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#]*)?", value):
            raise ValueError("expected an address such as https://api.openai.com/v1")
        return value

    @field_validator("memory", "pages", mode="before")
    @classmethod
    def _check_parameters(cls, value: object, info: ValidationInfo) -> object:
        """Environment variables are text: give each parameter its own type first."""
        if not isinstance(value, dict):
            return value
        defaults = MemoryParameters() if info.field_name == "memory" else PageRules()
        try:
            return defaults.with_values({k: _number(v) for k, v in value.items()})
        except InvalidInputError as error:
            raise ValueError(f"{info.field_name}.{error.field}: {error}") from error

    @model_validator(mode="after")
    def _never_open_without_keys(self) -> Self:
        if self.host not in LOOPBACK and not self.api_keys:
            raise ValueError(
                f"refusing to bind to {self.host} without API keys: make one with "
                "`memci keys new NAME` and set MEMCI_API_KEYS, or bind to 127.0.0.1"
            )
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments win over the environment, and the environment over memci.toml."""
        del dotenv_settings, file_secret_settings
        toml = _SettingsFile(settings_cls, toml_file=settings_file())
        return init_settings, env_settings, toml

    @property
    def append_limits(self) -> AppendLimits:
        """How much may be appended at once."""
        return AppendLimits(self.max_request_bytes, self.max_message_bytes, self.max_messages)

    @property
    def client_url(self) -> str:
        """Where a client on this machine reaches the API."""
        return self.api_url or local_url(self.host, self.port)


def local_url(host: str, port: int) -> str:
    """Return where a client on this machine reaches what listens on ``host``."""
    name = EVERYWHERE.get(host, host)
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def load_settings(**values: Any) -> Settings:
    """Read the settings, or raise ``ConfigurationError`` that names each wrong one."""
    if "MEMCI_CONFIG" in os.environ and not settings_file().is_file():
        raise ConfigurationError(f"MEMCI_CONFIG names {settings_file()}, and there is no such file")
    # Never the input: it may be a secret.
    try:
        return Settings(**values)
    except ValidationError as error:
        found = own_faults(error.errors(include_input=False, include_url=False))
        faults = [_fault(each["loc"], expectation(each)) for each in found]
        raise ConfigurationError("wrong settings: " + "; ".join(faults)) from None
    except SettingsError as error:
        raise ConfigurationError(f"wrong settings: {_not_json(str(error))}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{settings_file()} is not TOML: {error}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{settings_file()} is not UTF-8 text") from None
    except OSError as error:
        raise ConfigurationError(f"{settings_file()} cannot be read: {error.strerror}") from None


def settings_file() -> Path:
    """Return where memci.toml is, if there is one."""
    return Path(os.environ.get("MEMCI_CONFIG", "memci.toml"))


def _fault(place: tuple[int | str, ...], text: str) -> str:
    """Return what is wrong with a setting, or, without a place, with all of them together."""
    if not place:
        return text
    parameter = re.match(r"memory\.(\w+)", text)
    setting = ("memory", parameter[1]) if parameter else tuple(map(str, place))
    table = place_of(setting, _file_content())
    where = f" ({table} in {settings_file().name})" if table else ""
    return f"MEMCI_{'__'.join(map(str, place)).upper()}: {text}{where}"


def _file_content() -> dict[str, Any]:
    path = settings_file()
    return tomllib.loads(path.read_text()) if path.is_file() else {}


def _not_json(complaint: str) -> str:
    """Name the setting that pydantic-settings could not parse; it tells only in its text."""
    named = re.search(r'field "(\w+)"', complaint)
    setting = f"MEMCI_{named[1].upper()}" if named else "one of them"
    return f"{setting}: expected JSON"


def _with_scheme(
    value: SecretStr | None, schemes: tuple[str, ...], expected: str
) -> SecretStr | None:
    if value is None:
        return None
    scheme, separator, _ = value.get_secret_value().partition("://")
    if not separator or scheme not in schemes:
        raise ValueError(f"expected an address such as {expected}")
    return value


def _number(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value.lower() in _BOOLEANS:
        return _BOOLEANS[value.lower()]
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value
