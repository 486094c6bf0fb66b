"""Records actions of administration in the audit log."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

from memci.errors import MemciError
from memci.schemas.problems import problem_of
from memci.storage import audit
from memci.storage.audit import AuditEntry
from memci.storage.session import Database

_log = structlog.get_logger(__name__)
_DONE = 200


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
