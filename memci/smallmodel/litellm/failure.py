"""What a failed call means: worth another try, or not (queue.md, "Failure, retry, dead letter").

Said in our own words: a provider's may quote the text that it was sent, or the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from memci.errors import SmallModelAnswerError, SmallModelError, SmallModelUnavailableError

# Seconds that a provider may make an agent wait at one time.
_LONGEST_WAIT_S = 3600.0
# What was sent cannot be answered, now or later.
_REFUSED = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.REQUEST_URI_TOO_LONG,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    }
)
# What whoever runs memci can do about it; until then every call fails, and jobs wait for it.
_SET_RIGHT = {
    HTTPStatus.UNAUTHORIZED: "it wants another key: set MEMCI_LLM__API_KEY",
    HTTPStatus.PAYMENT_REQUIRED: "its account is empty",
    HTTPStatus.FORBIDDEN: "the key may not use this model",
    HTTPStatus.NOT_FOUND: "it has no such model: check the model's name and MEMCI_LLM__API_BASE",
}


def understood(error: Exception, model: str) -> SmallModelError:
    """Return what an error of a call to ``model`` is to us."""
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
    said = str(headers.get("retry-after") or "").strip()
    try:
        asked = float(said)
    except ValueError:
        try:
            asked = (parsedate_to_datetime(said) - now).total_seconds()
        except (ValueError, TypeError):
            return None
    # Not a number is no wait either.
    return min(asked, _LONGEST_WAIT_S) if asked > 0 else None
