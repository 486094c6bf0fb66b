"""Trains which facts of an older text a newer text ends.

All layers of the built-in embedder are adapted (LoRA; Hu and others, 2021); they read both texts
together. Training needs torch; the product computes it with ONNX Runtime.

    python -m training.change_model [--check | --further NAMES]

writes the weights. With ``--further`` it goes on with those that are there: for two epochs, it
reads the files with such names ("home,tasks"), and of the others a share; it writes the mean of the
weights before and after (Wortsman and others, 2022), which forget less. With
``--check`` it only trains without some kinds of writers, and prints how well such a model judges
the pairs of those kinds.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from memci.language.sentences import Span, clause_spans
from memci.smallmodel.offline import change_model
from memci.smallmodel.offline.change_model import pair_tokens
from memci.smallmodel.offline.sentence_model import FEATURES, Learned, Tokens
from training.encoder import HIDDEN, Encoder, Pooling, adapted_layers, export, restore, tokenizer
from training.sentence_model import rows

_OUTPUT = Path(change_model.__file__).parent / "data" / change_model.FILE
_LEFT_OUT = ("groupb", "friends")
_RANK = 24
_EPOCHS, _FURTHER_EPOCHS, _AGAIN = 6, 2, 0.3
_BATCH = 32
_ADAPTER_RATE, _HEAD_RATE = 4e-4, 2e-3
_SMOOTHING = 0.05
# Of the pairs in an epoch: how many older texts get facts of another pair, how many newer texts are
# exchanged for one that has nothing to do with the older, and how many only repeat it.
_LONGER, _UNRELATED, _REPEATED = 0.25, 0.1, 0.05
_BEFORE = 3  # messages before one in a conversation, which it does not end


@dataclass
class Pair:
    """An older and a newer text; ``ended``: spans of ``older`` that hold no more."""

    older: str
    newer: str
    by_older: str
    by_newer: str
    ended: list[Span]
    language: str
    writer: str

    def read(self) -> tuple[Tokens, list[int]]:
        """Return the tokens, and of each fact: 1 if it is ended."""
        facts = clause_spans(self.older)
        labels = [
            int(any(min(stop, end) - max(start, begin) > 0.5 * min(stop - start, end - begin)
                    for begin, end in self.ended))
            for start, stop in facts
        ]  # fmt: skip
        name = f"{self.by_older}: " if self.by_older else ""
        spans = [(start + len(name), stop + len(name)) for start, stop in facts]
        newer = f"{self.by_newer}: {self.newer}"
        tokens = pair_tokens(tokenizer(), name + self.older, newer, spans)
        return tokens, labels[: len(tokens.spans) - 1]


def pairs(*, judged: bool = False) -> list[Pair]:
    """Return the labelled pairs."""
    return [_pair(name, row) for name, row in rows("changes", judged=judged)]


def neighbours() -> Iterator[Pair]:
    """Yield messages of people with each of those before them: most talk ends nothing."""
    for name, row in rows("turns"):
        said = [each for each in row["messages"] if each["by"] != "assistant"]
        texts = ["".join(each["parts"]) for each in said]
        for newer, each in enumerate(said):
            for older in range(max(0, newer - _BEFORE), newer):
                names = said[older]["by"], each["by"]
                yield Pair(texts[older], texts[newer], *names, [], row["lang"], name)


def _pair(name: str, row: dict[str, Any]) -> Pair:
    older = row["older"]
    ended = [(at := older.find(part), at + len(part)) for part in row["ended"]]
    names = row["by_older"], row["by_newer"]
    return Pair(older, row["newer"], *names, ended, row["lang"], name)


def varied(known: Sequence[Pair], random: np.random.Generator) -> Iterator[Pair]:
    """Yield the pairs, some of them changed so that their labels still hold."""
    by_language = defaultdict[str, list[Pair]](list)
    for each in known:
        by_language[each.language].append(each)
    for each in known:
        others = by_language[each.language]
        other, chance = others[int(random.integers(len(others)))], random.random()
        gap = "\n" if random.random() < 0.3 else (" " if each.language == "en" else "")
        if chance < _REPEATED:
            yield replace(each, newer=each.older, by_newer=each.by_older or "user", ended=[])
        elif chance < _REPEATED + _UNRELATED and other.older != each.older:
            yield replace(each, newer=other.newer, by_newer=other.by_newer, ended=[])
        elif chance < _REPEATED + _UNRELATED + _LONGER and other.older != each.older:
            first = random.random() < 0.5
            older = other.older + gap + each.older if first else each.older + gap + other.older
            shift = len(other.older + gap) if first else 0
            ended = [(start + shift, stop + shift) for start, stop in each.ended]
            yield replace(each, older=older, ended=ended)
        else:
            yield each


class Net(nn.Module):
    """The adapted layers, the pooling of facts, and the head that compares them."""

    def __init__(self, encoder: Encoder) -> None:
        """Adapt all layers."""
        super().__init__()
        self.layers, self.pooling = adapted_layers(encoder.layers, _RANK), Pooling(HIDDEN, 0.2)
        self.ends, self.ends_out = nn.Linear(2 * FEATURES, 64), nn.Linear(64, 1)
        self._encoder = [encoder]  # its weights are not trained

    def forward(self, texts: Sequence[Tokens]) -> list[Tensor]:
        """Return for each pair the logits that its facts are ended."""
        state, mask = self._encoder[0].embedded([each.ids for each in texts])
        with torch.autocast("cpu", torch.bfloat16):
            for layer in self.layers:
                state = layer(state, mask)
        spans = [(row, *span) for row, each in enumerate(texts) for span in each.spans]
        pairs = self.pooling(state.float(), spans).split([len(each.spans) for each in texts])
        both = [torch.cat([own[:-1], own[-1:].expand(len(own) - 1, -1)], 1) for own in pairs]
        logits = self.ends_out(functional.relu(self.ends(torch.cat(both))))[:, 0]
        return list(logits.split([len(own) - 1 for own in pairs]))


def train(net: Net, epochs: Sequence[Sequence[Pair]], seed: int = 1) -> Net:
    """Train on the pairs of each epoch."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    adapters = [each for each in net.layers.parameters() if each.requires_grad]
    heads = [each for name, each in net.named_parameters() if not name.startswith("layers.")]
    optimizer = torch.optim.AdamW(
        [{"params": adapters, "weight_decay": 0.05}, {"params": heads, "weight_decay": 0.05}]
    )
    batches = [-(-len(known) // _BATCH) for known in epochs]
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, [_ADAPTER_RATE, _HEAD_RATE], total_steps=sum(batches), pct_start=0.1
    )
    for epoch, known in enumerate(epochs):
        read = [each.read() for each in varied(known, random)]
        # Texts of about one length together; the batches in any order.
        noise = random.normal(0, 8, len(read))
        order = np.argsort([len(tokens.ids) for tokens, _ in read] + noise)
        total = 0.0
        net.train()
        for start in random.permutation(range(0, len(read), _BATCH)):
            some = [read[at] for at in order[start : start + _BATCH]]
            labels = torch.tensor([label for _, own in some for label in own])
            wanted = labels * (1 - _SMOOTHING) + _SMOOTHING / 2
            logits = torch.cat(net([each for each, _ in some]))
            loss = functional.binary_cross_entropy_with_logits(logits, wanted, reduction="sum")
            loss = loss / _BATCH
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total / batches[epoch]:.3f}", flush=True)
    return net.eval()


def _further(known: Sequence[Pair], names: Sequence[str]) -> Iterator[list[Pair]]:
    """Yield the pairs of further epochs."""
    random = np.random.default_rng(1)
    for _ in range(_FURTHER_EPOCHS):
        yield [
            each
            for each in known
            if any(name in each.writer for name in names) or random.random() < _AGAIN
        ]


def _average(net: Net, before: Learned) -> None:
    """Move the weights half the way back to those ``before``."""
    after = [each.clone() for each in net.parameters()]
    restore(net, before)
    with torch.no_grad():
        for each, other in zip(net.parameters(), after, strict=True):
            each.add_(other).div_(2)


def report(net: Net, known: Sequence[Pair]) -> None:
    """Print how well pairs that the model has not seen are judged, by their files."""
    answers: list[tuple[Pair, list[int], np.ndarray]] = []
    with torch.no_grad():
        for each in known:
            tokens, labels = each.read()
            (logits,) = net([tokens])
            answers.append((each, labels, logits.sigmoid().numpy()))
    for writer in sorted({each.writer for each in known}):
        own = [each for each in answers if each[0].writer == writer]
        for least in (0.25, 0.5, 0.7):
            right = wrong = missed = exact = 0
            for pair, labels, likely in own:
                found = (likely > least).astype(int).tolist()
                right += bool(pair.ended) and any(found)
                wrong += not pair.ended and any(found)
                missed += bool(pair.ended) and not any(found)
                exact += bool(pair.ended) and found == labels
            f1 = 2 * right / max(1, 2 * right + wrong + missed)
            print(
                f"  {writer} at {least}: F1 {f1:.3f} (right {right}, wrong {wrong}, missed "
                f"{missed}); exactly these facts {exact / max(1, right):.3f}",
                flush=True,
            )


def main() -> None:
    """Train and write the weights, or check how well what was not seen is judged."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--further", metavar="NAMES")
    chosen = parser.parse_args()
    known, judged, net = [*pairs(), *neighbours()], pairs(judged=True), Net(Encoder())
    if chosen.check:
        left = [each for each in known if any(name in each.writer for name in _LEFT_OUT)]
        report(train(net, [[each for each in known if each not in left]] * _EPOCHS), left)
    elif chosen.further:
        restore(net, change_model.weights())
        train(net, list(_further(known, chosen.further.split(","))))
        _average(net, change_model.weights())
        export(net, _OUTPUT)
    else:
        export(train(net, [known] * _EPOCHS), _OUTPUT)
    print("judged on what another writer labelled:")
    report(net, judged)


if __name__ == "__main__":
    main()
