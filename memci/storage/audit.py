"""The audit log: who administered or erased what, and with which outcome; never content.

A row is written before the action, and its outcome afterwards: a row without an outcome is of an
action whose process ended meanwhile.
"""

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import RowMapping

from memci.storage.agents import like_patterns
from memci.storage.session import Connection

_BEGIN = """
INSERT INTO audit (key_name, action, agent_id, subject, request_id)
VALUES (%(key_name)s, %(action)s, %(agent_id)s, %(subject)s, %(request_id)s) RETURNING id
"""
_FINISH = "UPDATE audit SET status = %s, subject = coalesce(%s, subject) WHERE id = %s"
_LIST = """
SELECT id, at, key_name, action, agent_id, subject, request_id, status FROM audit
 WHERE id < %(before)s AND (%(whole)s OR agent_id LIKE ANY (%(like)s))
   AND (%(agent)s::text IS NULL OR agent_id = %(agent)s)
 ORDER BY id DESC LIMIT %(limit)s
"""
_PRUNE = "DELETE FROM audit WHERE at < now() - %s * interval '1 second'"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One action."""

    action: str  # the operation's name, such as ``erase_agent``
    request_id: str
    key_name: str | None = None  # None: the server has no keys; or COMMAND_LINE
    agent_id: str | None = None
    subject: str | None = None  # a job's or webhook's id, a key's name


# In place of a key's name, which has no blanks.
COMMAND_LINE = "command line"


def begin(connection: Connection, entry: AuditEntry) -> int:
    """Write an action that begins; return its number."""
    return int(connection.exec_driver_sql(_BEGIN, asdict(entry)).scalar_one())


def finish(connection: Connection, number: int, status: int, subject: str | None = None) -> None:
    """Write the outcome, as a status of HTTP, and the subject if it was unknown."""
    connection.exec_driver_sql(_FINISH, (status, subject, number))


def list_entries(
    connection: Connection, *, pattern: str, agent_id: str | None, before: int, limit: int
) -> list[RowMapping]:
    """Return rows, the latest first; those without an agent only for the pattern ``*``."""
    values: dict[str, Any] = {
        "whole": "*" in pattern.split(","),
        "like": like_patterns(pattern),
        "agent": agent_id,
        "before": before,
        "limit": limit,
    }
    return list(connection.exec_driver_sql(_LIST, values).mappings())


def prune_entries(connection: Connection, *, keep_s: float) -> int:
    """Delete old rows, in a transaction of upkeep; return how many."""
    return connection.exec_driver_sql(_PRUNE, (keep_s,)).rowcount
