"""The way of every command to the server: the HTTP client, set as the settings say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from memci.client import Agent, Memci
from memci.config import load_settings
from memci.errors import ReadTimeoutError, UnavailableError


@contextmanager
def connected() -> Iterator[Memci]:
    """Lend a client; a server that is away is named in the error."""
    settings = load_settings()
    key = settings.api_key.get_secret_value() if settings.api_key else None
    with Memci(settings.client_url, api_key=key) as memci:
        try:
            yield memci
        except ReadTimeoutError:
            raise
        except UnavailableError as error:
            raise UnavailableError(
                f"{error} ({settings.client_url}; `memci doctor` says what is wrong)"
            ) from error


@contextmanager
def agent_of(agent_id: str) -> Iterator[Agent]:
    """Lend a client of one agent."""
    with connected() as memci:
        yield memci.agent(agent_id)
