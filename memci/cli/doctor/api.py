"""Does the API answer, and is it ready."""

from __future__ import annotations

from collections.abc import Iterator

from memci.cli.doctor.finding import Finding, note, ok, wrong
from memci.client import Memci
from memci.config import Settings
from memci.errors import ForbiddenError, MemciError, UnauthorizedError


def check_api(settings: Settings) -> Iterator[Finding]:
    """Ask the API as every command does."""
    key = settings.api_key.get_secret_value() if settings.api_key else None
    with Memci(settings.client_url, api_key=key, timeout_s=5.0) as memci:
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
            if key is None:
                yield note("API key", "none is needed: the server serves this machine only")
