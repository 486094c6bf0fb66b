"""Makes, changes, rotates and revokes API keys.

Nobody gives a key more than they have. A key that was revoked stays in the list: its name is not
used again, and a server that ever had a key demands one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from memci.api_keys import Scope, allows, is_within, new_secret
from memci.config.groups import ApiKey, KeyLimits
from memci.config.settings import LOOPBACK
from memci.errors import (
    ConfigurationError,
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
)
from memci.schemas.keys import KeyAnswer, KeyChanges, KeyRequest, NewKeyAnswer
from memci.storage import api_keys as stored
from memci.storage.key_usage import messages_today
from memci.storage.session import Database


def accepted_keys(row: Mapping[Any, Any]) -> Iterator[ApiKey]:
    """Yield the keys that a row stands for: none, one, or also the one before its rotation."""
    if row["revoked_at"] is not None:
        return
    yield (key := _key_of(row))
    if row["former_hash"] is not None:
        until = min(filter(None, (row["former_until"], key.expires_at)))
        yield key.model_copy(update={"hash": row["former_hash"], "expires_at": until})


def check_host(host: str, *, has_keys: bool) -> None:
    """Raise ``ConfigurationError`` for a server that anybody could use."""
    if host not in LOOPBACK and not has_keys:
        raise ConfigurationError(
            f"refusing to bind to {host} without API keys: make one with "
            "`memci keys new NAME`, or bind to 127.0.0.1"
        )


@dataclass(frozen=True)
class Keys:
    """The keys that ``holder`` may see and change; None: whoever may do everything."""

    database: Database
    environment: Sequence[ApiKey] = ()
    # Of keys without limits of their own.
    defaults: KeyLimits = field(default_factory=KeyLimits)
    holder: ApiKey | None = None

    def held_by(self, holder: ApiKey | None) -> Self:
        """Return the same for another holder."""
        return replace(self, holder=holder)

    def list(self) -> list[KeyAnswer]:
        """Return all keys by name."""
        with self.database.lane_transaction() as connection:
            rows, used = stored.all_keys(connection), messages_today(connection)
        answers = [*map(_answer, rows), *map(_of_environment, self.environment)]
        known = [
            each.model_copy(update={"messages_today": used.get(each.name)}) for each in answers
        ]
        return sorted((each for each in known if self._covers(each)), key=lambda each: each.name)

    def new(self, request: KeyRequest) -> NewKeyAnswer:
        """Make a key.

        Raises ``ForbiddenError``, ``ConflictError`` if the name is taken, and ``InvalidInputError``
        for an end in the past.
        """
        _check_end(request.expires_at)
        values = request.model_dump()
        self._check(values)
        key, its_hash = new_secret()
        with self.database.lane_transaction() as connection:
            taken = any(each.name == request.name for each in self.environment)
            row = None if taken else stored.insert_key(connection, {**values, "hash": its_hash})
        if row is None:
            raise ConflictError(f"there is or was a key {request.name!r}: choose another name")
        return NewKeyAnswer(**_answer(row).model_dump(), key=key)

    def change(self, name: str, changes: KeyChanges) -> KeyAnswer:
        """Change a key; raises as ``new``, and ``NotFoundError``."""
        _check_end(changes.expires_at)
        given = changes.model_dump(exclude_unset=True)
        return self._change(name, {k: v for k, v in given.items() if v or k == "expires_at"})

    def rotate(self, name: str, *, grace_s: int) -> NewKeyAnswer:
        """Replace a key by a new one; the former is accepted for ``grace_s``.

        Raises as ``change``.
        """
        key, its_hash = new_secret()
        until = datetime.now(UTC) + timedelta(seconds=grace_s)
        answer = self._change(name, {"hash": its_hash, "former_until": until})
        return NewKeyAnswer(**answer.model_dump(), key=key)

    def revoke(self, name: str) -> KeyAnswer:
        """Accept a key no more, nor the one before it; raises as ``change``."""
        return self._change(name, {"revoked_at": datetime.now(UTC)})

    def _change(self, name: str, changes: dict[str, Any]) -> KeyAnswer:
        if any(each.name == name for each in self.environment):
            raise ConflictError(f"the key {name!r} is in MEMCI_API_KEYS: change it there")
        with self.database.lane_transaction() as connection:
            row = stored.locked_key(connection, name)
            if row is None or not self._covers(_answer(row)):
                raise NotFoundError(
                    f"there is no key {name!r}; `memci keys list` or GET /v1/keys lists those"
                )
            if row["revoked_at"] is not None:
                raise ConflictError(f"the key {name!r} is revoked for good: make another one")
            values = {**row, **changes}
            self._check(values)
            if "hash" in changes:
                values["former_hash"] = row["hash"]
            return _answer(stored.update_key(connection, values))

    def _covers(self, key: KeyAnswer) -> bool:
        return self.holder is None or is_within(key.agents, self.holder.agents)

    def _check(self, values: Mapping[str, Any]) -> None:
        """Raise ``ForbiddenError`` for a key that may do more than the holder."""
        holder = self.holder
        if holder is None:
            return
        if not is_within(values["agents"], holder.agents):
            raise ForbiddenError(
                f"the key {holder.name!r} is for {holder.agents}: it cannot give more than that"
            )
        if not allows(holder, Scope[values["scope"].upper()]):
            raise ForbiddenError(f"the key {holder.name!r} has scope {holder.scope} itself")
        given = KeyLimits(**values["limits"]).over(self.defaults)
        for name, most in holder.limits.over(self.defaults):
            if most and not 0 < (getattr(given, name) or 0) <= most:
                raise ForbiddenError(
                    f"the key {holder.name!r} has {name} {most}: give at most that, and above 0"
                )


def _check_end(expires_at: datetime | None) -> None:
    if expires_at is not None and expires_at <= datetime.now(UTC):
        raise InvalidInputError("expected a time in the future", field="expires_at")


def _key_of(row: Mapping[Any, Any]) -> ApiKey:
    return ApiKey.model_construct(
        name=row["name"],
        hash=row["hash"],
        agents=row["agents"],
        scope=row["scope"],
        expires_at=row["expires_at"],
        limits=KeyLimits(**row["limits"]),
    )


def _answer(row: Mapping[Any, Any]) -> KeyAnswer:
    key, now = _key_of(row), datetime.now(UTC)
    state = "revoked" if row["revoked_at"] is not None else _state(key, now)
    former = row["former_until"]
    return KeyAnswer(
        **_shown(key),
        source="database",
        state=state,
        created_at=row["created_at"],
        last_used_at=row["last_used_at"],
        former_until=former if former and former > now and state == "active" else None,
    )


def _of_environment(key: ApiKey) -> KeyAnswer:
    return KeyAnswer(**_shown(key), source="environment", state=_state(key, datetime.now(UTC)))


def _shown(key: ApiKey) -> dict[str, Any]:
    return key.model_dump(exclude={"hash"})


def _state(key: ApiKey, now: datetime) -> str:
    return "expired" if key.expires_at and key.expires_at <= now else "active"
