"""What every kind of read works with."""

from __future__ import annotations

from memci.reading.activity import ReadActivity
from memci.reading.models import ReadingDefaults, ReadingModels
from memci.reading.retrieval import Retrieval
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
        self._retrieval = Retrieval(models, defaults.memory)
