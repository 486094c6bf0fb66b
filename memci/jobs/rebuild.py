"""``memci.memory.rebuild``: a network is made once more, beside the current one (M24).

One entry of the replay log, or a part of a pass, is one job, which queues the next one in its own
effect: so the agent's other jobs run in between, and a worker that dies loses one step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from memci.domain.lane.job import Job
from memci.domain.memory.replay import Edition, EditionState
from memci.jobs.replay import Act, Replay
from memci.queue.handler import Effect
from memci.queue.steps import REBUILD_KIND
from memci.storage.editions import (
    has_stale_vectors,
    open_edition,
    save_edition,
    switch_networks,
)
from memci.storage.replay_log import next_entry
from memci.storage.session import Connection, Database, looking_beside

# Queues the next step of an edition, by its number: agent_id, number.
SubmitStep: TypeAlias = Callable[[Connection, str, int], object]


class NetworkRebuild:
    """Takes an edition one step further; a job of one that is dropped does nothing."""

    kind = REBUILD_KIND
    triggers_compression = False

    def __init__(self, database: Database, replay: Replay, submit: SubmitStep) -> None:
        """Take ``submit``, which puts the next step into the mailbox."""
        self._database = database
        self._replay = replay
        self._submit = submit

    def prepare(self, job: Job) -> Effect:
        """Find what comes next, and think about it."""
        agent_id = job.agent_id
        with self._database.agent_snapshot(agent_id) as connection:
            edition = open_edition(connection, agent_id)
            if edition is None or edition.number != job.payload["edition"]:
                return lambda _: {"replayed": 0}
            entry = next_entry(connection, agent_id, edition)
            stale = has_stale_vectors(connection, agent_id)
        if stale:
            # First of all: memories are compared with those that the same embedder has read.
            act = self._replay.reembed(agent_id, edition)
        else:
            act = None if entry is None else self._replay.prepare(agent_id, edition, entry)
        return _Step(agent_id, edition, act, self._submit, self._replay)


@dataclass(frozen=True, slots=True)
class _Step:
    """Writes a step; without an ``act`` there was nothing left to replay."""

    agent_id: str
    edition: Edition
    act: Act | None
    submit: SubmitStep
    replay: Replay

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        now = open_edition(connection, self.agent_id)
        if now is None or replace(now, state=self.edition.state) != self.edition:
            return {"replayed": 0}  # dropped meanwhile
        if self.act is not None:
            with looking_beside(connection):
                done = self.act(connection)
            save_edition(connection, self.agent_id, replace(done, state=now.state))
            self.submit(connection, self.agent_id, now.number)
            return {"replayed": int(done != self.edition)}
        return self._finish(connection, now)

    def _finish(self, connection: Connection, edition: Edition) -> Mapping[str, Any]:
        """Rest, or switch, unless something has happened since the log was looked at."""
        agent_id = self.agent_id
        if next_entry(connection, agent_id, edition) or has_stale_vectors(connection, agent_id):
            self.submit(connection, self.agent_id, edition.number)
            return {"replayed": 0}
        state = EditionState.READY
        if edition.state is EditionState.SWITCHING:
            switch_networks(connection, self.agent_id)
            self.replay.note_short_terms(connection, self.agent_id)
            state = EditionState.SWITCHED
        save_edition(connection, self.agent_id, replace(edition, state=state))
        return {"replayed": 0, "state": state}
