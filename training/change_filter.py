"""Trains which pairs of messages are worth reading for changed facts, from their tokens' bits.

    python -m training.change_filter

writes the weights. It learns from the labelled pairs, and from neighbours in the corpora in which
the reader of changes finds nothing. A second model learns from the features of the newer texts'
sentences whether they end anything at all. Then it prints how many of the pairs that it has not
seen pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from memci.config.settings import Settings
from memci.smallmodel.offline import change_filter
from memci.smallmodel.offline.change_filter import LEAST, signs
from memci.smallmodel.offline.e5_embedder import OfflineEmbedder
from memci.smallmodel.offline.sentence_model import FEATURES
from training.change_model import Pair, neighbours, pairs
from training.corpus import Archive, read_corpora
from training.encoder import export, padded

_OUTPUT = Path(change_filter.__file__).parent / "data" / change_filter.FILE
_SIZE, _HEADS, _HIDDEN = 64, 4, 96
_EPOCHS, _BATCH, _RATE = 3, 64, 2e-3
_DROPOUT, _BITS_DROPOUT = 0.15, 0.1
_NEWS_EPOCHS, _NEWS_RATE = 12, 1e-3
_LABELLED, _NATURAL = 3.0, 9.0  # weights of written pairs, and of endings in natural talk
# Of the corpora: pairs in all, the nearest earlier entries of one, the longest text.
_ARCHIVED, _NEAREST, _LONGEST = 6_000, 2, 600
# A pair whose end the reader of changes thinks as likely is no example of talk that ends nothing.
_DOUBTFUL = 0.2
_OTHER = "other"  # the writer of pairs that nobody labelled
_UNNAMED = {"", "user", "User", "用户"}


class Example(NamedTuple):
    """The tokens of an older and a newer text as signs, and whether a fact is ended."""

    older: Tensor
    newer: Tensor
    ended: bool
    weight: float


class Net(nn.Module):
    """The model in torch; ``change_filter.probability`` computes the same."""

    def __init__(self) -> None:
        """Begin with nothing learned."""
        super().__init__()
        self.token = nn.Linear(8 * change_filter.BYTES, _SIZE)
        self.query, self.key = nn.Linear(_SIZE, _SIZE), nn.Linear(_SIZE, _SIZE)
        self.value, self.compared = nn.Linear(_SIZE, _SIZE), nn.Linear(4 * _SIZE, _SIZE)
        self.attention = nn.Linear(_SIZE, _HEADS)
        self.hidden, self.out = nn.Linear((_HEADS + 1) * _SIZE, _HIDDEN), nn.Linear(_HIDDEN, 1)
        self.dropout, self.bits_dropout = nn.Dropout(_DROPOUT), nn.Dropout(_BITS_DROPOUT)
        self.news, self.news_out = nn.Linear(FEATURES, _SIZE), nn.Linear(_SIZE, 1)

    def forward(self, some: Sequence[Example]) -> Tensor:
        """Return the logits that the newer texts end a fact, shape (n,)."""
        (one, mask), (other, seen_mask) = (
            padded([getattr(each, name) for each in some]) for name in ("older", "newer")
        )
        one, other = (
            self.dropout(torch.tanh(self.token(self.bits_dropout(each)))) for each in (one, other)
        )
        heat = self.query(one) @ self.key(other).transpose(1, 2) / _SIZE**0.5
        heat = heat.masked_fill(~seen_mask[:, None, :], -1e4)
        seen = heat.softmax(-1) @ self.value(other)
        compared = self.compared(torch.cat([one, seen, one * seen, (one - seen).abs()], -1))
        compared = self.dropout(functional.relu(compared))
        attention = self.attention(compared).masked_fill(~mask[..., None], -1e4).softmax(1)
        pooled = torch.einsum("nth,ntd->nhd", attention, compared).flatten(1)
        most = compared.masked_fill(~mask[..., None], 0.0).amax(1)
        hidden = functional.relu(self.hidden(torch.cat([pooled, most], -1)))
        return self.out(functional.dropout(hidden, 0.2, self.training))[:, 0]

    def heard(self, texts: Sequence[Tensor]) -> Tensor:
        """Return the logits that texts end anything, from the features of their sentences."""
        features = functional.dropout(torch.cat(list(texts)), 0.3, self.training)
        hidden = functional.dropout(functional.relu(self.news(features)), 0.2, self.training)
        sentences = self.news_out(hidden)[:, 0].split([len(each) for each in texts])
        return torch.stack([each.max() for each in sentences])


class Bits:
    """Reads the bits of texts as memci stores them, each text once."""

    def __init__(self, embedder: OfflineEmbedder) -> None:
        """Take the built-in embedder."""
        self._embedder = embedder
        self._known: dict[str, Tensor] = {}

    def features(self, known: Sequence[Pair]) -> list[Tensor]:
        """Return the features of the sentences of each newer text."""
        read = self._embedder.sentences([_searched(each.by_newer, each.newer) for each in known])
        nothing = np.zeros((1, FEATURES), np.float32)
        return [torch.from_numpy(each.features if each.spans else nothing) for each in read]

    def examples(self, known: Sequence[Pair]) -> list[Example]:
        """Return the examples that pairs give."""
        texts = [(_searched(each.by_older, each.older), _searched(each.by_newer, each.newer))
                 for each in known]  # fmt: skip
        unread = list({text for both in texts for text in both}.difference(self._known))
        for text, bits in zip(unread, self._embedder.encode(unread)[1], strict=True):
            self._known[text] = torch.from_numpy(signs(bits or bytes(change_filter.BYTES)))
        return [
            Example(self._known[older], self._known[newer], bool(pair.ended), _weight(pair))
            for pair, (older, newer) in zip(known, texts, strict=True)
        ]


def _searched(by: str, text: str) -> str:
    """Return what memci embeds, half of the names left out: they tell how a text was made."""
    named = by not in _UNNAMED and crc32(text.encode()) % 2
    return f"{by}: {text}" if named else text


def _weight(pair: Pair) -> float:
    if pair.writer == _OTHER or pair.writer.endswith("_turns.jsonl"):
        return 1.0
    return _NATURAL if "natural" in pair.writer and pair.ended else _LABELLED


def archived(embedder: OfflineEmbedder, known: Sequence[Pair]) -> Iterator[Pair]:
    """Yield entries of the corpora with the most similar earlier ones, if nothing seems to end.

    ``known``: labelled pairs; what stands in a judged part is left out.
    """
    judged = {text for each in pairs(judged=True) for text in (each.older, each.newer)}
    labelled = {(each.older, each.newer) for each in known}
    found = [
        each
        for archives in read_corpora().values()
        for archive in archives
        for each in _similar(embedder, archive)
        if (each.older, each.newer) not in labelled and judged.isdisjoint((each.older, each.newer))
    ]
    chosen = np.random.default_rng(1).permutation(len(found))[:_ARCHIVED]
    some = [found[each] for each in chosen]
    read = embedder.read_pairs(
        [(f"{each.by_older}: {each.older}", f"{each.by_newer}: {each.newer}") for each in some]
    )
    for each, facts in zip(some, read, strict=True):
        if max((likely for _, likely in facts), default=0.0) < _DOUBTFUL:
            yield each


def _similar(embedder: OfflineEmbedder, archive: Archive) -> Iterator[Pair]:
    entries = [each for each in archive.entries if len(each.text) <= _LONGEST]
    vectors = embedder.embed([each.text for each in entries])
    vectors -= vectors.mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    for at, newer in enumerate(entries):
        for other in np.argsort(-vectors[:at] @ vectors[at])[:_NEAREST]:
            older = entries[other]
            yield Pair(older.text, newer.text, older.speaker, newer.speaker, [], "", _OTHER)


def unrelated(known: Sequence[Pair]) -> Iterator[Pair]:
    """Yield the older texts of labelled pairs with newer ones of others, which end nothing."""
    order = np.random.default_rng(2).permutation(len(known))
    for each, other in zip(known, order.tolist(), strict=True):
        newer = known[other]
        if newer.older != each.older and newer.language == each.language:
            yield replace(each, newer=newer.newer, by_newer=newer.by_newer, ended=[], writer=_OTHER)


def train_news(net: Net, known: Sequence[Pair], bits: Bits) -> None:
    """Train on the newer texts of pairs, each text once."""
    last = {(each.by_newer, each.newer): each for each in sorted(known, key=_is_change)}
    some = list(last.values())
    features = bits.features(some)
    ended = torch.tensor([_is_change(each) for each in some])
    weight = torch.tensor([_weight(each) for each in some])
    optimizer = torch.optim.AdamW(net.parameters(), _NEWS_RATE, weight_decay=0.05)
    for _ in range(_NEWS_EPOCHS):
        for chosen in torch.randperm(len(some)).split(_BATCH):
            logits = net.heard([features[at] for at in chosen.tolist()])
            loss = functional.binary_cross_entropy_with_logits(
                logits, ended[chosen], weight[chosen]
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def _is_change(pair: Pair) -> float:
    return float(bool(pair.ended))


def train(net: Net, known: Sequence[Example]) -> None:
    """Train on examples."""
    random = np.random.default_rng(1)
    optimizer = torch.optim.AdamW(net.parameters(), weight_decay=0.02)
    steps = _EPOCHS * -(-len(known) // _BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, _RATE, total_steps=steps, pct_start=0.1
    )
    lengths = np.array([len(each.older) + len(each.newer) for each in known])
    for epoch in range(_EPOCHS):
        order, total = np.argsort(lengths + random.normal(0, 10, len(known))), 0.0
        for start in random.permutation(range(0, len(known), _BATCH)):
            some = [known[at] for at in order[start : start + _BATCH]]
            ended = torch.tensor([float(each.ended) for each in some])
            weight = torch.tensor([each.weight for each in some])
            loss = functional.binary_cross_entropy_with_logits(net(some), ended, weight)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total * _BATCH / len(known):.3f}", flush=True)


def report(net: Net, bits: Bits) -> None:
    """Print how many pairs of the judged parts pass, by their files."""
    known = pairs(judged=True)
    with torch.no_grad():
        odds = net.heard(bits.features(known)).exp().tolist()
        for at, each in enumerate(bits.examples(known)):
            odds[at] *= net([each]).exp().item()
    for writer in sorted({each.writer for each in known}):
        own = [(bool(pair.ended), each) for pair, each in zip(known, odds, strict=True)
               if pair.writer == writer]  # fmt: skip
        for ended, name in ((True, "changes"), (False, "near misses")):
            passed = [each >= LEAST for is_ended, each in own if is_ended == ended]
            print(f"  {writer}: {sum(passed)} of {len(passed)} {name} pass")


def main() -> None:
    """Train, write the weights, and report."""
    embedder = OfflineEmbedder(Settings().embedder_folder)
    labelled, bits = pairs(), Bits(embedder)
    known = [*labelled, *unrelated(labelled), *neighbours(), *archived(embedder, labelled)]
    torch.manual_seed(1)
    net = Net()
    train_news(net, [*labelled, *neighbours()], bits)
    train(net, bits.examples(known))
    export(net.eval(), _OUTPUT)
    report(net, bits)


if __name__ == "__main__":
    main()
