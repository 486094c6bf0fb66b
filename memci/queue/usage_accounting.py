"""Accounts of jobs, passes and reads: what language models take, written as it happens.

Every call is counted before it is made, so that it counts even if this process dies in it, and
what it took is added when it has ended. Both are small transactions of their own that need not be
durable: a crash of the database may lose the last of them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from threading import Lock
from typing import Any, TypeAlias
from uuid import UUID

import structlog
from sqlalchemy import Connection

from memci.domain.job import Job
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.usage import Usage
from memci.smallmodel.usage_account import Account, charged_to
from memci.storage.agents import parameters_of
from memci.storage.session import Database
from memci.storage.usage import Use, add_to_job, add_to_pass, add_usage, usage_of_day

_log = structlog.get_logger(__name__)

# Writes a use down on what it was made for.
_Note: TypeAlias = Callable[[Connection, Use, Usage], None]
_Answers: TypeAlias = MutableMapping[Hashable, Any]
# Jobs whose answers are kept between two tries.
_KEPT_JOBS = 16


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Accounts:
    """Opens accounts; safe for threads."""

    def __init__(
        self,
        database: Database,
        defaults: MemoryParameters,
        *,
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        """Take the budgets of agents that set none."""
        self._database = database
        self._defaults = defaults
        self._clock = clock
        self._lock = Lock()
        self._kept: OrderedDict[UUID, _Answers] = OrderedDict()
        self._warned: set[tuple[str, date]] = set()

    @contextmanager
    def of_job(self, job: Job) -> Iterator[None]:
        """Charge calls to a job, and let it find the answers that earlier tries got here."""

        def note(connection: Connection, use: Use, usage: Usage) -> None:
            add_to_job(connection, job.agent_id, job.id, use, usage)

        with charged_to(_WorkAccount(self, job.agent_id, note, self._answers_of(job.id))):
            yield

    def settled(self, job: Job) -> None:
        """Forget the answers of a job that has come to an end."""
        with self._lock:
            self._kept.pop(job.id, None)

    def of_pass(self, agent_id: str, number: int) -> AbstractContextManager[Account]:
        """Charge calls to a pass."""

        def note(connection: Connection, use: Use, usage: Usage) -> None:
            add_to_pass(connection, agent_id, number, use, usage)

        return charged_to(_WorkAccount(self, agent_id, note, {}))

    def of_agent(self, agent_id: str) -> AbstractContextManager[Account]:
        """Charge calls to an agent: those of a read."""
        return charged_to(_WorkAccount(self, agent_id, lambda *_: None, {}))

    def begin(self, agent_id: str, use: Use, note: _Note, *, limited: bool) -> bool:
        """Count a call, or that the day's budget kept it from being made."""
        day = self._today()
        with self._database.agent_transaction(agent_id, durable=False) as connection:
            used_up = limited and self._used_up(connection, agent_id, day)
            usage = Usage(over_budget=1) if used_up else Usage(calls=1)
            note(connection, use, usage)
            add_usage(connection, agent_id, day, use, usage)
        if used_up:
            self._warn(agent_id, day)
        return not used_up

    def add(self, agent_id: str, use: Use, note: _Note, usage: Usage) -> None:
        """Add what a call took."""
        with self._database.agent_transaction(agent_id, durable=False) as connection:
            note(connection, use, usage)
            add_usage(connection, agent_id, self._today(), use, usage)

    def _used_up(self, connection: Connection, agent_id: str, day: date) -> bool:
        budget = parameters_of(connection, agent_id, self._defaults).budget
        if not (budget.tokens or budget.cost):
            return False
        return budget.used_up_by(usage_of_day(connection, agent_id, day))

    def _today(self) -> date:
        return self._clock().astimezone(UTC).date()

    def _warn(self, agent_id: str, day: date) -> None:
        """Say it once a day; those of other days are done with."""
        with self._lock:
            if (agent_id, day) in self._warned:
                return
            self._warned = {each for each in self._warned if each[1] == day} | {(agent_id, day)}
        _log.warning(
            "budget of language models used up: offline models take over until midnight UTC",
            agent_id=agent_id,
            day=day.isoformat(),
        )

    def _answers_of(self, job_id: UUID) -> _Answers:
        with self._lock:
            answers = self._kept.setdefault(job_id, {})
            self._kept.move_to_end(job_id)
            while len(self._kept) > _KEPT_JOBS:
                self._kept.popitem(last=False)
            return answers


@dataclass
class _WorkAccount:
    """The account of one piece of work."""

    accounts: Accounts
    agent_id: str
    note: _Note
    answers: _Answers

    def begin(self, task: str, model: str, *, limited: bool = True) -> bool:
        return self.accounts.begin(self.agent_id, Use(task, model), self.note, limited=limited)

    def end(self, task: str, model: str, usage: Usage) -> None:
        self.accounts.add(self.agent_id, Use(task, model), self.note, usage)

    def fall_back(self, task: str, model: str) -> None:
        self.accounts.add(self.agent_id, Use(task, model), self.note, Usage(fell_back=1))
