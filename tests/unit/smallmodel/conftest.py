"""Each offline model is made once for all tests here, so that its weights load once."""

import pytest

from memci.config.settings import Settings
from memci.smallmodel.offline.annotator import OfflineAnnotator, OfflineJudge
from memci.smallmodel.offline.compressor import OfflineCompressor
from memci.smallmodel.offline.e5_embedder import OfflineEmbedder
from memci.smallmodel.offline.index_terms import OfflineLexicon
from memci.smallmodel.offline.sentence_reader import OfflineSentenceReader
from tests.support.segmenting import SegmenterUnderTest


@pytest.fixture(scope="session")
def embedder():
    return OfflineEmbedder(Settings().embedder_folder)


@pytest.fixture(scope="session")
def reader(embedder):
    return OfflineSentenceReader(embedder)


@pytest.fixture(scope="session")
def segmenter(embedder, reader):
    return SegmenterUnderTest(embedder, reader)


@pytest.fixture(scope="session")
def annotator(reader):
    return OfflineAnnotator(reader)


@pytest.fixture(scope="session")
def judge(reader):
    return OfflineJudge(reader)


@pytest.fixture(scope="session")
def compressor():
    return OfflineCompressor()


@pytest.fixture(scope="session")
def lexicon():
    return OfflineLexicon()
