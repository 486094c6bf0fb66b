"""Which agents there are: one exists from its first message or page on, until it is erased.

(M1, M25)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from memci.domain.agent import no_agent
from memci.storage.session import Connection, Database

# A condition on ``lane``. Of an erased agent the lane stays, so that its ids never come back; with
# the next message or page something is written, and another life begins.
IS_THERE = "NOT (epoch > 0 AND message_seq = erased_messages AND written_at IS NULL)"
# The same, and it is no lane that a claim, or a letter that could not be read, has made.
IS_AGENT = f"message_seq > 0 AND {IS_THERE}"
_FIND = f"SELECT FROM lane WHERE agent_id = %s AND {IS_THERE}"


def check_there(connection: Connection, agent_id: str) -> None:
    """Raise ``NotFoundError`` for an agent that is not there."""
    if not is_there(connection, agent_id):
        raise no_agent(agent_id)


def is_there(connection: Connection, agent_id: str) -> bool:
    """Tell whether there is such an agent."""
    return connection.exec_driver_sql(_FIND, (agent_id,)).first() is not None


@contextmanager
def snapshot_of(database: Database, agent_id: str) -> Iterator[Connection]:
    """Open a snapshot of an agent that is there, or raise ``NotFoundError``."""
    with database.agent_snapshot(agent_id) as connection:
        check_there(connection, agent_id)
        yield connection
