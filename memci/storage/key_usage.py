"""What keys have used of their quotas; counted in the transaction that stores something.

``charge_key`` (initial.sql) locks the key's row first, so the requests of one key count one after
another, in all processes. Only keys with a quota have a row.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from sqlalchemy.exc import DBAPIError

from memci.config.groups import KeyLimits
from memci.errors import QuotaError
from memci.storage.agents import like_patterns
from memci.storage.session import Connection

# Bytes of a message's row.
MESSAGE_BYTES = """
octet_length(coalesce(content, '')) + coalesce(octet_length(tool_calls::text), 0)
+ coalesce(octet_length(metadata::text), 0)
"""
CHARGE = """
SELECT charge_key(%(key)s, %(agent)s, %(patterns)s::text[], %(messages)s, %(bytes)s,
                  %(messages_per_day)s, %(stored_bytes)s, %(agents)s)
"""
_EXCEEDED = "23Q01"  # SQLSTATE
# Nobody knows when something will be erased.
_WAIT_S = 3600.0


@dataclass(frozen=True, slots=True)
class Charge:
    """The key that pays for a request, and its quotas."""

    key: str
    patterns: str
    limits: KeyLimits

    def values(self, agent_id: str, messages: int, size: int) -> dict[str, Any]:
        """Return the values of ``CHARGE`` for new messages and bytes of an agent."""
        return {
            "key": self.key,
            "agent": agent_id,
            "patterns": like_patterns(self.patterns),
            "messages": messages,
            "bytes": size,
            **self.limits.model_dump(),
        }


def charge(
    connection: Connection,
    paying: Charge | None,
    agent_id: str,
    *,
    messages: int = 0,
    size: int = 0,
) -> None:
    """Count new messages and bytes of an agent; raises ``QuotaError``, with nothing written.

    Call it before the lane is locked: whoever locks both does so in this order.
    """
    if paying is None:
        return
    try:
        connection.exec_driver_sql(CHARGE, paying.values(agent_id, messages, size))
    except DBAPIError as error:
        raise quota_error(error.orig) or error from error


def quota_error(error: BaseException | None) -> QuotaError | None:
    """Return our own error for a driver error of ``charge_key``, else None."""
    if not isinstance(error, psycopg.Error) or error.sqlstate != _EXCEEDED:
        return None
    name, most, used = (error.diag.message_primary or "").split()
    now = datetime.now(UTC)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    daily = name == "messages_per_day"
    advice = "wait until midnight UTC" if daily else "erase something"
    return QuotaError(
        f"the key has used {used} of its {most} {name.replace('_', ' ')}, and this needs more:"
        f" {advice}, or ask for a higher limit",
        retry_after_s=(midnight - now).total_seconds() if daily else _WAIT_S,
        limit=int(most),
        remaining=max(int(most) - int(used), 0),
    )


_TODAY = "SELECT name, messages FROM key_usage WHERE day = (now() AT TIME ZONE 'UTC')::date"


def messages_today(connection: Connection) -> Mapping[str, int]:
    """Return the messages of today, by key; only of keys with a quota."""
    return {row.name: row.messages for row in connection.exec_driver_sql(_TODAY)}
