"""The offline segmenter with the vectors of the messages, as memory creation calls it."""

from memci.smallmodel.offline.segmenter import OfflineSegmenter
from memci.smallmodel.offline.sentence_embedder import OfflineEmbedder


class SegmenterUnderTest:
    def __init__(self, embedder: OfflineEmbedder) -> None:
        self._embedder = embedder
        self._segmenter = OfflineSegmenter(embedder.model)

    def segment(self, messages):
        vectors = self._embedder.embed([message.text for message in messages])
        return self._segmenter.segment(messages, vectors)
