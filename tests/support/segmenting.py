"""The offline segmenter with the vectors of the messages, as memory creation calls it."""

from memci.smallmodel.offline.e5_embedder import OfflineEmbedder
from memci.smallmodel.offline.segmenter import OfflineSegmenter


class SegmenterUnderTest:
    def __init__(self, embedder: OfflineEmbedder) -> None:
        self._embedder = embedder
        self._segmenter = OfflineSegmenter(lambda: embedder.space)

    def segment(self, messages):
        vectors = self._embedder.embed([message.text for message in messages])
        return self._segmenter.segment(messages, vectors)
