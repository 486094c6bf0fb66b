"""Trains where the topic changes, on the features that the sentence model gives.

    python -m training.seams [--check]

writes the two layers of the seams anew, and leaves the rest of the weights as they are. With
``--check`` it only trains without a fifth of the texts, and prints what it finds there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from memci.config.settings import Settings
from memci.language.sentences import sentence_spans
from memci.smallmodel.offline.e5_embedder import OfflineEmbedder
from memci.smallmodel.offline.sentence_model import (
    SEAM_FEATURES,
    SEEN_BEFORE,
    SPEAKERS,
    seam_features,
    weights,
)
from memci.smallmodel.vector_space import Vectors
from training.sentence_model import OUTPUT, rows

_EPOCHS, _BATCH, _RATE = 12, 64, 1e-3
_DROPOUT, _SMOOTHING = 0.3, 0.05
_JOINED = 2  # times that each conversation is followed by another one
_HELD_OUT = 5


@dataclass(frozen=True, slots=True)
class Said:
    """A message: who speaks, features of its sentences, and where among them the topic changes."""

    speaker: str
    features: Vectors
    cuts: Sequence[int]
    new: bool  # it begins another topic than the message before


@dataclass(frozen=True, slots=True)
class Seams:
    """Features of seams, shape (n, ``SEAM_FEATURES``), with 1 where the topic changes."""

    features: Vectors
    changes: Vectors

    @classmethod
    def of(cls, talks: Sequence[Sequence[Said]]) -> Seams:
        """Return the seams between messages and inside them."""
        found = [each for talk in talks for each in _seams(talk)]
        return cls(
            np.array([each for each, _ in found]), np.array([one for _, one in found], np.float32)
        )

    def report(self, net: nn.Module, name: str) -> None:
        """Print how well a model finds the changes."""
        with torch.no_grad():
            found = net(torch.from_numpy(self.features))[:, 0].numpy() > 0
        for inside in (False, True):
            own = self.features[:, -2] == inside
            true, seen = self.changes[own] > 0, found[own]
            f1 = 2 * (true & seen).sum() / max(1, true.sum() + seen.sum())
            print(f"  {name}, {'inside' if inside else 'between'} messages: F1 {f1:.3f}")


def _seams(talk: Sequence[Said]) -> Iterator[tuple[Vectors, int]]:
    for at, each in enumerate(talk):
        if at:
            before = np.concatenate([one.features for one in talk[max(0, at - SEEN_BEFORE) : at]])
            same = each.speaker == talk[at - 1].speaker
            yield seam_features(before, each.features, inside=False, same=same), int(each.new)
        for row, cut in enumerate(each.cuts, 1):
            features = each.features
            yield seam_features(features[:row], features[row:], inside=True, same=True), cut


def conversations(embedder: OfflineEmbedder) -> list[list[Said]]:
    """Return the conversations and messages whose topics are known."""
    known: list[list[dict[str, Any]]] = [row["messages"] for _, row in rows("turns")]
    known += [[{**row, "new": False}] for _, row in rows("segments")]
    said = [each for talk in known for each in talk]
    texts = ["".join(each["parts"]) for each in said]
    names = ["" if each["by"] in SPEAKERS else f"{each['by']}: " for each in said]
    read = embedder.sentences([name + text for name, text in zip(names, texts, strict=True)])
    features = iter([each.features for each in read])
    return [[_said(each, next(features)) for each in talk] for talk in known]


def _said(row: dict[str, Any], features: Vectors) -> Said:
    return Said(row["by"], features, _cuts(row["parts"])[: len(features) - 1], row["new"])


def _cuts(parts: Sequence[str]) -> list[int]:
    """Return for each sentence of a message after the first: 1 if a part begins with it."""
    text = "".join(parts)
    ends = np.cumsum([len("".join(part.split())) for part in parts])
    return [
        int(len("".join(text[:start].split())) in ends) for start, _ in sentence_spans(text)[1:]
    ]


def joined(known: Sequence[list[Said]]) -> list[list[Said]]:
    """Return the conversations, and each some times before another one."""
    random, found = np.random.default_rng(1), list(known)
    for _ in range(_JOINED):
        order = random.permutation(len(known))
        for one, other in pairwise(order.tolist()):
            first, *rest = known[other]
            begun = Said(first.speaker, first.features, first.cuts, new=True)
            found.append([*known[one][-SEEN_BEFORE:], begun, *rest[:1]])
    return found


def train(known: Seams) -> nn.Sequential:
    """Train the two layers."""
    torch.manual_seed(1)
    random = np.random.default_rng(1)
    net = nn.Sequential(
        nn.Dropout(_DROPOUT), nn.Linear(SEAM_FEATURES, 64), nn.ReLU(), nn.Linear(64, 1)
    )
    optimizer = torch.optim.AdamW(net.parameters(), weight_decay=0.05)
    steps = _EPOCHS * -(-len(known.changes) // _BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _RATE, total_steps=steps)
    features, changes = torch.from_numpy(known.features), torch.from_numpy(known.changes)
    wanted = changes * (1 - _SMOOTHING) + _SMOOTHING / 2
    for _ in range(_EPOCHS):
        for some in torch.from_numpy(random.permutation(len(changes))).split(_BATCH):
            loss = functional.binary_cross_entropy_with_logits(
                net(features[some])[:, 0], wanted[some]
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return net.eval()


def main() -> None:
    """Train and write the layers, or check what is found in texts that were left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    known = conversations(OfflineEmbedder(Settings().embedder_folder))
    if chosen.check:
        left = known[::_HELD_OUT]
        net = train(Seams.of(joined([each for at, each in enumerate(known) if at % _HELD_OUT])))
        Seams.of(left).report(net, "left out")
        return
    net = train(Seams.of(joined(known)))
    learned = dict(weights())
    for at, name in ((1, "seam"), (3, "seam_out")):
        layer = net[at]
        learned[f"{name}.w"] = layer.weight.detach().numpy()
        learned[f"{name}.b"] = layer.bias.detach().numpy()
    np.savez_compressed(OUTPUT, **{name: each.astype(np.float16) for name, each in learned.items()})


if __name__ == "__main__":
    main()
