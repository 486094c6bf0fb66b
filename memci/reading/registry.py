"""The reads of context workers by name."""

from collections.abc import Callable, Mapping
from typing import Any

from memci.config.settings import Settings
from memci.queue.usage_accounting import Accounts
from memci.reading.comparison import Compare
from memci.reading.context import ContextReader
from memci.reading.context_window import Windows
from memci.reading.deferred_writes import ReadActivity
from memci.reading.handover import HandoverReader, Summarise
from memci.reading.lists.framework_items import ItemReads
from memci.reading.reader import ReadingDefaults, ReadingModels
from memci.reading.recall import Recall
from memci.reading.search import Search
from memci.schemas.base import Answer, Request
from memci.schemas.frameworks import ItemSearch
from memci.schemas.network_editions import ComparisonRequest
from memci.schemas.pages import WindowRequest
from memci.schemas.reads import ContextRequest, RecallRequest, SearchRequest
from memci.schemas.sessions import HandoverRequest
from memci.schemas.tools.memory import SummaryRequest
from memci.smallmodel.ports import Summarizer
from memci.storage.session import Database

# Seconds of processor time of a read, beside that of its models. A caller waits for less.
READ_S = 20.0
_WITH_MESSAGES = frozenset({"assemble", "window"})


class Readings:
    """Runs reads; safe for threads."""

    def __init__(
        self,
        database: Database,
        models: ReadingModels,
        settings: Settings,
        windows: Windows,
        extractor: Summarizer | None = None,
    ) -> None:
        """Create all reads; ``extractor`` summarises at once (default: that of ``models``)."""
        defaults = ReadingDefaults.of(settings)
        self._activity = ReadActivity(database)
        self._accounts = Accounts(database, settings.memory)
        shared = database, models, defaults, self._activity
        self.recall = Recall(*shared)
        self.search = Search(*shared)
        self.assemble = ContextReader(*shared)
        self.summarise = Summarise(*shared)
        self.compare = Compare(database, models, defaults)
        self.items = ItemReads(database, models)
        self.handover = HandoverReader(*shared, extractor or models.summarizer)
        self._reads: dict[str, tuple[Callable[..., Answer], type[Request]]] = {
            "recall": (self.recall.run, RecallRequest),
            "search": (self.search.run, SearchRequest),
            "assemble": (self.assemble.run, ContextRequest),
            "window": (windows.show, WindowRequest),
            "summarise": (self.summarise.run, SummaryRequest),
            "handover": (self.handover.run, HandoverRequest),
            "compare": (self.compare.run, ComparisonRequest),
            "items": (self.items.run, ItemSearch),
        }

    def answer(self, use: str, agent_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Run one read on the fields of its request; return its answer as JSON values.

        Raises pydantic's ``ValidationError`` for invalid fields.
        """
        with self._accounts.of_agent(agent_id):
            run, request = self._reads[use]
            answer = run(agent_id, request(**fields))
        # Chat APIs refuse nulls in messages.
        return answer.model_dump(mode="json", exclude_none=use in _WITH_MESSAGES)

    def close(self) -> None:
        """Store the recorded activity."""
        self._activity.close()
