"""Turn texts into vectors with a provider's embedding model."""

from collections.abc import Sequence

import numpy as np

from memci.domain.usage import Usage
from memci.errors import ConfigurationError, SmallModelAnswerError
from memci.language.sentences import cut_into_pieces
from memci.smallmodel.litellm.language_model import usage_of
from memci.smallmodel.litellm.provider import Provider
from memci.smallmodel.usage_account import current_account
from memci.smallmodel.vector_space import Vectors, VectorSpace, unit_rows

TASK = "embedder"
_BATCH = 64
# Characters: what models of 2,000 tokens and more read whole, in any language.
_WINDOW = 2_000


class LlmEmbedder:
    """Embeds batches of 64 windows. It has no fallback, so no budget limits it.

    Vectors of different models cannot be compared: while this model is away, callers wait.
    """

    def __init__(self, provider: Provider, dimension: int | None) -> None:
        """Take the dimension; None: that of LiteLLM's table."""
        self._provider = provider
        self._dimension = dimension

    @property
    def model(self) -> str:
        """The model's name, stored with every vector."""
        return self._provider.model

    @property
    def dimension(self) -> int:
        """Numbers in one vector. Raises ``ConfigurationError`` if it is unknown."""
        if self._dimension is None:
            self._dimension = self._provider.dimension
        if self._dimension is None:
            raise ConfigurationError(
                f"the length of {self.model}'s vectors is not known:"
                " set MEMCI_MODELS__EMBEDDER__DIMENSION to it"
            )
        return self._dimension

    def load(self) -> None:
        """Import the libraries of calls, and check that the dimension is known."""
        self._provider.load()
        _ = self.dimension

    @property
    def space(self) -> VectorSpace:
        """A space without a center: nothing is known of the model."""
        return VectorSpace()

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of ``embed``: providers do not distinguish questions."""
        return self.embed(texts)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (len(texts), dimension); long texts are pooled."""
        windows = [
            (row, piece)
            for row, text in enumerate(texts)
            for piece in list(cut_into_pieces(text, _WINDOW)) or ["."]  # empty texts are refused
        ]
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for first in range(0, len(windows), _BATCH):
            batch = windows[first : first + _BATCH]
            found = unit_rows(self._ask([piece for _, piece in batch]))
            lengths = np.array([len(piece) for _, piece in batch], dtype=np.float32)
            np.add.at(vectors, [row for row, _ in batch], found * lengths[:, None])
        return unit_rows(vectors)

    def _ask(self, texts: list[str]) -> Vectors:
        account = current_account()
        key = (TASK, self.model, *texts)
        if key in account.answers:
            known: Vectors = account.answers[key]
            return known
        account.begin(TASK, self.model, limited=False)
        spent, failures = Usage(), 1
        try:
            vectors, spent = self._provider.embed(texts)
            if vectors.shape != (len(texts), self.dimension):
                raise SmallModelAnswerError(
                    f"{self.model} gives vectors of {vectors.shape[1]} numbers, not of "
                    f"{self.dimension}: set MEMCI_MODELS__EMBEDDER__DIMENSION"
                )
            failures = 0
        finally:
            account.end(TASK, self.model, usage_of(spent, failures))
        account.answers[key] = vectors
        return vectors
