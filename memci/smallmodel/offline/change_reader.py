"""The built-in reader of changes: a model that reads an older and a newer text together (R6)."""

from collections.abc import Sequence

from memci.language.sentences import Span
from memci.smallmodel.offline.e5_embedder import OfflineEmbedder

# F1 on pairs that the model has not seen is the same from 0.3 to 0.7, but in ordinary talk, which
# ends little, what is less certain is wrong more often than right.
_LEAST = 0.7


class OfflineChangeReader:
    """Reads English and Chinese, in any combination."""

    def __init__(self, embedder: OfflineEmbedder) -> None:
        """Take the built-in embedder, even if another one makes the vectors."""
        self._embedder = embedder

    def ended(self, pairs: Sequence[tuple[str, str]]) -> list[list[Span]]:
        """Return the clauses of each older text that hold no more once the newer one is said."""
        return [
            [span for span, likely in facts if likely >= _LEAST]
            for facts in self._embedder.read_pairs(pairs)
        ]
