"""The reads of context workers by the name under which they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from memci.config.settings import Settings
from memci.queue.usage_accounting import Accounts
from memci.reading.comparison import Compare
from memci.reading.context import ContextReader
from memci.reading.deferred_writes import ReadActivity
from memci.reading.handover import HandingOver, Summarise
from memci.reading.lists.framework_items import ItemReads
from memci.reading.reader import ReadingDefaults, ReadingModels
from memci.reading.recall import Recall
from memci.reading.search import Search
from memci.reading.window import Windows
from memci.schemas.base import Answer
from memci.schemas.editions import ComparisonRequest
from memci.schemas.frameworks import ItemSearch
from memci.schemas.memory_tools import SummaryRequest
from memci.schemas.pages import WindowRequest
from memci.schemas.reads import ContextRequest, RecallRequest, SearchRequest
from memci.schemas.sessions import HandoverRequest
from memci.smallmodel.ports import Summarizer
from memci.storage.session import Database

_Use: TypeAlias = Callable[[str, Mapping[str, Any]], Answer]
_WITH_MESSAGES = frozenset({"assemble", "window"})


class Readings:
    """Answers what context workers are asked for; safe for threads."""

    def __init__(
        self,
        database: Database,
        models: ReadingModels,
        settings: Settings,
        windows: Windows,
        extractor: Summarizer | None = None,
    ) -> None:
        """Make one of each; ``extractor`` sums up at once (default: what ``models`` have)."""
        defaults = ReadingDefaults.of(settings)
        self._activity = ReadActivity(database)
        self._accounts = Accounts(database, settings.memory)
        self.recall = Recall(database, models, defaults, self._activity)
        self.search = Search(database, models, defaults, self._activity)
        self.assemble = ContextReader(
            database, models, defaults, self._activity, self._activity.want_summary
        )
        self.summarise = Summarise(database, models, defaults, self._activity)
        self.compare = Compare(database, models, defaults)
        self.items = ItemReads(database, models)
        self.handover = HandingOver(
            database, models, defaults, self._activity, extractor or models.summarizer
        )
        self._uses: dict[str, _Use] = {
            "recall": lambda agent_id, fields: self.recall.run(agent_id, RecallRequest(**fields)),
            "search": lambda agent_id, fields: self.search.run(agent_id, SearchRequest(**fields)),
            "assemble": lambda agent_id, fields: self.assemble.run(
                agent_id, ContextRequest(**fields)
            ),
            "window": lambda agent_id, fields: windows.show(agent_id, WindowRequest(**fields)),
            "summarise": lambda agent_id, fields: self.summarise.run(
                agent_id, SummaryRequest(**fields)
            ),
            "handover": lambda agent_id, fields: self.handover.run(
                agent_id, HandoverRequest(**fields)
            ),
            "compare": lambda agent_id, fields: self.compare.run(
                agent_id, ComparisonRequest(**fields)
            ),
            "items": lambda agent_id, fields: self.items.run(agent_id, ItemSearch(**fields)),
        }

    def answer(self, use: str, agent_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Run one read on the fields of its request; return its answer as JSON values.

        Raises pydantic's ``ValidationError`` for fields that are no such request.
        """
        with self._accounts.of_agent(agent_id):
            answer = self._uses[use](agent_id, fields)
        # What a message for a model does not have is left out: chat APIs refuse nulls.
        return answer.model_dump(mode="json", exclude_none=use in _WITH_MESSAGES)

    def close(self) -> None:
        """Write down which agents were read last."""
        self._activity.close()
