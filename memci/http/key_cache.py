"""The API keys of the server, in memory: no request waits for the database.

A task reads them again every few seconds, so a change holds in all processes soon, and a flood of
unknown keys asks the database nothing.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import anyio
import anyio.to_thread
import structlog

from memci.api_keys import KeyRing
from memci.commands.keys import accepted_keys
from memci.config.groups import ApiKey
from memci.errors import DatabaseUnavailableError, UnauthorizedError
from memci.storage import api_keys as stored
from memci.storage.session import Database

_log = structlog.get_logger("memci.http")
# A key that was made, changed or revoked elsewhere holds here after this time.
REFRESH_S = 2.0
_USES_APART = timedelta(minutes=1)
_NEVER = datetime.min.replace(tzinfo=UTC)


class KeyCache:
    """Knows the keys of the environment and of the database; safe for threads."""

    def __init__(self, database: Database, environment: Iterable[ApiKey]) -> None:
        """Take the keys of the environment; the others are unknown until ``refresh``."""
        self._database = database
        self._environment = tuple(environment)
        # Before the database has answered, it may hold keys.
        self._ring = KeyRing(self._environment, demanded=True)
        self._loaded = False
        self.is_public = False  # other machines are served: a key is always demanded
        self._used: dict[str, datetime] = {}
        self._written: dict[str, datetime] = {}

    @property
    def demanded(self) -> bool:
        """Whether nobody is served without a key."""
        return self.is_public or self._ring.demanded

    def authenticate(self, authorization: str | None) -> ApiKey | None:
        """Return the key in an ``Authorization`` header; None if none is demanded.

        Raises ``UnauthorizedError``; ``DatabaseUnavailableError`` for an unknown key while the keys
        of the database are not known.
        """
        if not self.demanded:
            return None
        now = datetime.now(UTC)
        try:
            key = self._ring.authenticate(authorization, now)
        except UnauthorizedError:
            if self._loaded:
                raise
            raise DatabaseUnavailableError from None
        self._used[key.name] = now
        return key

    def holds(self, key: ApiKey | None) -> bool:
        """Return True if a key that was accepted, or None, still is, with the same rights."""
        if key is None:
            return not self.demanded
        return self._ring.holds(key, datetime.now(UTC))

    def refresh(self) -> None:
        """Read the keys of the database, and write which were used; logs if that fails."""
        uses = [
            (name, at)
            for name, at in list(self._used.items())
            if at - self._written.get(name, _NEVER) >= _USES_APART
        ]
        try:
            with self._database.lane_transaction(durable=False) as connection:
                if uses:
                    stored.note_uses(connection, uses)
                rows = stored.all_keys(connection)
        except Exception as error:  # noqa: BLE001 - the keys known so far hold
            _log.warning("API keys cannot be read", error=type(error).__name__)
            return
        self._written.update(uses)
        keys = [key for row in rows for key in accepted_keys(row)]
        demanded = bool(self._environment or rows)
        self._ring = KeyRing([*self._environment, *keys], demanded=demanded)
        self._loaded = True

    async def keep_fresh(self) -> None:
        """Refresh again and again."""
        while True:
            await anyio.sleep(REFRESH_S)
            await anyio.to_thread.run_sync(self.refresh, abandon_on_cancel=True)
