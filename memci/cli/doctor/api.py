"""Does the API answer, and is it ready."""

from __future__ import annotations

from collections.abc import Iterator

from memci.cli.connection import client_for
from memci.cli.doctor.finding import Finding, note, ok, wrong
from memci.config import Settings
from memci.errors import ConfigurationError, ForbiddenError, MemciError, UnauthorizedError


def check_api(settings: Settings) -> Iterator[Finding]:
    """Ask the API as every command does."""
    try:
        client = client_for(settings, timeout_s=5.0)
    except ConfigurationError as error:
        yield wrong("API", str(error), "put that setting right: nothing can be asked with it")
        return
    with client as memci:
        try:
            memci.ready()
        except MemciError as error:
            yield wrong(
                "API",
                f"{settings.client_url}: {error}",
                "start it with `memci up`, or set MEMCI_API_URL to where it runs",
            )
            return
        yield ok("API", f"{settings.client_url} is ready")
        try:
            memci.agents(limit=1)
        except (UnauthorizedError, ForbiddenError) as error:
            yield wrong("API key", str(error), "set MEMCI_API_KEY to a key of this server")
        except MemciError as error:
            yield wrong("API", str(error), "see the server's log")
        else:
            if settings.api_key is None:
                yield note("API key", "none is needed: the server serves this machine only")
