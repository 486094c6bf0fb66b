"""The built-in embedder: multilingual-e5-small by ONNX Runtime, without torch (E2 to E4).

English and Chinese texts share one space: a question finds a text in the other language. The
weights are mapped from files, so processes share their pages.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memci.domain.search.late_interaction import QuestionTokens
from memci.language.loading import LoadOnce
from memci.smallmodel.offline.e5_files import GRAPH, TOKENIZER, model_folder
from memci.smallmodel.offline.e5_graph import POSITIONS
from memci.smallmodel.vector_space import Vectors, VectorSpace

MODEL = "multilingual-e5-small"
DIMENSION = 384
# A question is nearer to other questions than to its answer; ``training.query_map`` learned where
# answers lie.
QUERY_MAP = "e5_query_map.npy"

# The model was trained with these.
_PASSAGE, _QUERY = "passage: ", "query: "
_BEGIN, _END = 0, 2
# More characters than any text of as many tokens as the model reads.
_MOST_CHARACTERS = 1 << 16
# Tokens in one forward pass.
_BATCH_TOKENS = 2048
# Vectors remembered by the digest of their text. The segmenter, the message index and the nodes
# of one job often ask for the same texts.
_REMEMBERED = 2048
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


@dataclass(frozen=True, slots=True)
class _Model:
    tokenizer: Any  # sentencepiece.SentencePieceProcessor
    session: Any  # onnxruntime.InferenceSession


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
        self._recent = _RecentVectors(_REMEMBERED)

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
        """Map the model, and convert it before if it is not there."""
        self._model.get()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of texts to be found, shape (len(texts), 384)."""
        return self._embed(_PASSAGE, texts)

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of questions, shape (len(texts), 384), of about unit length."""
        return self._mapped(self._embed(_QUERY, texts))

    def encode(self, texts: Sequence[str]) -> tuple[Vectors, list[bytes]]:
        """Return the vectors of ``embed``, and 384 sign bits for each of the rarest 128 tokens."""
        vectors, tokens = self._encode([_PASSAGE + text for text in texts], _PASSAGE)
        return vectors, [each.rarest(_MOST_TOKENS).tobytes() for each in tokens]

    def encode_question(self, text: str) -> tuple[Vectors, QuestionTokens]:
        """Return the vector of a question, shape (384,), and its tokens.

        A token weighs more the rarer it is in the vocabulary.
        """
        vectors, (found,) = self._encode([_QUERY + text], _QUERY)
        return self._mapped(vectors)[0], QuestionTokens(found.bits, found.rarities)

    def _mapped(self, questions: Vectors) -> Vectors:
        return mapped(questions, _query_map() if self._query_map is None else self._query_map)

    def _embed(self, prefix: str, texts: Sequence[str]) -> Vectors:
        prefixed = [prefix + text for text in texts]
        keys = [
            hashlib.blake2b(text.encode(errors="replace"), digest_size=16).digest()
            for text in prefixed
        ]
        known = self._recent.look_up(keys)
        missing = {key: text for key, text in zip(keys, prefixed, strict=True) if key not in known}
        if missing:
            fresh = dict(zip(missing, self._encode(list(missing.values()))[0], strict=True))
            self._recent.add(fresh)
            known |= fresh
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for row, key in enumerate(keys):
            vectors[row] = known[key]
        return vectors

    def _encode(self, texts: list[str], prefix: str = "") -> tuple[Vectors, list[_Tokens]]:
        """Return vectors; with their ``prefix``, also the tokens of the texts after it."""
        model = self._model.get()
        # A lone surrogate has no UTF-8, and the tokenizer takes nothing else.
        clean = [text[:_MOST_CHARACTERS].encode(errors="replace").decode() for text in texts]
        tokens = [
            [_BEGIN, *found[: POSITIONS - 2], _END] for found in model.tokenizer.encode(clean)
        ]
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        found: dict[int, _Tokens] = {}
        begin = 1 + len(model.tokenizer.encode(prefix))
        for batch in _batches(tokens):
            run = [tokens[each] for each in batch]
            vectors[batch], states = _run(model, run, with_states=bool(prefix))
            for row, each in enumerate(batch if prefix else ()):
                own = slice(begin, len(tokens[each]) - 1)
                scores = map(model.tokenizer.get_score, tokens[each][own])
                rarities = -np.array(list(scores), dtype=np.float32)
                found[each] = _Tokens(_sign_bits(states[row, own]), rarities)
        return vectors, [found[each] for each in sorted(found)]


@dataclass(frozen=True, slots=True)
class _Tokens:
    bits: npt.NDArray[np.uint8]  # shape (n, 48)
    rarities: Vectors  # shape (n,): negative logarithms of probability

    def rarest(self, most: int) -> npt.NDArray[np.uint8]:
        """Return the bits of the rarest tokens, in their order."""
        chosen = np.sort(np.argsort(-self.rarities, kind="stable")[:most])
        rarest: npt.NDArray[np.uint8] = self.bits[chosen]
        return rarest


def _sign_bits(states: Vectors) -> npt.NDArray[np.uint8]:
    """Return 384 bits for each token, shape (n, 48).

    A fixed rotation spreads the difference to the mean of all tokens over all bits.
    """
    mean, rotation = _token_space()
    return np.packbits(states @ rotation > mean, axis=1)


@cache
def _token_space() -> tuple[Vectors, Vectors]:
    with (resources.files(__package__) / "data" / "e5_tokens.npz").open("rb") as file:
        stored = np.load(file)
        rotation: Vectors = stored["rotation"].astype(np.float32)
        return stored["mean"] @ rotation, rotation


def _run(model: _Model, tokens: list[list[int]], *, with_states: bool) -> tuple[Vectors, Vectors]:
    """Return vectors of texts of one length, and the states of their tokens if wanted."""
    outputs = ["vector", "tokens"] if with_states else ["vector"]
    found: list[Vectors] = model.session.run(outputs, {"ids": np.array(tokens, dtype=np.int64)})
    return found[0], found[-1]


@cache
def _query_map() -> Vectors:
    with (resources.files(__package__) / "data" / QUERY_MAP).open("rb") as file:
        stored: Vectors = np.load(file).astype(np.float32)
        return stored


@cache
def _space() -> VectorSpace:
    with (resources.files(__package__) / "data" / "e5_center.npy").open("rb") as file:
        return VectorSpace(np.load(file), _FLOOR)


class _RecentVectors:
    """The last vectors made, by digest; texts are not kept."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._vectors: OrderedDict[bytes, Vectors] = OrderedDict()

    def look_up(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        with self._lock:
            found = {key: self._vectors[key] for key in keys if key in self._vectors}
            for key in found:
                self._vectors.move_to_end(key)
        return found

    def add(self, vectors: dict[bytes, Vectors]) -> None:
        with self._lock:
            self._vectors |= vectors
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)


def _batches(tokens: list[list[int]]) -> Iterator[list[int]]:
    """Group texts of the same length."""
    by_length = defaultdict(list)
    for place, each in enumerate(tokens):
        by_length[len(each)].append(place)
    for length, places in by_length.items():
        size = max(1, _BATCH_TOKENS // length)
        yield from (places[at : at + size] for at in range(0, len(places), size))


def _load(folder: Path) -> _Model:
    import onnxruntime  # noqa: PLC0415 - loaded where text is encoded, only there
    from sentencepiece import SentencePieceProcessor  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors
    session = onnxruntime.InferenceSession(
        str(folder / GRAPH), options, providers=["CPUExecutionProvider"]
    )
    return _Model(SentencePieceProcessor(model_file=str(folder / TOKENIZER)), session)
