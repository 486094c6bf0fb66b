"""When a session's summary is asked for: after the jobs that its messages came with (R8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from memci.domain.lane.job import Job
from memci.domain.memory.parameters import MemoryParameters
from memci.jobs.consolidate import utc_now
from memci.queue.handler import Effect, Handler
from memci.queue.summaries import ask_for, ask_where_long, begin_sessions, note_silence
from memci.storage.parameters import parameters_of
from memci.storage.session import Connection
from memci.storage.summaries import open_sessions

Ask: TypeAlias = Callable[[Connection, Job], None]


@dataclass(frozen=True, slots=True)
class AskingAfter:
    """A kind of job whose effect asks for more, once all of its own is written."""

    handler: Handler
    ask: Ask

    @property
    def kind(self) -> str:
        """That of the handler."""
        return self.handler.kind

    @property
    def triggers_compression(self) -> bool:
        """As the handler has it."""
        return self.handler.triggers_compression

    def prepare(self, job: Job) -> Effect:
        """Think as the handler does; the effect writes what it writes, then asks."""
        effect = self.handler.prepare(job)

        def both(connection: Connection) -> Mapping[str, Any]:
            result = effect(connection)
            self.ask(connection, job)
            return result

        return both


@dataclass(frozen=True, slots=True)
class SummaryAsks:
    """Asks for summaries of sessions that have grown long, and of those that have ended."""

    defaults: MemoryParameters
    clock: Callable[[], datetime] = utc_now

    def of_messages(self, connection: Connection, job: Job) -> None:
        """Ask for the sessions of a job's messages."""
        parameters = parameters_of(connection, job.agent_id, self.defaults)
        if not parameters.summarization_enabled or job.first_seq is None or job.last_seq is None:
            return
        agent_id, first, last = job.agent_id, job.first_seq, job.last_seq
        silence = parameters.session_silence
        begin_sessions(connection, agent_id, first, last, silence=silence)
        ask_where_long(
            connection,
            agent_id,
            first,
            last,
            threshold=parameters.summary_threshold,
            preserved=parameters.preserve_recent,
        )

    def of_sessions(self, connection: Connection, job: Job) -> None:
        """Ask for sessions that have ended, and have upkeep look again when others will."""
        parameters = parameters_of(connection, job.agent_id, self.defaults)
        if not parameters.summarization_enabled:
            return
        silence = parameters.session_silence
        found, now = open_sessions(connection, job.agent_id, silence=silence), self.clock()
        over = [each for each in found if each.ended or each.ends_at <= now]
        ask_for(connection, job.agent_id, [each.session_id for each in over])
        ends = [each.ends_at for each in found if each not in over]
        if ends:
            note_silence(connection, job.agent_id, min(ends))
