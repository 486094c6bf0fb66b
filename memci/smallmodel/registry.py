"""Choose the adapter of each task by the settings.

A setting names ``offline``, ``llm:<model>`` or ``<family>:<model>``; without one for the query
planner that task is not done. A family is an entry point of the group ``memci.small_models``: a
callable that takes the task ("compressor"), the model's name and the settings, and returns an
adapter of that task's Protocol.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib.metadata import entry_points
from typing import Any

from memci.config.groups import OFFLINE, ModelTask
from memci.config.settings import Settings
from memci.errors import ConfigurationError
from memci.smallmodel import ports
from memci.smallmodel.litellm.adapters import FAMILY, llm_adapter
from memci.smallmodel.offline.annotator import OfflineAnnotator, OfflineJudge, OfflineQueryPlanner
from memci.smallmodel.offline.change_reader import OfflineChangeReader
from memci.smallmodel.offline.compressor import OfflineCompressor
from memci.smallmodel.offline.e5_embedder import OfflineEmbedder
from memci.smallmodel.offline.index_terms import OfflineLexicon
from memci.smallmodel.offline.relation_namer import OfflineRelationNamer
from memci.smallmodel.offline.segmenter import OfflineSegmenter
from memci.smallmodel.offline.sentence_reader import OfflineSentenceReader
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.offline.token_counter import OfflineTokenCounter

GROUP = "memci.small_models"


@dataclass(frozen=True, slots=True)
class SmallModels:
    """One adapter for each task; each loads at its first call."""

    segmenter: ports.Segmenter
    annotator: ports.Annotator
    relation_namer: ports.RelationNamer
    compressor: ports.Compressor
    judge: ports.Judge
    summarizer: ports.Summarizer
    embedder: ports.Embedder
    sentences: ports.SentenceReader
    changes: ports.ChangeReader
    lexicon: ports.Lexicon
    tokens: ports.TokenCounter
    query_planner: ports.QueryPlanner | None = None  # None: questions are searched unchanged

    def load(self) -> None:
        """Load the embedder and all other adapters that take long."""
        self._load(*(getattr(self, each.name) for each in fields(self)))

    def load_embedder(self) -> None:
        """Load the adapters of reads: the embedder, and the planner if there is one."""
        self._load(self.query_planner, self.embedder)

    def _load(self, *adapters: object) -> None:
        for each in adapters:
            if isinstance(each, ports.Loads):
                each.load()
            elif each is self.embedder:
                self.embedder.embed(["warm-up"])


def build_small_models(settings: Settings) -> SmallModels:
    """Choose the adapters; ``ConfigurationError`` names a setting whose adapter is unknown."""

    def adapter(task: ModelTask, offline: Callable[[], Any]) -> Any:
        name = settings.model_of(task).model
        if name == OFFLINE:
            return offline()
        family, _, model = name.partition(":")
        if family == FAMILY and model:
            return llm_adapter(task, model, settings, offline)
        return _third_party(task, name, settings)

    planner = "query_planner" in settings.models
    built_in = OfflineEmbedder(settings.embedder_folder)
    reader = OfflineSentenceReader(built_in)
    embedder: ports.Embedder = adapter("embedder", lambda: built_in)
    return SmallModels(
        segmenter=adapter("segmenter", lambda: OfflineSegmenter(lambda: embedder.space, reader)),
        annotator=adapter("annotator", lambda: OfflineAnnotator(reader)),
        relation_namer=adapter("relation_namer", OfflineRelationNamer),
        compressor=adapter("compressor", OfflineCompressor),
        judge=adapter("judge", lambda: OfflineJudge(reader)),
        summarizer=adapter("summarizer", OfflineSummarizer),
        embedder=embedder,
        sentences=reader,
        changes=OfflineChangeReader(built_in),
        lexicon=OfflineLexicon(),
        tokens=OfflineTokenCounter(settings.tokenizer),
        query_planner=adapter("query_planner", OfflineQueryPlanner) if planner else None,
    )


def _third_party(task: str, name: str, settings: Settings) -> Any:
    family, separator, model = name.partition(":")
    installed = {each.name: each for each in entry_points(group=GROUP)}
    if not separator or not model or family not in installed:
        known = ", ".join([OFFLINE, *(f"{each}:<model>" for each in sorted({FAMILY, *installed}))])
        raise ConfigurationError(
            f"no small model {name!r}: set MEMCI_MODELS__{task.upper()}__MODEL to one of {known}"
        )
    return installed[family].load()(task, model, settings)
