"""The one module that imports LiteLLM; deadlines and errors of its calls.

One call is one request without retries: callers decide and count those (M13, queue.md). LiteLLM
calls only the provider: its table of prices comes with its wheel, and neither it nor its messages
are logged.

Error messages are our own, because a provider's may quote the text or the key.
"""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from http import HTTPStatus
from threading import Lock, Thread
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from memci.domain.usage import Usage
from memci.errors import SmallModelAnswerError, SmallModelError, SmallModelUnavailableError
from memci.smallmodel.vector_space import Vectors

T = TypeVar("T")

# The client's own time-out comes first where it works: it closes the connection.
_GRACE_S = 1.0


def call_with_timeout(timeout_s: float, call: Callable[[], T]) -> T:
    """Return the result of ``call``, or raise ``TimeoutError`` soon after ``timeout_s``.

    Time-outs of sockets restart with every byte, and some providers send blanks while a model
    thinks. An abandoned call ends in its own thread, and its result is lost.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # noqa: BLE001 - it is raised where it was called
            outcome.set_exception(error)

    Thread(target=run, name="model-call", daemon=True).start()
    return outcome.result(timeout_s + _GRACE_S)


# Seconds that a provider may make an agent wait at one time.
_LONGEST_WAIT_S = 3600.0
# The request can never be answered.
_REFUSED = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.REQUEST_URI_TOO_LONG,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    }
)
# Remedies for the operator; until then every call fails, and jobs wait.
_SET_RIGHT = {
    HTTPStatus.UNAUTHORIZED: "it wants another key: set MEMCI_LLM__API_KEY",
    HTTPStatus.PAYMENT_REQUIRED: "its account is empty",
    HTTPStatus.FORBIDDEN: "the key may not use this model",
    HTTPStatus.NOT_FOUND: "it has no such model: check the model's name and MEMCI_LLM__API_BASE",
}


def translate_error(error: Exception, model: str) -> SmallModelError:
    """Return memci's error for an error of a call to ``model``."""
    if isinstance(error, SmallModelError):
        return error
    status = getattr(error, "status_code", None)
    if isinstance(error, TimeoutError) or status == HTTPStatus.REQUEST_TIMEOUT:
        return SmallModelUnavailableError(f"{model} did not answer in time")
    if status in _REFUSED:
        return SmallModelAnswerError(f"{model} refused the request ({status})")
    if status in _SET_RIGHT:
        return SmallModelUnavailableError(f"{model} answered {status}: {_SET_RIGHT[status]}")
    if status is None:
        return SmallModelUnavailableError(f"{model} could not be asked: {type(error).__name__}")
    return SmallModelUnavailableError(
        f"{model} answered {status} or nothing at all",
        retry_after_s=_retry_after_s(_headers(error), datetime.now(UTC)),
    )


def _headers(error: Exception) -> Mapping[str, str]:
    headers: Mapping[str, str] | None = getattr(error, "litellm_response_headers", None)
    if headers is None:
        headers = getattr(getattr(error, "response", None), "headers", None)
    return headers or {}


def _retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Read Retry-After, as seconds or as a date (RFC 9110); at most an hour."""
    header = str(headers.get("retry-after") or "").strip()
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(header) - now).total_seconds()
        except (ValueError, TypeError):
            return None
    # Not a number is no wait either.
    return min(seconds, _LONGEST_WAIT_S) if seconds > 0 else None


_loading = Lock()
# Loggers of whole requests, or of errors that quote them.
_QUOTES_PROMPTS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx", "httpcore")
_READ_AT_IMPORT = {
    # Prices and headers from the wheel, not from the network.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    # Embedding ignores num_retries of 0 and uses this number.
    "DEFAULT_MAX_RETRIES": "0",
}


@dataclass(frozen=True)
class Provider:
    """One model at one address. ``model`` is LiteLLM's name: ``ollama_chat/qwen3:4b``.

    Every call raises ``SmallModelUnavailableError`` or ``SmallModelAnswerError`` with our own
    message, because a provider's may quote the text or the key.
    """

    model: str
    api_base: str | None
    api_key: str | None
    timeout_s: float
    temperature: float
    max_answer_tokens: int

    def __repr__(self) -> str:
        """Show only the model: address and key may be secret."""
        return f"Provider({self.model})"

    def load(self) -> None:
        """Import LiteLLM, which takes seconds."""
        _litellm()

    def complete(
        self, system: str, user: str, name: str, schema: dict[str, Any]
    ) -> tuple[str, Usage]:
        """Return the model's answer to two messages, as JSON of a schema."""
        module = _litellm()
        form = {"name": name, "strict": True, "schema": schema}
        how: dict[str, Any] = {
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": user},
            ],
            "response_format": {"type": "json_schema", "json_schema": form},
            "max_tokens": self.max_answer_tokens,
            "temperature": self.temperature,
        }
        known = module.get_supported_openai_params(model=self.model) or how
        how = {key: value for key, value in how.items() if key == "messages" or key in known}

        def complete() -> Any:
            try:
                return module.completion(**self._options, **how)
            except module.UnsupportedParamsError:  # raised before anything is sent
                how.pop("temperature", None)
                return module.completion(**self._options, **how)

        response = self._call(complete)
        spent = self._usage_of(getattr(response, "usage", None))
        return _text_of(response), spent

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Usage]:
        """Return a vector for each text, as the model returns it: shape (len(texts), d)."""
        module = _litellm()
        response = self._call(lambda: module.embedding(**self._options, input=list(texts)))
        return _rows_of(response, len(texts)), self._usage_of(getattr(response, "usage", None))

    @property
    def dimension(self) -> int | None:
        """The length of the model's vectors, if LiteLLM's table has it."""
        known = self._price_entry(_litellm())
        size = known.get("output_vector_size") if known else None
        return int(size) if size else None

    @property
    def _options(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "api_base": self.api_base,
            "api_key": self.api_key,
            "timeout": self.timeout_s,
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": False,  # else a 422 is answered by a second request
        }

    def _call(self, call: Callable[[], T]) -> T:
        try:
            return call_with_timeout(self.timeout_s, call)
        except Exception as error:  # noqa: BLE001 - it raises whatever it likes
            raise translate_error(error, self.model) from None

    def _usage_of(self, usage: Any) -> Usage:
        prompt = _count(getattr(usage, "prompt_tokens", 0))
        completion = _count(getattr(usage, "completion_tokens", 0))
        cost = self._cost(prompt, completion)
        return Usage(prompt_tokens=prompt, completion_tokens=completion, cost=cost)

    def _cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        module = _litellm()
        # LiteLLM's own look-up would call an Ollama server, and price unknown models at 0.
        known = self._price_entry(module)
        if not known or known.get("input_cost_per_token") is None:
            return None
        per_prompt = float(known["input_cost_per_token"])
        per_completion = float(known.get("output_cost_per_token") or 0.0)
        return prompt_tokens * per_prompt + completion_tokens * per_completion

    def _price_entry(self, module: ModuleType) -> dict[str, Any] | None:
        """Return LiteLLM's entry of this model; some entries lack the provider's name."""
        table: dict[str, dict[str, Any]] = module.model_cost
        family, _, bare = self.model.partition("/")
        line = table.get(self.model)
        if line is None and bare and table.get(bare, {}).get("litellm_provider") == family:
            line = table[bare]
        return line


@cache
def _litellm() -> ModuleType:
    with _loading:
        os.environ.update(_READ_AT_IMPORT)
        import litellm  # noqa: PLC0415 - takes seconds; processes without such models go without

        litellm.suppress_debug_info = True  # it prints advice on stdout
        litellm.turn_off_message_logging = True
        for name in _QUOTES_PROMPTS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        module: ModuleType = litellm
        return module


def _text_of(response: Any) -> str:
    choices = getattr(response, "choices", None)
    if not choices:
        raise SmallModelAnswerError("the model answered without a choice")
    if getattr(choices[0], "finish_reason", None) == "length":
        raise SmallModelAnswerError("the model's answer was cut off: it is too long")
    content = getattr(getattr(choices[0], "message", None), "content", None)
    if not isinstance(content, str) or not content.strip():
        raise SmallModelAnswerError("the model gave an empty answer")
    return content


def _rows_of(response: Any, count: int) -> Vectors:
    """Return the vectors in the order of the texts, by their index."""
    try:
        rows = {int(each["index"]): each["embedding"] for each in response.data}
        vectors = np.array([rows[at] for at in range(count)], dtype=np.float32)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise SmallModelAnswerError("the model's vectors are not those of the texts") from None
    if len(rows) != count or vectors.ndim != 2 or not np.isfinite(vectors).all():  # noqa: PLR2004
        raise SmallModelAnswerError("the model's vectors are not those of the texts")
    return vectors


def _count(number: Any) -> int:
    """Return a provider's count of tokens, checked."""
    return max(0, int(number)) if isinstance(number, (int, float)) else 0
