"""What every kind of read works with."""

from __future__ import annotations

from datetime import datetime

from memci.domain.context.depth import DEEPEST
from memci.domain.context.query import Talk
from memci.reading.activity import ReadActivity
from memci.reading.models import ReadingDefaults, ReadingModels
from memci.reading.retrieval import Asked, Retrieval, restriction_of
from memci.shapes.read import Scope
from memci.smallmodel.ports import Vectors
from memci.storage.parameters import parameters_of
from memci.storage.reading.last_session import last_session
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

        def last(now: datetime) -> Talk | None:
            with self._database.agent_snapshot(agent_id) as connection:
                return last_session(connection, agent_id, restriction_of(scope), now)

        return self._retrieval.ask(
            text, scope, vector, best=best, analysed=analysed, last_session=last
        )
