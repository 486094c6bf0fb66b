"""Records actions of administration, and changes of memories, in the audit log."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple
from uuid import uuid4

import structlog

from memci.errors import MemciError
from memci.schemas.problems import problem_of
from memci.storage import audit
from memci.storage.audit import AuditEntry
from memci.storage.session import Database

_log = structlog.get_logger(__name__)
_DONE = 200


class _Caller(NamedTuple):
    key_name: str | None
    request_id: str


# Of the request that this thread or task answers; it is set as soon as a key is admitted.
_caller: ContextVar[_Caller | None] = ContextVar("caller", default=None)


def name_caller(key_name: str | None, request_id: str) -> None:
    """Say who asks for what the rest of this request changes."""
    _caller.set(_Caller(key_name, request_id))


@contextmanager
def changing(database: Database, action: str, agent_id: str, *nodes: int) -> Iterator[None]:
    """Record a change of memories, by whichever way it is asked for; raises as ``recorded``."""
    key_name, request_id = _caller.get() or (None, uuid4().hex)
    subject = ",".join(map(str, nodes))
    with recorded(database, AuditEntry(action, request_id, key_name, agent_id, subject)):
        yield


@dataclass(slots=True)
class Recording:
    """An action that is under way."""

    status: int | None = None
    subject: str | None = None


@contextmanager
def recorded(database: Database, entry: AuditEntry) -> Iterator[Recording]:
    """Record what the block does, and its outcome.

    Nothing is done that cannot be recorded: raises ``DatabaseUnavailableError`` before the block.
    """
    recording = Recording()
    with database.lane_transaction() as connection:
        number = audit.begin(connection, entry)
    try:
        yield recording
    except BaseException as error:
        if recording.status is None:
            known = error if isinstance(error, MemciError) else MemciError()
            recording.status = problem_of(known).status
        raise
    finally:
        try:
            with database.lane_transaction() as connection:
                audit.finish(connection, number, recording.status or _DONE, recording.subject)
        except MemciError:
            _log.warning("the outcome of an action is not in the audit log", action=entry.action)
