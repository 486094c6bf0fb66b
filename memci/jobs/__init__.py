"""All kinds of jobs: what the lane is handed by the runtime."""

from collections.abc import Mapping

from memci.config.settings import Settings
from memci.extraction.blocks import ExtractionLimits
from memci.jobs.compression_pass import NetworkCompression
from memci.jobs.consolidate import Consolidation, LinkDropping
from memci.jobs.create import MemoryCreation
from memci.jobs.index import (
    DocumentIndexing,
    ItemIndexing,
    MessageIndexing,
    Reembedding,
)
from memci.jobs.name_pages import PageNaming
from memci.jobs.rebuild import NetworkRebuild
from memci.jobs.restore_memory import MemoryRestoring
from memci.jobs.summarise import SessionSummaries, SummaryRequests, WithSummaryRequests
from memci.jobs.track import MessageTracking
from memci.queue.runner import Handler
from memci.smallmodel.registry import SmallModels
from memci.storage.page_store.port import PageStore
from memci.storage.session import Database

# Share of the context window from which messages with ``remember: auto`` become memories.
_WINDOW_SHARE = 0.8


def all_jobs(
    database: Database, models: SmallModels, settings: Settings, page_store: PageStore
) -> Mapping[str, Handler]:
    """Return the handler of every kind of job."""
    window_tokens = _WINDOW_SHARE * settings.pages.window_max_tokens

    model = settings.model_of("summarizer").model
    requests = SummaryRequests(settings.memory)
    creation = MemoryCreation(database, models, settings.memory)
    indexing = MessageIndexing(database, models, window_tokens)
    consolidation = Consolidation(database, settings.memory, models.embedder)
    handlers: list[Handler] = [
        WithSummaryRequests(creation, requests.of_messages),
        WithSummaryRequests(indexing, requests.of_messages),
        SessionSummaries(database, models.summarizer, models.tokens, model, settings.memory),
        LinkDropping(settings.memory),
        MemoryRestoring(database, models, settings.memory),
        NetworkRebuild(database, models, settings.memory),
        Reembedding(database, models.embedder),
        WithSummaryRequests(consolidation, requests.of_sessions),
        DocumentIndexing(database, models, ExtractionLimits(), settings.memory.redact),
        PageNaming(database, models.summarizer, page_store, models.tokens, settings.pages),
        ItemIndexing(database, models),
        MessageTracking(database, models.sentences, models.tokens, settings.pages),
    ]
    return {handler.kind: handler for handler in handlers}


def compression(database: Database, models: SmallModels, settings: Settings) -> NetworkCompression:
    """Return the pass over a memory network."""
    return NetworkCompression(database, models, settings.memory)
