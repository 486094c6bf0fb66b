"""The small models that jobs need."""

from __future__ import annotations

from typing import Protocol

from memci.smallmodel.ports import (
    Annotator,
    Compressor,
    Embedder,
    Lexicon,
    RelationNamer,
    Segmenter,
    TokenCounter,
)


class JobModels(Protocol):
    """One adapter for each task."""

    @property
    def segmenter(self) -> Segmenter: ...  # noqa: D102
    @property
    def annotator(self) -> Annotator: ...  # noqa: D102
    @property
    def relation_namer(self) -> RelationNamer: ...  # noqa: D102
    @property
    def compressor(self) -> Compressor: ...  # noqa: D102
    @property
    def embedder(self) -> Embedder: ...  # noqa: D102
    @property
    def lexicon(self) -> Lexicon: ...  # noqa: D102
    @property
    def tokens(self) -> TokenCounter: ...  # noqa: D102
