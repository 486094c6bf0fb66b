"""Lists agents, messages, jobs, receipts and usage.

All raise ``NotFoundError`` for an unknown agent, except receipts: that of its erasure is kept.
"""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import reduce
from typing import Any
from uuid import UUID

from memci.domain.agent_id import no_agent
from memci.domain.events import Position
from memci.domain.job import JobState
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.usage import Usage
from memci.errors import NotFoundError
from memci.message import Message
from memci.reading.lists import cursors
from memci.reading.lists.memory_listings import MemoryListings
from memci.reading.lists.network_history import NetworkListings
from memci.schemas import agents as schemas
from memci.schemas.audit import AuditList, AuditRecord
from memci.schemas.events import Event, EventList
from memci.schemas.messages import MessageList, MessageOut, ToolCall
from memci.storage import agents as stored
from memci.storage.agents import check_there, parameters_of, snapshot_of
from memci.storage.audit import list_entries
from memci.storage.events import events_after
from memci.storage.messages import read_messages
from memci.storage.network.links import list_focus
from memci.storage.reading.messages import latest_seqs, list_messages
from memci.storage.reading.snapshot_state import progress
from memci.storage.receipts import read_receipt
from memci.storage.session import Connection, Database
from memci.storage.usage import passes_with_models, usage_by_day, usage_in, usage_of_day

_LATEST = 2**62


class Listings(MemoryListings, NetworkListings):
    """Lists agents and their contents."""

    def agents(
        self,
        *,
        pattern: str,
        cursor: str | None,
        limit: int,
        find: str = "",
        busy: bool = False,
    ) -> schemas.AgentList:
        """List agents whose ids match a pattern of * and ?, by id.

        ``find``: only ids with this text. ``busy``: only lanes with open or dead jobs, or that
        stand still. Raises ``InvalidInputError`` for an invalid cursor.
        """
        after = cursors.agent_after(cursor)
        with self.database.lane_transaction(durable=False) as connection:
            rows = stored.list_agents(
                connection, pattern=pattern, after=after, limit=limit + 1, find=find, busy=busy
            )
        page, following = cursors.page_of(
            rows, limit, lambda row: cursors.names_cursor(row["agent_id"])
        )
        return schemas.AgentList(
            agents=[schemas.AgentSummary(**row) for row in page], next_cursor=following
        )

    def audit(
        self, *, pattern: str, agent_id: str | None, cursor: str | None, limit: int
    ) -> AuditList:
        """List the audit log, the latest first, of agents whose ids match a pattern."""
        before = cursors.place_after(cursor)[0] if cursor else _LATEST
        with self.database.lane_transaction(durable=False) as connection:
            rows = list_entries(
                connection, pattern=pattern, agent_id=agent_id, before=before, limit=limit + 1
            )
        page, following = cursors.page_of(rows, limit, lambda row: row["id"])
        return AuditList(records=[AuditRecord(**row) for row in page], next_cursor=following)

    def agent(self, agent_id: str) -> schemas.AgentAnswer:
        """Return the counts of an agent, or raise ``NotFoundError``."""
        with self.database.agent_snapshot(agent_id) as connection:
            found = stored.holdings(connection, agent_id)
            if found is None:
                raise no_agent(agent_id)
            return _answer(connection, agent_id, found)

    def messages(
        self, agent_id: str, *, session_id: str | None, cursor: str | None, limit: int
    ) -> MessageList:
        """List messages by seq, of one session or of all."""
        (after,) = cursors.place_after(cursor)
        with snapshot_of(self.database, agent_id) as connection:
            rows = list_messages(
                connection, agent_id, session_id=session_id, after=after, limit=limit + 1
            )
        page, following = cursors.page_of(rows, limit, lambda row: row[0].seq)
        return MessageList(messages=[_message(*each) for each in page], next_cursor=following)

    def jobs(
        self, agent_id: str, *, state: JobState | None, cursor: str | None, limit: int
    ) -> schemas.JobList:
        """List jobs in the order of the mailbox, in one state or in all."""
        (after,) = cursors.place_after(cursor)
        with snapshot_of(self.database, agent_id) as connection:
            rows = stored.list_jobs(connection, agent_id, state=state, after=after, limit=limit + 1)
        page, following = cursors.page_of(rows, limit, lambda row: row["ordinal"])
        return schemas.JobList(jobs=[_job_answer(row) for row in page], next_cursor=following)

    def done_lately(self, agent_id: str, *, seconds: float) -> int:
        """Return how many jobs were done within these seconds; at most 1,000."""
        with snapshot_of(self.database, agent_id) as connection:
            return stored.done_lately(connection, agent_id, seconds)

    def job(self, agent_id: str, job_id: UUID) -> schemas.JobAnswer:
        """Return one job, or raise ``NotFoundError``: finished ones are pruned."""
        with snapshot_of(self.database, agent_id) as connection:
            row = stored.read_job(connection, agent_id, job_id)
        if row is None:
            raise NotFoundError("there is no such job; finished jobs are kept for some days only")
        return _job_answer(row)

    def events(self, agent_id: str, *, cursor: str | None, limit: int) -> EventList:
        """List events, the oldest first; that of an agent's erasure is kept as long as others."""
        after = Position(*cursors.place_after(cursor, parts=2))
        with self.database.agent_snapshot(agent_id) as connection:
            rows = events_after(connection, after, limit=limit + 1, agent_id=agent_id)
        page, following = cursors.page_of(rows, limit, lambda row: row.position)
        return EventList(events=list(map(Event.of, page)), next_cursor=following)

    def receipt(self, agent_id: str, receipt_id: UUID) -> schemas.ReceiptAnswer:
        """Return a receipt, or raise ``NotFoundError``: old ones are pruned."""
        with self.database.agent_snapshot(agent_id) as connection:
            receipt = read_receipt(connection, agent_id, receipt_id)
            if receipt is None:
                check_there(connection, agent_id)
        if receipt is None:
            raise NotFoundError("there is no such receipt; receipts are kept for some weeks only")
        return schemas.ReceiptAnswer(**receipt)


def _answer(connection: Connection, agent_id: str, found: Mapping[Any, Any]) -> schemas.AgentAnswer:
    now = progress(connection, agent_id)
    until, number = found["lease_until"], found["pass_number"]
    return schemas.AgentAnswer(
        **found,
        agent_id=agent_id,
        focus=[row["name"] for row in list_focus(connection, agent_id)],
        seq=now.seq,
        pending=now.pending,
        lease=until and schemas.Lease(until=until, fence=found["fence"]),
        pass_progress=number
        and schemas.PassProgress(number=number, scanned=found["scanned"], left=found["unscanned"]),
        idle=not (found["queued"] or until or found["compress"] or number),
    )


def _message(message: Message, memory_state: str, memory_reason: str | None) -> MessageOut:
    calls = [ToolCall.model_validate(call) for call in message.tool_calls]
    return MessageOut.model_validate(
        {
            **asdict(message),
            "timestamp": message.said_at,
            "tool_calls": calls or None,
            "metadata": dict(message.metadata) or None,
            "memory_state": memory_state,
            "memory_reason": memory_reason,
        }
    )


def _job_answer(row: Mapping[Any, Any]) -> schemas.JobAnswer:
    """Add the usage of language models to the result; it is known before the job ends."""
    fields: dict[str, Any] = dict(row)
    models = fields.pop("models")
    if models:
        fields["result"] = {**(fields["result"] or {}), "models": models}
    return schemas.JobAnswer(**fields)


_PASSES = 20


def usage_of(
    database: Database,
    agent_id: str,
    *,
    days: int,
    defaults: MemoryParameters,
    now: datetime,
) -> schemas.UsageAnswer:
    """Return the usage of the last ``days`` days up to ``now`` (aware UTC), today included."""
    today = now.date()
    first = today - timedelta(days=days - 1)
    with snapshot_of(database, agent_id) as connection:
        budget = parameters_of(connection, agent_id, defaults).budget
        taken = usage_of_day(connection, agent_id, today)
        listed = usage_by_day(connection, agent_id, first, today)
        passes = passes_with_models(connection, agent_id, _PASSES)
    total = reduce(Usage.__add__, map(usage_in, listed), Usage())
    return schemas.UsageAnswer(
        agent_id=agent_id,
        budget=schemas.BudgetState(
            day=today,
            tokens_per_day=budget.tokens,
            cost_per_day=budget.cost,
            tokens=taken.tokens,
            cost=taken.cost,
            used_up=budget.used_up_by(taken),
        ),
        total=schemas.UsageCounts(**asdict(total)),
        days=[schemas.ModelUsage(**row) for row in listed],
        passes=[schemas.PassUsage(**row) for row in passes],
    )


# Clients that resend a conversation seldom send more.
_MOST = 500


def tail_of(
    database: Database,
    agent_id: str,
    session_id: str | None,
    most: int = _MOST,
    *,
    whole: bool = False,
) -> list[Message]:
    """Return the last messages of a session (None: of all), ascending; none for no agent.

    ``whole``: as in ``to_message``.
    """
    with database.agent_snapshot(agent_id) as connection:
        seqs = latest_seqs(connection, agent_id, session_id=session_id, user_id=None, most=most)
        return read_messages(connection, agent_id, seqs, whole=whole)
