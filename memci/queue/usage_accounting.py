"""Accounts of jobs, passes and reads: what language models use, written as it happens.

Each call is counted before it is made, so that it counts even if this process dies in it; its usage
is added when it ends. Both are small transactions that need not be durable: a crash of the database
may lose the last of them.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, MutableMapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
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
from memci.storage import usage as stored
from memci.storage.agents import parameters_of
from memci.storage.session import Database

_log = structlog.get_logger(__name__)

# Writes usage to the job or pass that made the call.
_Charge: TypeAlias = Callable[[Connection, stored.Use, Usage], None]
_Answers: TypeAlias = MutableMapping[Hashable, Any]
# Jobs whose answers are kept between two tries.
_MAX_KEPT_JOBS = 16


@dataclass(eq=False)
class Accounts:
    """Opens accounts; safe for threads."""

    database: Database
    defaults: MemoryParameters  # with the budgets of agents that set none
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC), kw_only=True)
    _lock: Lock = field(default_factory=Lock, init=False)
    _answers: OrderedDict[UUID, _Answers] = field(default_factory=OrderedDict, init=False)
    _warned: set[tuple[str, date]] = field(default_factory=set, init=False)

    def of_job(self, job: Job) -> AbstractContextManager[Account]:
        """Charge calls to a job, and keep answers of models for its later tries."""
        with self._lock:
            answers = self._answers.setdefault(job.id, {})
            self._answers.move_to_end(job.id)
            while len(self._answers) > _MAX_KEPT_JOBS:
                self._answers.popitem(last=False)

        def charge(connection: Connection, use: stored.Use, usage: Usage) -> None:
            stored.add_to_job(connection, job.agent_id, job.id, use, usage)

        return charged_to(_WorkAccount(self, job.agent_id, charge, answers))

    def settled(self, job: Job) -> None:
        """Forget the answers of a job that has ended."""
        with self._lock:
            self._answers.pop(job.id, None)

    def of_pass(self, agent_id: str, number: int) -> AbstractContextManager[Account]:
        """Charge calls to a pass."""

        def charge(connection: Connection, use: stored.Use, usage: Usage) -> None:
            stored.add_to_pass(connection, agent_id, number, use, usage)

        return charged_to(_WorkAccount(self, agent_id, charge))

    def of_agent(self, agent_id: str) -> AbstractContextManager[Account]:
        """Charge calls to an agent: those of a read."""
        return charged_to(_WorkAccount(self, agent_id, lambda *_: None))

    def today(self) -> date:
        """Return the day, UTC."""
        return self.clock().astimezone(UTC).date()

    def warn_used_up(self, agent_id: str, day: date) -> None:
        """Log that the day's budget is used up, once a day."""
        with self._lock:
            if (agent_id, day) in self._warned:
                return
            self._warned = {each for each in self._warned if each[1] == day} | {(agent_id, day)}
        _log.warning(
            "budget of language models used up: offline models take over until midnight UTC",
            agent_id=agent_id,
            day=day.isoformat(),
        )


@dataclass
class _WorkAccount(Account):
    """The account of one piece of work."""

    accounts: Accounts
    agent_id: str
    charge: _Charge
    answers: _Answers = field(default_factory=dict)

    def begin(self, task: str, model: str, *, limited: bool = True) -> bool:
        """Count a call; False, and no call is made, if the day's budget is used up."""
        agent_id, day = self.agent_id, self.accounts.today()
        with self.accounts.database.agent_transaction(agent_id, durable=False) as connection:
            used_up = limited and self._is_used_up(connection, day)
            usage = Usage(over_budget=1) if used_up else Usage(calls=1)
            self._write(connection, stored.Use(task, model), usage, day)
        if used_up:
            self.accounts.warn_used_up(agent_id, day)
        return not used_up

    def end(self, task: str, model: str, usage: Usage) -> None:
        """Add what a call used."""
        with self.accounts.database.agent_transaction(self.agent_id, durable=False) as connection:
            self._write(connection, stored.Use(task, model), usage, self.accounts.today())

    def fall_back(self, task: str, model: str) -> None:
        """Count that the offline model took over."""
        self.end(task, model, Usage(fell_back=1))

    def _is_used_up(self, connection: Connection, day: date) -> bool:
        budget = parameters_of(connection, self.agent_id, self.accounts.defaults).budget
        return bool(budget.tokens or budget.cost) and budget.used_up_by(
            stored.usage_of_day(connection, self.agent_id, day)
        )

    def _write(self, connection: Connection, use: stored.Use, usage: Usage, day: date) -> None:
        self.charge(connection, use, usage)
        stored.add_usage(connection, self.agent_id, day, use, usage)
