"""The offline segmenter with the vectors of the messages, as memory creation calls it."""

from memci.smallmodel.offline.e5_embedder import OfflineEmbedder
from memci.smallmodel.offline.segmenter import OfflineSegmenter
from memci.smallmodel.offline.sentence_reader import OfflineSentenceReader


class SegmenterUnderTest:
    def __init__(self, embedder: OfflineEmbedder, reader: OfflineSentenceReader) -> None:
        self._embedder = embedder
        self._segmenter = OfflineSegmenter(lambda: embedder.space, reader)

    def segment(self, messages):
        vectors = self._embedder.embed([message.searched for message in messages])
        return self._segmenter.segment(messages, vectors)
