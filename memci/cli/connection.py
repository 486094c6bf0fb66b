"""The connection of every command to the server: an HTTP client that follows the settings."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from memci.cli.output import printable
from memci.domain.agent import LISTED, no_agent
from memci.errors import (
    ConfigurationError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    ReadTimeoutError,
    UnauthorizedError,
    UnavailableError,
)

if TYPE_CHECKING:
    from memci.client import Agent, Memci
    from memci.config.settings import Settings
    from memci.schemas.reads import Freshness


def read_settings(**values: Any) -> Settings:
    """Read the settings, or raise ``ConfigurationError``; warn of misspelt ones."""
    from memci.config.settings import load_settings
    from memci.config.unknown_names import misspelt_settings

    settings = load_settings(**values)
    for each in misspelt_settings():
        sys.stderr.write(printable(f"memci: warning: {each}") + "\n")
    return settings


_SETTINGS: Mapping[str | None, str] = {"url": "MEMCI_API_URL", "api_key": "MEMCI_API_KEY"}


@contextmanager
def connected() -> Iterator[Memci]:
    """Lend a client; its errors are ``explained``."""
    settings = read_settings()
    with client_for(settings) as memci, explained(settings):
        yield memci


@contextmanager
def explained(settings: Settings) -> Iterator[None]:
    """Say of errors what people at a terminal can do; a server that is away is named."""
    key = settings.api_key
    try:
        yield
    except UnauthorizedError as error:
        raise UnauthorizedError(_no_key(settings.client_url, given=key is not None)) from error
    except ForbiddenError as error:
        raise ForbiddenError(
            f"{error} (the key is the one in MEMCI_API_KEY)" if key else str(error)
        ) from error
    except NotFoundError as error:
        raise _in_own_words(error) from error
    except ReadTimeoutError as error:
        raise ReadTimeoutError(
            "no context worker answered in time; `memci up` runs one, "
            "and `memci doctor` says what is wrong"
        ) from error
    except UnavailableError as error:
        raise UnavailableError(
            f"{error} ({settings.client_url}; `memci doctor` says what is wrong)"
        ) from error


def client_for(settings: Settings, *, timeout_s: float = 30.0) -> Memci:
    """Return a client, or raise ``ConfigurationError`` that names the setting which is wrong."""
    from memci.client import Memci

    key = settings.api_key.get_secret_value() if settings.api_key else None
    try:
        return Memci(settings.client_url, api_key=key, timeout_s=timeout_s)
    except InvalidInputError as error:
        raise ConfigurationError(f"{_SETTINGS.get(error.field, error.field)}: {error}") from None


@contextmanager
def agent_of(agent_id: str) -> Iterator[Agent]:
    """Lend a client of one agent."""
    with connected() as memci:
        yield memci.agent(agent_id)


def check_written(agent_id: str, answer: Freshness) -> None:
    """Raise ``NotFoundError`` when a read knows of no such agent: for people, an id misspelt.

    To agents themselves it is none: each begins with an empty memory.
    """
    if answer.new_agent:
        raise _in_own_words(no_agent(agent_id))


def _in_own_words(error: NotFoundError) -> NotFoundError:
    """Name the command alone, where paths of the API are named beside it."""
    return NotFoundError(str(error).replace(LISTED, "`memci agents list` lists those there are"))


def why_still(memory: Agent) -> str | None:
    """Return why no worker begins another job of the agent, and what to do; None if they do."""
    about = memory.about()
    to_it = f"--agent {about.agent_id}"
    if about.paused:
        return f"agent {about.agent_id} is paused: `memci agents resume {to_it}` lets workers go on"
    if about.halted_by is not None:
        return (
            f"agent {about.agent_id} is halted by dead job {about.halted_by}: "
            f"`memci jobs retry {to_it} {about.halted_by}` runs it again,"
            f" `memci agents resume {to_it}` goes on without it"
        )
    return None


def _no_key(url: str, *, given: bool) -> str:
    if given:
        return f"{url} does not know the key in MEMCI_API_KEY: set MEMCI_API_KEY to a key of it"
    return f"{url} wants an API key: set MEMCI_API_KEY to one (`memci keys new` makes them)"
