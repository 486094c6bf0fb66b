"""The built-in embedder: multilingual-e5-small by ONNX Runtime, without torch (E2 to E4).

English and Chinese texts share one space: a question finds a text in the other language. The
weights are mapped from files, so processes share their pages.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import zip_longest
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from memci.domain.search.late_interaction import QuestionTokens
from memci.domain.search.passages import passages_of
from memci.language.clauses import spans_without_labels
from memci.language.loading import LoadOnce
from memci.language.sentences import Span, sentence_spans
from memci.smallmodel.offline import change_model, sentence_model
from memci.smallmodel.offline.change_model import ended_probabilities
from memci.smallmodel.offline.e5_files import (
    CHANGES,
    EMBEDDING,
    LAYERS,
    TOKENIZER,
    model_folder,
)
from memci.smallmodel.offline.e5_graph import POSITIONS
from memci.smallmodel.offline.sentence_model import BEGIN, END, FEATURES, PASSAGE
from memci.smallmodel.vector_space import Vectors, VectorSpace, unit_rows
from memci.telemetry.watchdog import allow_more

T = TypeVar("T")

MODEL = "multilingual-e5-small"
DIMENSION = 384
# A question is nearer to other questions than to its answer; ``training.query_map`` learned where
# answers lie.
QUERY_MAP = "e5_query_map.npy"
PART_MAP = "e5_part_map.npy"

# The model was trained with it before questions.
_QUERY = "query: "
# More characters than any text of as many tokens as the model reads.
_MOST_CHARACTERS = 1 << 16
# Tokens in one forward pass. More are not faster, and take memory in proportion.
_BATCH_TOKENS = 512
# Seconds that a token may take: several times what it takes on a slow processor.
_TOKEN_S = 0.002
# Forward passes at once: more than processors would only take more memory.
_passes = threading.Semaphore((os.cpu_count() or 1) + 1)
# Vectors remembered by the digest of their text. The segmenter, the message index and the nodes
# of one job often ask for the same texts.
_REMEMBERED = 2048
_REMEMBERED_ROWS = 8_192  # of sentences, 2.5 KiB each
# Tokens of a text whose bits are kept (E8).
_MOST_TOKENS = 128
# Texts of one meaning in two languages, and answers that share no word with their question, can be
# as far apart as unrelated ones: nothing is left out for its likeness, the ranking decides.
_FLOOR = -1.0


def mapped(questions: Vectors, query_map: Vectors) -> Vectors:
    """Return vectors of questions moved towards their answers, shape (n, d) or (d,).

    ``query_map``, shape (1 + d, d), has what is added to zero, and to each unit vector.
    """
    moved: Vectors = questions + query_map[0] + questions @ query_map[1:]
    return moved


@contextmanager
def _computing(tokens: Sequence[Sequence[int]]) -> Iterator[None]:
    """Wait for the turn of a forward pass, which may take as long as its tokens need."""
    allow_more(_TOKEN_S * sum(map(len, tokens)))
    with _passes:
        yield


@dataclass(frozen=True, slots=True)
class _Model:
    tokenizer: Any  # sentencepiece.SentencePieceProcessor
    embedding: Any  # onnxruntime.InferenceSession, as are the others
    layers: Any  # with the sentence model

    def embedded(self, tokens: list[list[int]]) -> Vectors:
        """Return the state before the first layer, for texts of one length."""
        found: Vectors
        (found,) = self.embedding.run(["state"], {"ids": np.array(tokens, dtype=np.int64)})
        return found

    def run(self, tokens: list[list[int]], *outputs: str) -> list[Any]:
        """Return outputs of the layers for texts of one length."""
        with _computing(tokens):
            found: list[Any] = self.layers.run(outputs, {"state": self.embedded(tokens)})
        return found


class OfflineEmbedder:
    """multilingual-e5-small on one core: 384 numbers, unit length, the first 512 tokens of a text.

    ONNX Runtime computes in the calling thread, so the model survives a fork.
    """

    def __init__(self, parent: Path, query_map: Vectors | None = None) -> None:
        """Take the folder that holds the converted model, or will hold it.

        ``query_map`` takes the place of the built-in map.
        """
        self._query_map = query_map
        self._model = LoadOnce(lambda: _load(model_folder(parent)))
        self._changes = LoadOnce(lambda: _sessions(model_folder(parent), CHANGES))
        self._recent = _Recent[Vectors](_REMEMBERED, lambda _: 1)
        self._sentences = _Recent[Sentences](_REMEMBERED_ROWS, lambda each: 1 + len(each.spans))

    @property
    def model(self) -> str:
        """The model's name, stored with every vector."""
        return MODEL

    @property
    def dimension(self) -> int:
        """Numbers in one vector."""
        return DIMENSION

    @property
    def space(self) -> VectorSpace:
        """The space of its vectors."""
        return _space()

    def load(self) -> None:
        """Map the models, and convert them before if they are not there."""
        self._model.get()
        self._changes.get()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of texts to be found, shape (len(texts), 384)."""
        return self._embed(PASSAGE, texts)

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of questions, shape (len(texts), 384), of about unit length."""
        return self._mapped(self._embed(_QUERY, texts))

    def encode(self, texts: Sequence[str]) -> tuple[Vectors, list[bytes]]:
        """Return the vectors of ``embed``, and 384 sign bits for each of the rarest 128 tokens.

        ``embed`` returns the same vectors for these texts, as long as they are remembered.
        """
        read = self._read(texts)
        self._recent.add(
            {_digest(PASSAGE + text): each.vector for text, each in zip(texts, read, strict=True)}
        )
        bits = [each.tokens.rarest(_MOST_TOKENS).tobytes() for each in read]
        return np.array([each.vector for each in read]).reshape(-1, DIMENSION), bits

    def encode_question(self, text: str) -> tuple[Vectors, QuestionTokens]:
        """Return the vector of a question, shape (384,), and its tokens.

        A token weighs more the rarer it is in the vocabulary.
        """
        model = self._model.get()
        ids = _ids(model, _QUERY + text)
        ((vector,), (bits,)) = model.run([ids], "vector", "bits")
        tokens = _tokens(model, ids, bits, len(model.tokenizer.encode(_QUERY)))
        return self._mapped(vector), QuestionTokens(tokens.bits, tokens.rarities)

    def sentences(self, texts: Sequence[str]) -> list[Sentences]:
        """Return the sentences of texts as the sentence model reads them.

        Those that one run cannot hold are read in the passages of the text, and in what lies
        between. A text that was encoded lately is not read again.
        """
        pieces: list[list[Span]] = [[(0, len(text)), *passages_of(text)] for text in texts]
        found = list[dict[Span, Sentences]]({} for _ in texts)
        while any(pieces):
            for own, read, known in zip(pieces, self._pieces(texts, pieces), found, strict=True):
                known.update(zip(own, read, strict=True))
            pieces = [_gaps(text, known) for text, known in zip(texts, found, strict=True)]
        return [Sentences.joined(sorted(known.items(), key=_start)) for known in found]

    def _pieces(
        self, texts: Sequence[str], pieces: Sequence[Sequence[Span]]
    ) -> list[list[Sentences]]:
        """Return the sentences of pieces, [start, stop), of each text."""
        asked = [
            text[start:stop] for text, own in zip(texts, pieces, strict=True) for start, stop in own
        ]
        keys = [_digest(each) for each in asked]
        known = self._sentences.look_up(keys)
        unread = {key: text for key, text in zip(keys, asked, strict=True) if key not in known}
        known |= {
            key: each.sentences
            for key, each in zip(unread, self._read(list(unread.values())), strict=True)
        }
        found = iter([known[key] for key in keys])
        return [[next(found) for _ in own] for own in pieces]

    def embed_parts(self, parts: Sequence[Sequence[tuple[str, Span]]]) -> Vectors:
        """Return unit vectors of parts of texts, shape (len(parts), 384).

        Parts are not read again: see ``_part_sums``. ``parts``: texts, and [start, stop) in each.
        """
        texts = list(dict.fromkeys(text for part in parts for text, _ in part))
        read = dict(zip(texts, self.sentences(texts), strict=True))
        sums = [sum(read[text].total(span) for text, span in part) for part in parts]
        return unit_rows(np.array(sums, dtype=np.float32).reshape(-1, DIMENSION))

    def _read(self, texts: Sequence[str]) -> list[_Read]:
        """Read texts to be found; remember their sentences."""
        model, clean = self._model.get(), [_clean(each) for each in texts]
        spans = [sentence_spans(each) for each in clean]
        tokens = [
            sentence_model.tokens_of(model.tokenizer, *each)
            for each in zip(clean, spans, strict=True)
        ]
        begin, found = len(model.tokenizer.encode(PASSAGE)), dict[int, _Read]()
        for batch in _batches([each.ids for each in tokens]):
            run = [tokens[each].ids for each in batch]
            states = model.run(run, "vector", "bits", "pooled", "last")
            for each, vector, signs, state, last in zip(batch, *states, strict=True):
                own = tokens[each].spans
                sentences = Sentences(
                    spans[each][: len(own)],
                    sentence_model.pooled(state, own),
                    _part_sums(last, own),
                )
                read = _tokens(model, tokens[each].ids, signs, begin)
                found[each] = _Read(vector, read, sentences)
        self._sentences.add({_digest(text): found[at].sentences for at, text in enumerate(texts)})
        return [found[at] for at in range(len(texts))]

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[list[tuple[Span, float]]]:
        """Return the facts of each older text, and how likely the newer one ends them (R6).

        ``pairs``: (older, newer), each with its speaker. Spans are in characters of ``older``.
        """
        model, (changes,) = self._model.get(), self._changes.get()
        clean = [(_clean(older), _clean(newer)) for older, newer in pairs]
        facts = [spans_without_labels(older) for older, _ in clean]
        tokens = [
            change_model.pair_tokens(model.tokenizer, *pair, own)
            for pair, own in zip(clean, facts, strict=True)
        ]
        found: list[list[tuple[Span, float]]] = [[] for _ in pairs]
        for batch in _batches([each.ids for each in tokens]):
            run = [tokens[each].ids for each in batch]
            with _computing(run):
                state = {"state": model.embedded(run)}
                (read,) = changes.run(["pooled"], state)
            for place, each in zip(batch, read, strict=True):
                ended = ended_probabilities(each, tokens[place].spans)
                found[place] = list(zip(facts[place], ended, strict=False))
        return found

    def _mapped(self, questions: Vectors) -> Vectors:
        return mapped(
            questions, _learned(QUERY_MAP) if self._query_map is None else self._query_map
        )

    def _embed(self, prefix: str, texts: Sequence[str]) -> Vectors:
        prefixed = [prefix + text for text in texts]
        keys = [_digest(text) for text in prefixed]
        known = self._recent.look_up(keys)
        missing = {key: text for key, text in zip(keys, prefixed, strict=True) if key not in known}
        if missing:
            fresh = dict(zip(missing, self._encode(list(missing.values())), strict=True))
            self._recent.add(fresh)
            known |= fresh
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for row, key in enumerate(keys):
            vectors[row] = known[key]
        return vectors

    def _encode(self, texts: list[str]) -> Vectors:
        model = self._model.get()
        tokens = [_ids(model, text) for text in texts]
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for batch in _batches(tokens):
            (vectors[batch],) = model.run([tokens[each] for each in batch], "vector")
        return vectors


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of a text: [start, stop) in characters, and features, shape (n, 256).

    ``totals``, shape (n, 384): what their tokens add to the vector of a part of the text.
    """

    spans: Sequence[Span]
    features: Vectors
    totals: Vectors

    @classmethod
    def joined(cls, pieces: Sequence[tuple[Span, Sentences]]) -> Sentences:
        """Join pieces of a text in order; what two hold counts once."""
        spans: list[Span] = []
        rows = []
        for (begin, _), piece in pieces:
            for (start, stop), *row in zip(piece.spans, piece.features, piece.totals, strict=True):
                if not spans or begin + start >= spans[-1][1]:
                    spans.append((begin + start, begin + stop))
                    rows.append(row)
        features, totals = zip(*rows, strict=True) if rows else ((), ())
        return cls(
            spans,
            np.array(features, dtype=np.float32).reshape(-1, FEATURES),
            np.array(totals, dtype=np.float32).reshape(-1, DIMENSION),
        )

    def total(self, part: Span) -> Vectors:
        """Return the sum of the sentences that a part of the text, [start, stop), touches."""
        start, stop = part
        chosen = [each[0] < stop and each[1] > start for each in self.spans]
        total: Vectors = self.totals[chosen].sum(axis=0)
        return total


def _gaps(text: str, read: Mapping[Span, Sentences]) -> list[Span]:
    """Return what lies between where each piece was read to and where the next begins."""
    pieces = sorted(read)
    found = []
    for piece, following in zip_longest(pieces, pieces[1:]):
        start, stop = piece
        reached = start + (read[piece].spans[-1][1] if read[piece].spans else 0)
        gap = reached, min(stop, following[0]) if following else stop
        if gap not in read and text[slice(*gap)].strip():
            found.append(gap)
    return found


def _start(piece: tuple[Span, Sentences]) -> int:
    return piece[0][0]


@dataclass(frozen=True, slots=True)
class _Read:
    vector: Vectors
    tokens: _Tokens
    sentences: Sentences


@dataclass(frozen=True, slots=True)
class _Tokens:
    bits: npt.NDArray[np.uint8]  # shape (n, 48)
    rarities: Vectors  # shape (n,): negative logarithms of probability

    def rarest(self, most: int) -> npt.NDArray[np.uint8]:
        """Return the bits of the rarest tokens, in their order."""
        chosen = np.sort(np.argsort(-self.rarities, kind="stable")[:most])
        rarest: npt.NDArray[np.uint8] = self.bits[chosen]
        return rarest


def _tokens(model: _Model, ids: list[int], bits: npt.NDArray[np.bool_], prefix: int) -> _Tokens:
    """Return the tokens of a text behind a ``prefix`` of so many tokens."""
    own = slice(1 + prefix, len(ids) - 1)
    scores = map(model.tokenizer.get_score, ids[own])
    return _Tokens(np.packbits(bits[own], axis=1), -np.array(list(scores), dtype=np.float32))


def _clean(text: str) -> str:
    # A lone surrogate has no UTF-8, and the tokenizer takes nothing else.
    return text[:_MOST_CHARACTERS].encode(errors="replace").decode()


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=16).digest()


def _ids(model: _Model, text: str) -> list[int]:
    return [BEGIN, *model.tokenizer.encode(_clean(text))[: POSITIONS - 2], END]


def _part_sums(last: Vectors, spans: Sequence[Span]) -> Vectors:
    """Return what sentences add to the vector of a part of a text, shape (len(spans), 384).

    The mean of a part's tokens (late chunking; Günther and others, 2024) says too much of the rest
    of the text. ``training.part_map`` learned what vector the part would have by itself, from this
    mean and the text's. ``last``: of the tokens of the text, shape (n, 384).
    """
    sums = np.array([last[slice(*span)].sum(axis=0) for span in spans], dtype=np.float32)
    counts = np.array([stop - start for start, stop in spans], dtype=np.float32)[:, None]
    learned = _learned(PART_MAP)
    own, rest, bias = learned[:DIMENSION], learned[DIMENSION:-1], learned[-1]
    sums = sums.reshape(-1, DIMENSION) @ own
    added: Vectors = sums + counts * (last.mean(axis=0) @ rest + bias)
    return added


@cache
def _learned(name: str) -> Vectors:
    with (resources.files(__package__) / "data" / name).open("rb") as file:
        stored: Vectors = np.load(file).astype(np.float32)
        return stored


@cache
def _space() -> VectorSpace:
    with (resources.files(__package__) / "data" / "e5_center.npy").open("rb") as file:
        return VectorSpace(np.load(file), _FLOOR)


class _Recent(Generic[T]):
    """The last things made, by the digest of their texts; texts are not kept."""

    def __init__(self, size: int, rows: Callable[[T], int]) -> None:
        """Hold things of at most ``size`` rows of numbers."""
        self._size = size
        self._rows = rows
        self._held = 0
        self._lock = threading.Lock()
        self._made: OrderedDict[bytes, T] = OrderedDict()

    def look_up(self, keys: Sequence[bytes]) -> dict[bytes, T]:
        with self._lock:
            found = {key: self._made[key] for key in keys if key in self._made}
            for key in found:
                self._made.move_to_end(key)
        return found

    def add(self, made: dict[bytes, T]) -> None:
        with self._lock:
            for key, each in made.items():
                self._forget(key)
                self._made[key] = each
                self._held += self._rows(each)
            while self._held > self._size:
                self._forget(next(iter(self._made)))

    def _forget(self, key: bytes) -> None:
        if key in self._made:
            self._held -= self._rows(self._made.pop(key))


def _batches(tokens: list[list[int]]) -> Iterator[list[int]]:
    """Group texts of the same length."""
    by_length = defaultdict(list)
    for place, each in enumerate(tokens):
        by_length[len(each)].append(place)
    for length, places in by_length.items():
        size = max(1, _BATCH_TOKENS // length)
        yield from (places[at : at + size] for at in range(0, len(places), size))


@cache  # a fork has what its parent has loaded
def _load(folder: Path) -> _Model:
    from sentencepiece import SentencePieceProcessor  # noqa: PLC0415 - where text is encoded

    tokenizer = SentencePieceProcessor(model_file=str(folder / TOKENIZER))
    return _Model(tokenizer, *_sessions(folder, EMBEDDING, LAYERS))


@cache
def _sessions(folder: Path, *names: str) -> list[Any]:
    # It would send what it runs to its makers, and store a number of this machine.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime  # noqa: PLC0415 - loaded where text is encoded, only there

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors
    # More would join additions with the norms behind them to a kernel that is seven times as slow.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    providers = ["CPUExecutionProvider"]
    return [
        onnxruntime.InferenceSession(str(folder / name), options, providers=providers)
        for name in names
    ]
