"""Fits the map of parts of texts: the vector that a part would have by itself (E6).

    python -m training.part_map

writes the map. Entries of the corpora that follow each other are joined to texts. A ridge
regression predicts the vector of each entry from the means of its tokens and of all tokens, as they
are read in the whole text. Then it prints how near predictions come in archives that it has not
seen, and writes a map that is fitted on all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from memci.config.settings import Settings
from memci.language.sentences import Span
from memci.smallmodel.offline import e5_embedder
from memci.smallmodel.offline.e5_embedder import PART_MAP, OfflineEmbedder
from memci.smallmodel.offline.sentence_model import Tokens, tokens_of
from memci.smallmodel.vector_space import Vectors, unit_rows
from training.corpus import Archive, read_corpora
from training.encoder import Encoder, tokenizer

_OUTPUT = Path(e5_embedder.__file__).parent / "data" / PART_MAP
_FEWEST, _MOST = 2, 6  # entries of a text
_LONGEST = 500  # characters of an entry
_RIDGE = 60.0  # relative to the variance of each number
_BATCH = 16
_LEFT_OUT = 6  # each sixth archive


class Text(NamedTuple):
    """A text, and the places of its entries."""

    text: str
    spans: list[Span]


def texts_of(archive: Archive, random: np.random.Generator) -> Iterator[Text]:
    """Yield entries that follow each other, two to six at a time."""
    entries = [each.text for each in archive.entries if len(each.text) < _LONGEST]
    at = 0
    while at < len(entries):
        some = entries[at : at + int(random.integers(_FEWEST, _MOST + 1))]
        at += len(some)
        gap = "\n" if random.random() < 0.5 else " " * some[0].isascii()
        ends = np.cumsum([len(each) for each in some]) + len(gap) * np.arange(len(some))
        starts = [int(end) - len(each) for end, each in zip(ends, some, strict=True)]
        yield Text(gap.join(some), list(zip(starts, ends.tolist(), strict=True)))


def means_of(texts: Sequence[Text]) -> Iterator[Vectors]:
    """Yield of each text what the map reads, shape (entries, 2 * 384 + 1).

    Entries beyond what the embedder reads are left out.
    """
    encoder = Encoder()
    tokens = [tokens_of(tokenizer(), each.text, each.spans) for each in texts]
    with torch.no_grad():
        for start in range(0, len(texts), _BATCH):
            some = tokens[start : start + _BATCH]
            state, mask = encoder.embedded([each.ids for each in some])
            for layer in encoder.layers:
                state = layer(state, mask)
            for row, each in zip(state.numpy(), some, strict=True):
                yield _means(row[: len(each.ids)], each)


def _means(last: Vectors, tokens: Tokens) -> Vectors:
    whole = [*last.mean(axis=0), 1.0]
    rows = [[*last[slice(*span)].mean(axis=0), *whole] for span in tokens.spans]
    return np.array(rows, dtype=np.float32)


def fit(means: Vectors, wanted: Vectors) -> Vectors:
    """Return the map, shape (2 * 384 + 1, 384)."""
    read: npt.NDArray[np.float64] = means.astype(np.float64)
    ridge = np.diag(_RIDGE * read.var(axis=0))
    found: Vectors = np.linalg.solve(
        read.T @ read + ridge + 1e-9 * np.eye(len(ridge)), read.T @ wanted
    ).astype(np.float32)
    return found


def report(made: Vectors, wanted: Vectors, center: Vectors) -> None:
    """Print how near made vectors are to the wanted ones."""
    made, wanted = unit_rows(unit_rows(made) - center), unit_rows(wanted - center)
    nearest = (made @ wanted.T).argmax(axis=1) == np.arange(len(made))
    print(f"cosine {(made * wanted).sum(axis=1).mean():.3f}, nearest {nearest.mean():.3f}")


def main() -> None:
    """Fit, report, and write the map."""
    embedder, random = OfflineEmbedder(Settings().embedder_folder), np.random.default_rng(1)
    archives = [each for own in read_corpora().values() for each in own]
    texts = [(at % _LEFT_OUT == 0, each) for at, archive in enumerate(archives)
             for each in texts_of(archive, random)]  # fmt: skip
    rows = list(means_of([each for _, each in texts]))
    means = np.concatenate(rows)
    wanted = embedder.embed(
        [each.text[slice(*span)] for (_, each), own in zip(texts, rows, strict=True)
         for span in each.spans[: len(own)]]
    )  # fmt: skip
    left_out = np.concatenate(
        [np.full(len(own), out) for (out, _), own in zip(texts, rows, strict=True)]
    )
    print("the mean of a part's tokens: ", end="")
    report(means[left_out, : wanted.shape[1]], wanted[left_out], embedder.space.center)
    print("the map: ", end="")
    made = fit(means[~left_out], wanted[~left_out])
    report(means[left_out] @ made, wanted[left_out], embedder.space.center)
    np.save(_OUTPUT, fit(means, wanted).astype(np.float16))


if __name__ == "__main__":
    main()
