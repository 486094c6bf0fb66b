"""Scripted small models: deterministic, fast, and able to fail on demand."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from zlib import crc32

import numpy as np
import numpy.typing as npt

from memci.config.settings import Settings
from memci.domain.memory.node import NodeType
from memci.domain.search.late_interaction import QuestionTokens
from memci.errors import SmallModelUnavailableError
from memci.language.clauses import spans_without_labels
from memci.language.detection import Language, language_of
from memci.language.sentences import Span
from memci.message import Message
from memci.smallmodel.offline.e5_embedder import OfflineEmbedder
from memci.smallmodel.offline.sentence_reader import OfflineSentenceReader
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.ports import (
    Annotation,
    Judgement,
    ReadSentence,
    TextPair,
    TopicSegment,
)
from memci.smallmodel.vector_space import Vectors, VectorSpace

_WORD = re.compile(r"[A-Za-z0-9]+|[\u4e00-\u9fff]")


def words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


class OneSegmentAMessage:
    """Makes one segment of each message, or of each paragraph."""

    def segment(self, messages: Sequence[Message], vectors: Vectors) -> list[TopicSegment]:
        assert vectors.shape[0] == len(messages)
        return [
            TopicSegment(part, (message.seq,), language_of(part))
            for message in messages
            for part in message.text.split("\n\n")
            if part.strip()
        ]


@dataclass
class NamesInBrackets:
    """Takes words in [brackets] for entities, and long words for keywords."""

    def annotate(
        self, texts: Sequence[str], sentences: Sequence[Sequence[ReadSentence]] = ()
    ) -> list[Annotation]:
        return [self._annotate(text) for text in texts]

    def _annotate(self, text: str) -> Annotation:
        entities = tuple(re.findall(r"\[(.+?)\]", text))
        keywords = tuple(dict.fromkeys([*entities, *(w for w in words(text) if len(w) > 3)]))
        return Annotation(text[:40], keywords, entities, NodeType.EPISODIC)


@dataclass
class ScriptedJudge:
    """Judges texts with the entries of the script in order, then every text the same."""

    script: list[Judgement] = field(default_factory=list)
    rest: Judgement = field(default_factory=lambda: Judgement(eligible=True, worth=5.0))
    requests: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def judge(
        self,
        texts: Sequence[str],
        summaries: Sequence[str] = (),
        sentences: Sequence[Sequence[ReadSentence]] = (),
    ) -> list[Judgement]:
        self.requests += texts
        self.told += summaries
        return [self.script.pop(0) if self.script else self.rest for _ in texts]


@dataclass
class AboutIt:
    """Calls every relation by the same name."""

    requests: list[tuple[str, str]] = field(default_factory=list)

    def names(self, text: str, focus: Sequence[str], language: Language) -> list[str]:
        self.requests += [(text, each) for each in focus]
        return ["关于" if language is Language.CHINESE else "about"] * len(focus)


def keep_beginning(text: str, target: int) -> str:
    return text[:target].strip() or text[:1]


def is_down(text: str, target: int) -> str:
    raise SmallModelUnavailableError


@dataclass
class ScriptedCompressor:
    """Runs the entries of the script call by call, and then ``rest``."""

    script: list[Callable[[str, int], str]] = field(default_factory=list)
    rest: Callable[[str, int], str] = keep_beginning
    requests: list[str] = field(default_factory=list)
    at_once: int = 1

    def compress(self, text: str, target: int) -> str:
        self.requests.append(text)
        return (self.script.pop(0) if self.script else self.rest)(text, target)


@dataclass
class ScriptedPlanner:
    """Returns the plans of the script question by question, and then empty ones."""

    script: list[list[str]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def plan(self, text: str, language: Language) -> list[str]:
        self.requests.append(text)
        return self.script.pop(0) if self.script else []


class BagOfWords:
    """Embeds a text by its words: texts with the same words have the same vector."""

    model = "bag-of-words"
    dimension = 64
    space = VectorSpace()

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text) or ["?"]:
                vectors[row, crc32(word.encode()) % self.dimension] += 1
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = vectors / norms
        return unit

    embed_questions = embed

    def encode(self, texts: Sequence[str]) -> tuple[Vectors, list[bytes]]:
        return self.embed(texts), [self._bits(text).tobytes() for text in texts]

    def encode_question(self, text: str) -> tuple[Vectors, QuestionTokens]:
        bits = self._bits(text)
        return self.embed([text])[0], QuestionTokens(bits, np.ones(len(bits), np.float32))

    def embed_parts(self, parts: Sequence[Sequence[tuple[str, tuple[int, int]]]]) -> Vectors:
        texts = ["".join(text[slice(*span)] for text, span in part) for part in parts]
        vectors = self.embed(texts)
        vectors[[not text for text in texts]] = 0
        return vectors

    def _bits(self, text: str) -> npt.NDArray[np.uint8]:
        """Eight bytes for each word."""
        digests = [blake2b(word.encode(), digest_size=8).digest() for word in words(text) or ["?"]]
        return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 8)


class LowerCaseWords:
    def terms(self, text: str) -> list[str]:
        return words(text)


class FourCharactersAToken:
    tokenizer = "four-characters"

    def count(self, text: str) -> int:
        return len(text) // 4 + 1


@cache
def built_in() -> tuple[OfflineEmbedder, OfflineSentenceReader]:
    """Return the real embedder and reader; they load at their first text."""
    embedder = OfflineEmbedder(Settings().embedder_folder)
    return embedder, OfflineSentenceReader(embedder)


def built_in_reader() -> OfflineSentenceReader:
    """Return the real reader of sentences."""
    return built_in()[1]


_HOME = re.compile(r"(?:live in|moved to) (\w+)|(?:住在|搬到)(\w\w)")


class EachHomeEndsTheOthers:
    """Lets a home end every other home that was named before it."""

    bits_of = ""

    def ended(self, pairs: Sequence[TextPair]) -> list[list[Span]]:
        return [
            [
                span
                for span in spans_without_labels(older)
                if (home := _HOME.search(older[slice(*span)])) and home.groups() != now.groups()
            ]
            if (now := _HOME.search(newer))
            else []
            for older, newer, *_ in pairs
        ]


@dataclass
class ScriptedModels:
    segmenter: OneSegmentAMessage = field(default_factory=OneSegmentAMessage)
    annotator: NamesInBrackets = field(default_factory=NamesInBrackets)
    relation_namer: AboutIt = field(default_factory=AboutIt)
    compressor: ScriptedCompressor = field(default_factory=ScriptedCompressor)
    judge: ScriptedJudge = field(default_factory=ScriptedJudge)
    embedder: BagOfWords = field(default_factory=BagOfWords)
    sentences: OfflineSentenceReader = field(default_factory=built_in_reader)
    changes: EachHomeEndsTheOthers = field(default_factory=EachHomeEndsTheOthers)
    lexicon: LowerCaseWords = field(default_factory=LowerCaseWords)
    tokens: FourCharactersAToken = field(default_factory=FourCharactersAToken)
    summarizer: OfflineSummarizer = field(default_factory=OfflineSummarizer)
    # The default of the settings.
    query_planner: ScriptedPlanner | None = None
