"""One agent's lane, messages and network in a real database, and jobs run on them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any
from uuid import uuid4

from sqlalchemy import Row

from memci.domain.job import Job, JobKind, JobSource
from memci.domain.memory.compression_scan import SNAPSHOT_BYTES
from memci.domain.memory.parameters import MemoryParameters
from memci.jobs.compression_pass import NetworkCompression
from memci.jobs.create import MemoryCreation
from memci.queue.lease import Lease
from memci.storage.agents import replace_parameters
from memci.storage.session import Database
from tests.support.models import ScriptedModels
from tests.support.servers import FakeClock

_SAY = """
INSERT INTO message (agent_id, seq, id, role, content, session_id, user_id, name, said_at,
                     remember, memory_state, metadata)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""


@dataclass
class AgentUnderTest:
    database: Database
    agent_id: str = "ada"
    parameters: MemoryParameters = field(default_factory=MemoryParameters)
    models: Any = field(default_factory=ScriptedModels)
    clock: FakeClock = field(default_factory=FakeClock)
    known: bool = False  # its lane exists already
    snapshot_bytes: int = SNAPSHOT_BYTES

    def __post_init__(self) -> None:
        if self.known:
            return
        with self.database.lane_transaction() as connection:
            connection.exec_driver_sql("INSERT INTO lane (agent_id) VALUES (%s)", (self.agent_id,))

    # Work of the lane.

    def lease(self) -> Lease:
        """Claim the lane; each lease is a new time slice."""
        nonce = uuid4()
        with self.database.lane_transaction() as connection:
            fence = connection.exec_driver_sql(
                "UPDATE lane SET fence = fence + 1, lease_owner = %s WHERE agent_id = %s"
                " RETURNING fence",
                (nonce, self.agent_id),
            ).scalar_one()
        return Lease(self.database, self.agent_id, fence, nonce)

    @contextmanager
    def lease_held(self) -> Iterator[Lease]:
        """Hold the lane as while a job runs."""
        lease = self.lease()
        yield lease
        self.execute("UPDATE lane SET lease_owner = NULL WHERE agent_id = %s")

    def say(
        self,
        *texts: str | None,
        role: str = "user",
        remember: str = "now",
        session: str | None = "s1",
        user: str | None = None,
        name: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Job:
        """Append messages and return the job that makes memories of them."""
        state = "pending" if remember == "now" else "none"
        carried = None if metadata is None else json.dumps(metadata)
        with self.database.agent_transaction(self.agent_id) as connection:
            last = connection.exec_driver_sql(
                "UPDATE lane SET message_seq = message_seq + %s WHERE agent_id = %s"
                " RETURNING message_seq",
                (len(texts), self.agent_id),
            ).scalar_one()
            first = last - len(texts) + 1
            for seq, text in enumerate(texts, first):
                said_at = datetime(2026, 1, 1, tzinfo=UTC)
                values = (role, text, session, user, name, said_at, remember, state, carried)
                connection.exec_driver_sql(_SAY, (self.agent_id, seq, f"m{seq}", *values))
        return self.job(first, last)

    def job(self, first: int, last: int, payload: Mapping[str, Any] | None = None) -> Job:
        return Job(
            agent_id=self.agent_id,
            id=uuid4(),
            ordinal=1,
            kind=JobKind.CREATE,
            payload=payload or {},
            source=JobSource.HTTP,
            first_seq=first,
            last_seq=last,
            attempts=0,
            started=1,
            traceparent=None,
        )

    def creation(self) -> MemoryCreation:
        return MemoryCreation(self.database, self.models, self.parameters)

    def create(self, job: Job) -> Mapping[str, Any]:
        """Run a create job with its effect, and request a pass as the lane does (M16)."""
        effect = self.creation().prepare(job)
        with self.lease().effect() as connection:
            result = effect(connection)
        self.ask_for_pass()
        return result

    def remember(self, *texts: str, **how: Any) -> Mapping[str, Any]:
        return self.create(self.say(*texts, **how))

    def ask_for_pass(self) -> None:
        self.execute("UPDATE lane SET compress_req = compress_req + 1 WHERE agent_id = %s")

    def compression(self) -> NetworkCompression:
        return NetworkCompression(
            self.database,
            self.models,
            self.parameters,
            snapshot_bytes=self.snapshot_bytes,
            clock=self.clock,
            random=Random(7),
        )

    def compress(self, passes: int = 1) -> None:
        """Request and run whole passes, each in one time slice."""
        for _ in range(passes):
            self.ask_for_pass()
            lease = self.lease()
            while self.compression().step(lease, budget_ms=60_000):
                pass

    def set_parameters(self, values: Mapping[str, object]) -> None:
        """Give this agent parameters of its own."""
        with self.database.agent_transaction(self.agent_id) as connection:
            replace_parameters(connection, self.agent_id, values)

    # Stored rows.

    def execute(self, statement: str, *values: object) -> None:
        """Run a statement whose first parameter is the agent."""
        with self.database.agent_transaction(self.agent_id) as connection:
            connection.exec_driver_sql(statement, (self.agent_id, *values))

    def rows(self, query: str, *values: object) -> list[Row[Any]]:
        with self.database.agent_transaction(self.agent_id) as connection:
            return list(connection.exec_driver_sql(query, (self.agent_id, *values)))

    def row(self, query: str, *values: object) -> Row[Any]:
        (row,) = self.rows(query, *values)
        return row

    def nodes(self, kind: str | None = None) -> list[Row[Any]]:
        nodes = self.rows("SELECT * FROM node WHERE agent_id = %s ORDER BY id")
        return [node for node in nodes if kind in {None, node.kind}]

    def memory_states(self) -> list[tuple[str, str | None]]:
        """The memory state of each message, and the reason if it was filtered."""
        query = "SELECT memory_state, memory_reason FROM message WHERE agent_id = %s ORDER BY seq"
        return [(row.memory_state, row.memory_reason) for row in self.rows(query)]

    def memories(self) -> dict[str, Row[Any]]:
        """The memory nodes by their first word."""
        return {node.content.split()[0]: node for node in self.nodes("memory")}

    def links(self) -> dict[tuple[int, int], Row[Any]]:
        rows = self.rows("SELECT * FROM link WHERE agent_id = %s ORDER BY source, target")
        return {(link.source, link.target): link for link in rows}

    def focus(self) -> list[str]:
        """Names of the focus points, least recently mentioned first."""
        return [
            row.content
            for row in self.rows(
                "SELECT content FROM focus JOIN node ON node.id = focus.node_id"
                " AND node.agent_id = focus.agent_id WHERE focus.agent_id = %s ORDER BY mentioned"
            )
        ]

    def lane(self) -> Row[Any]:
        return self.row("SELECT * FROM lane WHERE agent_id = %s")

    def passes(self) -> list[Row[Any]]:
        return self.rows("SELECT * FROM pass_log WHERE agent_id = %s ORDER BY number")

    def trail(self, node: int) -> list[str]:
        query = "SELECT event FROM trail WHERE agent_id = %s AND node_id = %s ORDER BY id"
        return [row.event for row in self.rows(query, node)]
