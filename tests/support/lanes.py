"""Reads lanes and the effects of scripted jobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from memci.broker.app import make_app
from memci.broker.wakeup import Wakeups
from memci.message import Message, NewMessage, Role
from memci.queue.intake import Append, Intake
from memci.schemas.messages import AppendAnswer
from memci.storage.messages import COLUMNS, to_message
from memci.storage.session import Database
from memci.testing import wait_until


class Producer:
    """Sends scripted jobs, and reads their effects."""

    def __init__(self, database_url: str, broker_url: str) -> None:
        self.database = Database(database_url)
        self.celery = make_app(broker_url)
        self.wakeups = Wakeups(self.celery)
        self.intake = Intake(self.database, self.wakeups)

    def append(self, agent_id: str, text: str = "hello", **script: Any) -> AppendAnswer:
        message = NewMessage(Role.USER, text, metadata=script)
        return self.intake.append(Append(agent_id, [message]))

    def effects(self, agent_id: str, event: str = "effect") -> list[int]:
        """Seqs of messages whose job is done, in the order of the effects."""
        return self.column(
            agent_id, "SELECT node_id FROM trail WHERE agent_id = %s AND event = %s ORDER BY id",
            event,
        )  # fmt: skip

    def states(self, agent_id: str) -> list[str]:
        """States of the producers' jobs, in the order of the mailbox."""
        return self.column(
            agent_id,
            "SELECT state FROM job WHERE agent_id = %s AND source <> 'lane' ORDER BY ordinal",
        )

    def job(self, agent_id: str, job_id: Any) -> Any:
        with self.database.lane_transaction() as connection:
            return connection.exec_driver_sql(
                "SELECT * FROM job WHERE agent_id = %s AND id = %s", (agent_id, job_id)
            ).one()

    def lane(self, agent_id: str) -> Any:
        with self.database.lane_transaction() as connection:
            return connection.exec_driver_sql(
                "SELECT * FROM lane WHERE agent_id = %s", (agent_id,)
            ).one()

    def wait_drained(self, agents: Sequence[str], timeout_s: float = 40.0) -> None:
        def drained() -> bool:
            return all("queued" not in self.states(each) for each in agents)

        wait_until(drained, f"mailboxes of {agents} are empty", timeout_s=timeout_s)

    def column(self, agent_id: str, statement: str, *values: Any) -> list[Any]:
        with self.database.agent_snapshot(agent_id) as connection:
            return [row[0] for row in connection.exec_driver_sql(statement, (agent_id, *values))]


def messages_of(
    database: Database, agent_id: str, first_seq: int = 0, last_seq: int = 2**31
) -> list[Message]:
    """The stored messages with ``first_seq <= seq <= last_seq``."""
    with database.agent_snapshot(agent_id) as connection:
        rows = connection.exec_driver_sql(
            f"SELECT {COLUMNS} FROM message WHERE seq BETWEEN %s AND %s ORDER BY seq",
            (first_seq, last_seq),
        )
        return [to_message(row) for row in rows]


@contextmanager
def producer(database_url: str, broker_url: str) -> Iterator[Producer]:
    """Lend a producer; close its connections at the end."""
    made = Producer(database_url, broker_url)
    try:
        yield made
    finally:
        made.database.close()
        made.celery.close()
