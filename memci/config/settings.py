"""Settings: the only reader of the environment and of memci.toml.

Every field can be set as ``MEMCI_<NAME>`` in the environment or as ``name = …`` in
``memci.toml`` (in the working directory, or where ``MEMCI_CONFIG`` points); the environment
wins. Memory parameters live in a table of their own: ``[memory]`` or ``MEMCI_MEMORY__<NAME>``.
Tables that group settings otherwise are read by ``memci.config.toml_tables``.
"""

import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
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

from memci.config.groups import (
    ApiKey,
    KeyLimits,
    LlmSettings,
    ModelTask,
    PageStoreAddress,
    TaskModel,
)
from memci.config.toml_tables import as_settings, place_of
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.parameters import PageRules
from memci.errors import ConfigurationError, InvalidInputError
from memci.message import AppendLimits, Remember
from memci.validation_messages import expectation, own_faults

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
# Addresses that mean all addresses of a machine, with the one that its own clients use.
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - to turn them into loopback
_DATABASE_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg", "postgres+psycopg")
_BROKER_SCHEMES = ("redis", "rediss", "redis+socket", "amqp", "amqps", "pyamqp")
_BOOLEANS = {"true": True, "false": False}


class _SettingsFile(TomlConfigSettingsSource):
    """memci.toml, with the values of its tables where the settings have them."""

    def _read_file(self, file_path: Any) -> dict[str, Any]:
        return as_settings(super()._read_file(file_path))


class Settings(BaseSettings):
    """All settings, with their defaults."""

    model_config = SettingsConfigDict(
        env_prefix="MEMCI_", env_nested_delimiter="__", extra="ignore", frozen=True
    )

    data_dir: Path = Field(
        Path("~/.local/share/memci"),
        description="Folder of the embedded servers: their data, passwords and sockets. Used only"
        " if one of the next two is not set.",
    )
    database_url: SecretStr | None = Field(
        None,
        description="PostgreSQL 16 or later with pgvector 0.7 or later, as"
        " `postgresql://login:password@host:5432/name`. Not set: the embedded PostgreSQL, started"
        " by `memci up`.",
    )
    migration_url: SecretStr | None = Field(
        None,
        description="The same database for the login that may change its schema: `memci db upgrade`"
        " and `memci db index` use it, and no part needs it (default: database_url).",
    )
    broker_url: SecretStr | None = Field(
        None,
        description="The Celery broker: `redis://…`, `rediss://…` or `amqp://…`. Not set: the"
        " embedded Redis.",
    )
    embedder_dir: Path | None = Field(
        None,
        description="Folder of the built-in embedder, which is converted into it once. Not set:"
        " the folder `embedder` in `MEMCI_DATA_DIR`.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info",
        description="`debug`, `info`, `warning` or `error`. Logs never contain the text of a"
        " message. On a terminal they are for people, elsewhere JSON.",
    )
    otel_endpoint: str | None = Field(
        None,
        description="Address of an OpenTelemetry collector (OTLP over HTTP). Needs the extra"
        " `otel`.",
    )

    host: str = Field(
        "127.0.0.1",
        description="Address that the API and Flower bind to. Any address but loopback needs"
        " API keys.",
    )
    port: int = Field(8000, ge=0, le=65535, description="Port of the API. `0`: a free one.")
    api_url: str | None = Field(
        None, description="Where the command line finds the API. Not set: from host and port."
    )
    api_key: SecretStr | None = Field(None, description="The key that the command line sends.")
    api_keys: tuple[ApiKey, ...] = Field(
        (),
        description="Keys beside those in the database, which `memci keys` makes: a JSON list of"
        " `{name, hash, agents, scope}`, perhaps with `expires_at` and `limits`. `memci keys new"
        " --env` prints an entry with its key. `agents` is a pattern with `*` and `?`, or"
        " several separated by commas; `collection/NAME` stands for a collection of documents."
        " `scope` is `read`, `write` or `admin`; each includes the one before.",
    )
    key_limits: KeyLimits = KeyLimits()
    http_max_request_bytes: int = Field(
        8 * 1024 * 1024,
        ge=1024,
        description="Largest body of a request, and largest message of a Celery producer. From"
        " Redis as much is read from an agent's Celery queue at once; from RabbitMQ up to 20"
        " messages of that size.",
    )
    http_max_document_bytes: int = Field(
        32 * 1024 * 1024,
        ge=1024,
        description="Largest document. The API holds it in memory during the upload. `memci"
        " documents index` skips larger files.",
    )
    http_read_timeout_ms: int = Field(
        10_000,
        ge=100,
        description="Milliseconds that the API waits for a context worker, in addition to"
        " `wait_ms` of the request. Then it answers 503.",
    )
    http_max_reads: int = Field(
        64,
        ge=1,
        description="Reads that may wait for context workers at once, for each process of the API."
        " More are answered at once: 503 with Retry-After.",
    )
    http_max_streams: int = Field(
        32,
        ge=0,
        description="Streams of events that may be open at once, for each process of the API; one"
        " key may have a quarter of them. More are refused with 429.",
    )

    proxy_upstream_url: str | None = Field(
        None,
        description="An OpenAI-compatible API, such as `https://api.openai.com/v1`. The API passes"
        " chats on to it at `/proxy/{agent}/v1`. Not set: there is no proxy.",
    )
    proxy_upstream_key: SecretStr | None = Field(
        None, description="The key of that API. Not set: clients send it."
    )
    proxy_budget_tokens: int = Field(
        1_000,
        ge=0,
        le=2_000_000,
        description="Tokens of memory that the proxy adds to a chat. `0`: chats are only recorded.",
    )
    proxy_remember: Remember = Field(
        Remember.NOW,
        description="When memories are made of a chat: `now`, `auto` (when it outgrows the context"
        " window) or `never`.",
    )

    console: bool = Field(
        True,
        description="`off`: the API does not serve the console, and does not load it.",
    )
    console_secret: SecretStr | None = Field(
        None,
        description="Seals the logins of the console. Several processes of the API need the same"
        " one. Not set: a new one at each start, which ends all logins.",
    )

    flower_port: int = Field(5555, ge=0, le=65535, description="Port of Flower's page.")
    flower_password: SecretStr | None = Field(
        None,
        description="Password of the user `memci`. Flower does not start without one. `memci up`"
        " makes one and keeps it in the data folder.",
    )

    queue_lease_ms: int = Field(
        30_000,
        ge=300,
        description="Milliseconds after which a worker that has not renewed its lease is taken for"
        " dead, and another one goes on. Leases are renewed, and lost wakeups repeated, six times"
        " as often.",
    )
    queue_max_attempts: int = Field(
        15, ge=1, description="Attempts of one job while a small model does not answer."
    )
    queue_on_dead: Literal["skip", "halt"] = Field(
        "skip",
        description="`skip`: the lane continues after a dead job. `halt`: it stops until somebody"
        " retries or discards the job. With `halt` it also stops at a Celery message that cannot"
        " be taken in, and later messages stay in the broker.",
    )

    upkeep_compress_period_s: float = Field(
        3600.0,
        gt=0,
        description="Seconds between two passes that time brings to an agent that was written to"
        " or read since the last one. Each finished creation of memories asks for a pass too.",
    )
    upkeep_idle_passes_per_day: int = Field(
        0,
        ge=0,
        le=24,
        description="Passes a day for agents that are neither written to nor read. `0`: what is"
        " not used is not forgotten.",
    )
    upkeep_keep_done_jobs_s: float = Field(
        7 * 86_400.0, gt=0, description="Seconds that a done job can still be read."
    )
    upkeep_keep_receipts_s: float = Field(
        30 * 86_400.0,
        gt=0,
        description="Seconds that a receipt can still be read; it may stay a tenth longer."
        " Receipts of erasures stay.",
    )
    upkeep_keep_events_s: float = Field(
        7 * 86_400.0,
        gt=0,
        description="Seconds that an event can still be listed, streamed and replayed. Longer than"
        " all of `MEMCI_WEBHOOKS_RETRIES_S` together: a webhook that is behind does not keep it.",
    )

    webhooks_allow_private: bool = Field(
        False,
        description="Let webhooks lead to private, loopback and other special addresses. With it,"
        " an admin key can make this server send requests into its own network.",
    )
    webhooks_timeout_s: float = Field(
        15.0, ge=0.1, le=60, description="Seconds that one attempt to deliver an event may take."
    )
    webhooks_retries_s: tuple[Annotated[float, Field(ge=0)], ...] = Field(
        (5.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0),
        description="Seconds before each retry of an event, as a JSON list; a tenth more or less."
        " After the last retry the webhook is disabled.",
    )

    upkeep_keep_audit_s: float = Field(
        365 * 86_400.0, gt=0, description="Seconds that the audit log keeps what was done."
    )

    page_store: str = Field(
        "postgres",
        description="Where the texts of notes are: `postgres`; `files` (the folder `pages` in"
        " `MEMCI_DATA_DIR`) or `files:///folder`; `s3://bucket/prefix`, with"
        " `?endpoint=https://…&region=…&addressing=path` (or `virtual`) as needed; or `memory`,"
        " for tests.",
    )
    page_store_reads_also: str | None = Field(
        None,
        description="A second page store. Texts that are not in the first are read from it, while"
        " they move from one to the other.",
    )

    models: dict[ModelTask, TaskModel] = Field(
        {},
        description="The model of a task, as `MEMCI_MODELS__<TASK>__MODEL`: `offline`,"
        " `llm:<model>` by LiteLLM's name, or `<family>:<model>` of an installed adapter. Not set:"
        " `offline`, and no model for `query_planner`.",
    )
    tokenizer: str = Field(
        "o200k_base",
        description="The tokenizer that budgets are counted with, unless a request names a model.",
    )

    llm: LlmSettings = LlmSettings()
    memory: MemoryParameters = MemoryParameters()
    pages: PageRules = PageRules()

    @property
    def embedder_folder(self) -> Path:
        """The folder that holds the converted embedder."""
        return self.embedder_dir or self.data_dir / "embedder"

    @field_validator("data_dir", "embedder_dir")
    @classmethod
    def _expand_home(cls, value: Path | None) -> Path | None:
        return None if value is None else value.expanduser().absolute()

    @field_validator("database_url", "migration_url")
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

    @field_validator("page_store", "page_store_reads_also")
    @classmethod
    def _is_a_page_store(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None:
            return None
        kind = PageStoreAddress.parse(value).kind
        if info.field_name == "page_store_reads_also" and kind == "memory":
            raise ValueError("expected a store that outlives a process")
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
    def _two_page_stores(self) -> Self:
        if self.page_store == self.page_store_reads_also:
            raise ValueError(
                f"MEMCI_PAGE_STORE_READS_ALSO: {self.page_store} is the page store itself; name"
                " another one, or leave it out"
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
        """Limits of one append."""
        return AppendLimits(self.http_max_request_bytes, redact=self.memory.redact)

    def model_of(self, task: ModelTask) -> TaskModel:
        """Return the model of a task, with the address and key that hold for it."""
        found = self.models.get(task, TaskModel())
        common = {name: value for name, value in self.llm if getattr(found, name) is None}
        return found.model_copy(update=common)

    @property
    def client_url(self) -> str:
        """URL of the API for clients on this machine."""
        return self.api_url or local_url(self.host, self.port)


def local_url(host: str, port: int) -> str:
    """Return the URL, for clients on this machine, of a server that listens on ``host``."""
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
    """Return the path of memci.toml, which may not exist."""
    return Path(os.environ.get("MEMCI_CONFIG", "memci.toml"))


def _fault(place: tuple[int | str, ...], text: str) -> str:
    """Return the fault with its setting, or alone if it concerns several settings."""
    if not place:
        return text
    parameter = re.match(r"memory\.(\w+)", text)
    setting = ("memory", parameter[1]) if parameter else tuple(map(str, place))
    table = place_of(setting, file_content())
    where = f" ({table} in {settings_file().name})" if table else ""
    named = "__".join(each for each in map(str, place) if each != "[key]")  # which is about a name
    return f"MEMCI_{named.upper()}: {text}{where}"


def file_content() -> dict[str, Any]:
    """Return the content of memci.toml; empty if it does not exist."""
    path = settings_file()
    return tomllib.loads(path.read_text()) if path.is_file() else {}


def _not_json(complaint: str) -> str:
    """Return a message about the setting that pydantic-settings names in its error text."""
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


def check_shared(settings: Settings) -> None:
    """Raise ``ConfigurationError`` if the store cannot be shared by several processes."""
    if settings.page_store == "memory":
        raise ConfigurationError(
            "MEMCI_PAGE_STORE=memory is for tests and short runs of a single process: API and"
            " workers are several, and none would find what another one keeps; set it to postgres"
            " (the default), files or s3://…"
        )
