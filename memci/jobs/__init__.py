"""All kinds of jobs: what the lane is handed by the runtime."""

from __future__ import annotations

from collections.abc import Mapping

from memci.config.settings import Settings
from memci.extraction.blocks import ExtractionLimits
from memci.jobs.compress import NetworkCompression
from memci.jobs.consolidate import Consolidation
from memci.jobs.create import MemoryCreation
from memci.jobs.document import DocumentIndexing
from memci.jobs.index import ItemIndexing, MessageIndexing, WindowLimits
from memci.jobs.maintenance import LinkDropping, Reembedding
from memci.jobs.name_pages import PageNaming, Pages
from memci.jobs.rebuild import NetworkRebuild, Replay
from memci.jobs.restore import MemoryRestoring
from memci.jobs.summarise import AskingAfter, SessionSummaries, SummaryAsks, Summing
from memci.jobs.track import MessageTracking
from memci.queue.runner import Handler
from memci.smallmodel.registry import SmallModels
from memci.storage.page_store.port import PageStore
from memci.storage.session import Database


def all_jobs(
    database: Database, models: SmallModels, settings: Settings, page_store: PageStore
) -> Mapping[str, Handler]:
    """Return the handler of every kind of job."""
    window = WindowLimits(
        tokens=settings.context_threshold_ratio * settings.context_max_tokens,
        recent_interactions=settings.recent_interactions,
    )
    pages = Pages(page_store, models.tokens, settings.pages)
    summing = Summing(models.summarizer, models.tokens, settings.summarizer)
    asks = SummaryAsks(settings.memory)
    creation = MemoryCreation(database, models, settings.memory)
    indexing = MessageIndexing(database, models, window)
    handlers: list[Handler] = [
        AskingAfter(creation, asks.of_messages),
        AskingAfter(indexing, asks.of_messages),
        SessionSummaries(database, summing, settings.memory),
        LinkDropping(settings.memory),
        MemoryRestoring(database, models, settings.memory),
        NetworkRebuild(database, Replay(database, models, settings.memory)),
        Reembedding(database, models.embedder),
        AskingAfter(Consolidation(database, settings.memory), asks.of_sessions),
        DocumentIndexing(database, models, _limits(settings)),
        PageNaming(database, models.summarizer, pages),
        ItemIndexing(database, models),
        MessageTracking(database, models.tokens, settings.pages),
    ]
    return {handler.kind: handler for handler in handlers}


def compression(database: Database, models: SmallModels, settings: Settings) -> NetworkCompression:
    """Return the pass over a memory network."""
    return NetworkCompression(
        database, models, settings.memory, snapshot_bytes=settings.snapshot_bytes
    )


def _limits(settings: Settings) -> ExtractionLimits:
    return ExtractionLimits(
        unpacked_bytes=settings.max_document_unpacked_bytes,
        pages=settings.max_document_pages,
        seconds=settings.document_seconds,
        memory_bytes=settings.document_memory_bytes,
        chunks=settings.max_document_chunks,
    )
