"""The connection of every command to the server: an HTTP client that follows the settings."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from memci.cli.output import printable
from memci.config.installed import has_server
from memci.domain.agent_id import LISTED, no_agent
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
    from memci.schemas.base import Listing
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
    """Yield a client; its errors are ``explained``."""
    settings = read_settings()
    with client_for(settings) as memci, explained(settings):
        yield memci


@contextmanager
def explained(settings: Settings) -> Iterator[None]:
    """Reword errors for a terminal: name the server and the commands that help."""
    key, url = settings.api_key, settings.client_url
    try:
        yield
    except UnauthorizedError as error:
        raise UnauthorizedError(_key_problem(url, has_key=key is not None)) from error
    except ForbiddenError as error:
        note = " (the key is the one in MEMCI_API_KEY)" if key else ""
        raise ForbiddenError(f"{error}{note}") from error
    except NotFoundError as error:
        raise _with_command(error) from error
    except ReadTimeoutError as error:
        raise ReadTimeoutError(
            f"no context worker answered in time; `memci up` runs one, and {_diagnosis()}"
        ) from error
    except UnavailableError as error:
        raise UnavailableError(f"{error} ({url}; {_diagnosis()})") from error


def _diagnosis() -> str:
    where = "" if has_server() else ", on the server's machine,"
    return f"`memci doctor`{where} shows the problem"


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
    """Yield a client of one agent."""
    with connected() as memci:
        yield memci.agent(agent_id)


PageT = TypeVar("PageT", bound="Listing")


def every_page(fetch: Callable[[str | None], PageT]) -> Iterator[PageT]:
    """Yield all pages of a list; ``fetch`` takes the cursor of a page."""
    page = fetch(None)
    yield page
    while page.next_cursor is not None:
        page = fetch(page.next_cursor)
        yield page


def check_written(agent_id: str, answer: Freshness) -> None:
    """Raise ``NotFoundError`` when the answer says that the agent is new: the id is misspelt."""
    if answer.new_agent:
        raise _with_command(no_agent(agent_id))


def _with_command(error: NotFoundError) -> NotFoundError:
    """Replace the API path that lists agents by the command."""
    return NotFoundError(str(error).replace(LISTED, "`memci agents list` lists all agents"))


def why_still(memory: Agent) -> str | None:
    """Return why the agent's jobs do not run and what to do; None if they run."""
    about = memory.about()
    to_it = f"--agent {about.agent_id}"
    if about.paused:
        return f"agent {about.agent_id} is paused: `memci agents resume {to_it}` resumes it"
    if about.halted_by is not None:
        return (
            f"agent {about.agent_id} is halted by dead job {about.halted_by}: "
            f"`memci jobs retry {to_it} {about.halted_by}` runs it again,"
            f" `memci agents resume {to_it}` continues without it"
        )
    return None


def _key_problem(url: str, *, has_key: bool) -> str:
    if has_key:
        return f"{url} does not accept this key: set MEMCI_API_KEY to a key of this server"
    return f"{url} requires an API key: set MEMCI_API_KEY to one (`memci keys new` makes them)"
