"""What all reads of context workers share, and waiting until memory has caught up (R18)."""

from __future__ import annotations

import time
from datetime import datetime

from memci.domain.search.candidate import DEEPEST
from memci.language.question import Conversation
from memci.reading.deferred_writes import ReadActivity
from memci.reading.models import ReadingDefaults, ReadingModels
from memci.reading.retrieval import Asked, Retrieval, restriction_of
from memci.schemas.reads import Fresh, Scope
from memci.smallmodel.ports import Vectors
from memci.storage.agents import parameters_of
from memci.storage.reading.messages import last_session
from memci.storage.reading.snapshot_state import progress
from memci.storage.session import Database


class Reader:
    """Reads one agent's snapshots with small models, and notes that it was read."""

    def __init__(
        self,
        database: Database,
        models: ReadingModels,
        defaults: ReadingDefaults,
        activity: ReadActivity,
    ) -> None:
        """Load nothing before the first read."""
        self._database = database
        self._models = models
        self._defaults = defaults
        self._activity = activity
        self._retrieval = Retrieval(models)

    def _ask(
        self,
        agent_id: str,
        text: str,
        scope: Scope,
        vector: Vectors | None,
        *,
        best: int = DEEPEST,
    ) -> Asked:
        """Do as ``Retrieval.ask``; an agent whose questions are not read has none planned (R10)."""
        memory = self._defaults.memory
        analysed = memory.query_analysis_enabled
        if self._models.query_planner is not None:  # to ask it takes longer than to look this up
            with self._database.agent_snapshot(agent_id) as connection:
                own = parameters_of(connection, agent_id, memory)
            analysed = own.query_analysis_enabled

        def last(now: datetime) -> Conversation | None:
            with self._database.agent_snapshot(agent_id) as connection:
                return last_session(connection, agent_id, restriction_of(scope), now)

        return self._retrieval.ask(
            text, scope, vector, best=best, analysed=analysed, last_session=last
        )


_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.05


def wait_until_fresh(database: Database, agent_id: str, request: Fresh) -> None:
    """Return once memory has caught up with ``min_seq``, or after ``wait_ms`` all the same.

    Holds no transaction while it waits.
    """
    if request.min_seq is None or not request.wait_ms:
        return
    deadline = time.monotonic() + request.wait_ms / 1000
    pause = _FIRST_PAUSE_S
    while True:
        with database.lane_transaction(durable=False) as connection:
            now = progress(connection, agent_id)
        left = deadline - time.monotonic()
        if now.seq >= request.min_seq or left <= 0:
            return
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)
