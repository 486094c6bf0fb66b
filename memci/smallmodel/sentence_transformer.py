"""The family ``sentence-transformers``: any model of that library as the embedder (E7).

It needs the extra ``sentence-transformers``. The model is a folder, or a name in the local cache of
Hugging Face: nothing is fetched.
"""

import hashlib
import os
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from memci.config.settings import Settings
from memci.errors import ConfigurationError
from memci.language.loading import LoadOnce
from memci.smallmodel.vector_space import Vectors, VectorSpace

# Unrelated texts, of which the center of the model's vectors is estimated.
_GENERAL = (
    "The meeting moved to Thursday at nine.", "Our cat had three kittens last spring.",
    "Add two spoons of flour and stir.", "The server returned error 503 again.",
    "She plays the cello in a small orchestra.", "Tickets cost forty euros each.",
    "I forgot my umbrella on the train.", "Photosynthesis turns light into sugar.",
    "他们周末去爬山了。", "请把发票寄到公司。", "这家面馆的牛肉面很好吃。",
    "孩子的家长会在下周二。", "会议纪要已经发到邮箱。", "昨晚的球赛踢到了加时。",
    "她在准备雅思考试。", "地铁二号线今天停运。",
)  # fmt: skip


class SentenceTransformerEmbedder:
    """A model of sentence-transformers on the CPU; its own prompts tell questions from texts."""

    def __init__(self, model: str, query_prefix: str | None, passage_prefix: str | None) -> None:
        """Take a folder or a name, and prefixes in place of the model's own prompts."""
        self._name = model
        self._prefixes = {"query": query_prefix, "document": passage_prefix}
        self._network = LoadOnce(self._load)
        self._forward = threading.Lock()  # threads in torch would compete for the same cores

    @property
    def model(self) -> str:
        """The model's name, stored with every vector.

        Models of the same name in two folders, or with other prefixes, make other vectors.
        """
        made_by = repr((self._name, *self._prefixes.values())).encode()
        digest = hashlib.blake2b(made_by, digest_size=4).hexdigest()
        return f"{Path(self._name).name}-{digest}"

    @property
    def dimension(self) -> int:
        """Numbers in one vector."""
        return int(self._network.get().get_embedding_dimension())

    @cached_property
    def space(self) -> VectorSpace:
        """The space of its vectors; its center is estimated from a few texts."""
        vectors = self.embed(_GENERAL)
        mean = vectors.mean(axis=0)
        # The mean of n vectors without a center still has the squared length 1 / n.
        length = float(mean @ mean)
        own = max((len(vectors) * length - 1) / (len(vectors) - 1), 0.0)
        return VectorSpace((mean * np.sqrt(own / length)).astype(np.float32))

    def load(self) -> None:
        """Load the model."""
        self._network.get()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of texts to be found, shape (len(texts), dimension)."""
        return self._encode("document", texts)

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of questions, shape (len(texts), dimension)."""
        return self._encode("query", texts)

    def _encode(self, kind: str, texts: Sequence[str]) -> Vectors:
        network = self._network.get()
        encode = network.encode_query if kind == "query" else network.encode_document
        # A lone surrogate has no UTF-8, and tokenizers take nothing else.
        clean = [text.encode(errors="replace").decode() for text in texts]
        if not clean:
            return np.zeros((0, self.dimension), dtype=np.float32)
        given = {} if self._prefixes[kind] is None else {"prompt": self._prefixes[kind]}
        with self._forward:
            vectors = encode(clean, normalize_embeddings=True, show_progress_bar=False, **given)
        return np.asarray(vectors, dtype=np.float32)

    def _load(self) -> Any:
        # Read by huggingface_hub and tokenizers when they are imported.
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - slow
        except ModuleNotFoundError as error:
            raise ConfigurationError(
                "the embedder needs a package: pip install 'memci[sentence-transformers]'"
            ) from error
        try:
            network = SentenceTransformer(self._name, device="cpu", local_files_only=True)
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"no model of sentence-transformers at {self._name!r}: name a folder, or a model in"
                " the local cache of Hugging Face"
            ) from error
        return network.eval()


def sentence_transformer(task: str, model: str, settings: Settings) -> SentenceTransformerEmbedder:
    """Return the embedder (an entry point of ``memci.small_models``)."""
    if task != "embedder":
        raise ConfigurationError(f"sentence-transformers has only embedders, no {task}")
    own = settings.model_of("embedder")
    return SentenceTransformerEmbedder(model, own.query_prefix, own.passage_prefix)
