"""Trains what memci reads in a sentence: key messages, types, worth, and where a topic ends.

The model is two small layers on states of the built-in embedder, with small heads. Training needs
torch; the product computes it with ONNX Runtime.

    python -m training.sentence_model [--check]

writes the weights. With ``--check`` it only trains without each kind of writer, and prints how well
such a model labels the sentences of that kind. Conversations are left out by turns, whoever wrote
them.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from memci.language.sentences import sentence_spans
from memci.smallmodel.offline import sentence_model
from memci.smallmodel.offline.e5_graph import HEAD_SIZE, READ
from memci.smallmodel.offline.sentence_model import (
    KEYS,
    SEAM_FEATURES,
    SEEN_AFTER,
    SEEN_BEFORE,
    SPEAKERS,
    TYPES,
    WORTHS,
    Tokens,
    tokens_of,
)
from training.encoder import EPSILON, HIDDEN, Encoder, Layer, Pooling, export, padded, tokenizer

_DATA = Path(__file__).parent / "sentences"
OUTPUT = Path(sentence_model.__file__).parent / "data" / sentence_model.FILE
# Who wrote a file, and what about; a check leaves out one kind in both languages.
_WRITERS = ("work", "life", "mixed", "tech", "wide")
_FOLDS = len(_WRITERS)
_LAYERS, _HIDDEN, _WIDE, _DROPOUT = 2, 256, 512, 0.15
_EPOCHS = 10
_BATCH = 32
_RATE = 1e-3
_TALKS = 6  # conversations in one step
_JOINED = 0.3  # of the conversations are followed by another one
_SMOOTHING = 0.05
_UNKNOWN = -100  # torch leaves it out
_NAMES = ("Ann", "Tom", "Priya", "Max", "Oma", "小李", "老王", "陈晨", "妈妈", "Yuki")

Label: TypeAlias = tuple[int, int, int]  # places in KEYS, TYPES and WORTHS


@dataclass
class Example:
    """A message with its sentences; ``labels`` or ``cuts`` are known."""

    tokens: Tokens
    speaker: int
    fold: int
    language: str
    labels: Sequence[Label] = ()
    cuts: Sequence[int] = ()  # between neighbouring sentences: 1 if the topic changes
    states: Tensor | None = None  # that the model reads


@dataclass
class Talk:
    """Messages of a conversation; of each after the first: 1 if it begins another topic."""

    messages: list[Example]
    begins: list[int]
    same: list[bool]  # whether it has the speaker of the one before

    def followed_by(self, other: Talk) -> Talk:
        """Return both conversations, one after the other."""
        return Talk(
            [*self.messages, *other.messages],
            [*self.begins, 1, *other.begins],
            [*self.same, False, *other.same],
        )


def rows(kind: str, *, judged: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the lines of all files of a kind with the names of the files."""
    for path in sorted(_DATA.glob(f"*_{kind}.jsonl")):
        if path.name.startswith("judged_") == judged:
            for line in path.read_text("utf-8").splitlines():
                yield path.name, json.loads(line)


def _fold_of(name: str) -> int:
    return next((at for at, each in enumerate(_WRITERS) if each in name), 0)


def _label(row: dict[str, Any]) -> Label:
    known = ("key", KEYS), ("type", TYPES), ("worth", WORTHS)
    key, kind, worth = (
        names.index(row[name]) if name in row else _UNKNOWN for name, names in known
    )
    return key, kind, worth


def _message(texts: Sequence[str], language: str, random: np.random.Generator) -> tuple[str, list]:
    """Join sentences to a message; return it with their spans."""
    message, spans = "", []
    for text in texts:
        if message:
            closed = message[-1] in ".!?。！？…"
            blank = " " if language == "en" else ""
            message += blank if closed and random.random() > 0.2 else "\n"
        spans.append((len(message), len(message) + len(text)))
        message += text
    return message, spans


def labelled(random: np.random.Generator, *, judged: bool = False) -> list[Example]:
    """Return the labelled sentences alone, and, to learn from, in messages of several."""
    found, groups = [], {}
    for name, row in rows("sentences", judged=judged):
        alone = [(0, len(row["text"]))]
        found.append(_example(name, row, row["text"], alone, [_label(row)], random))
        groups.setdefault((name, row["by"]), []).append(row)
    if judged:
        return found
    for (name, _), group in groups.items():
        left = [group[at] for at in random.permutation(len(group))]
        while len(left) > 1:
            size = int(random.integers(2, 5))
            some, left = left[:size], left[size:]
            text, spans = _message([each["text"] for each in some], some[0]["lang"], random)
            found.append(_example(name, some[0], text, spans, [*map(_label, some)], random))
    return found


def _example(
    name: str, row: dict[str, Any], text: str, spans: list, labels: list[Label], random: Any
) -> Example:
    speaker = ""
    if row["by"] == "person" and random.random() < 0.5:
        speaker = f"{_NAMES[int(random.integers(len(_NAMES)))]}: "
    spans = [(start + len(speaker), stop + len(speaker)) for start, stop in spans]
    spans[0] = (0, spans[0][1])
    tokens = tokens_of(tokenizer(), speaker + text, spans)
    return Example(tokens, SPEAKERS.index(row["by"]), _fold_of(name), row["lang"], labels)


def cut_messages(random: np.random.Generator) -> list[Example]:
    """Return the messages whose topics are known, with two or more sentences.

    To learn from, messages of one topic are also joined with others.
    """
    found, whole = [], defaultdict[tuple[str, str, int], list[str]](list)
    for at, (_, row) in enumerate(rows("segments")):
        found += _cut_message(row["parts"], row["by"], row["lang"], at % _FOLDS)
        if len(row["parts"]) == 1:
            whole[row["lang"], row["by"], at % _FOLDS] += row["parts"]
    for (language, speaker, fold), texts in whole.items():
        left = [texts[at] for at in random.permutation(len(texts))]
        while len(left) > 1:
            size = int(random.integers(2, 4))
            some, left = left[:size], left[size:]
            blanks = ("\n", "\n\n", " " if language == "en" else "")
            parts = [each + blanks[int(random.integers(3))] for each in some[:-1]]
            found += _cut_message([*parts, some[-1]], speaker, language, fold)
    return found


def _cut_message(parts: Sequence[str], speaker: str, language: str, fold: int) -> Iterator[Example]:
    example = _said("", parts, speaker, language, fold)
    if example.cuts:
        yield example


def _said(name: str, parts: Sequence[str], speaker: str, language: str, fold: int) -> Example:
    text = "".join(parts)
    spans = sentence_spans(text)
    ends = np.cumsum([len("".join(part.split())) for part in parts])
    shifted = [(start + len(name), stop + len(name)) for start, stop in spans]
    shifted[0] = (0, shifted[0][1])
    tokens = tokens_of(tokenizer(), name + text, shifted)
    read = spans[1 : len(tokens.spans)]
    cuts = [int(len("".join(text[:start].split())) in ends) for start, _ in read]
    return Example(tokens, SPEAKERS.index(speaker), fold, language, cuts=cuts)


def talks() -> list[Talk]:
    """Return the conversations whose topics are known."""
    found = []
    for at, (_, row) in enumerate(rows("turns")):
        messages = []
        for each in row["messages"]:
            named = each["by"] not in SPEAKERS
            name, speaker = (f"{each['by']}: ", "person") if named else ("", each["by"])
            messages.append(_said(name, each["parts"], speaker, row["lang"], at % _FOLDS))
        speakers = [each["by"] for each in row["messages"]]
        same = [one == other for one, other in pairwise(speakers)]
        found.append(Talk(messages, [int(each["new"]) for each in row["messages"][1:]], same))
    return found


def compute_states(examples: Sequence[Example]) -> None:
    """Compute the embedder's states that the model reads."""
    encoder = Encoder()
    ordered = sorted(examples, key=lambda each: len(each.tokens.ids))
    with torch.no_grad():
        for at in range(0, len(ordered), _BATCH):
            some = ordered[at : at + _BATCH]
            state, mask = encoder.embedded([each.tokens.ids for each in some])
            after = [state := layer(state, mask) for layer in encoder.layers]
            read = torch.cat([after[each - 1] for each in READ], 2).half()
            for row, each in enumerate(some):
                each.states = read[row, : len(each.tokens.ids)]


class Net(nn.Module):
    """The layers, the pooling of sentences, and the heads."""

    def __init__(self) -> None:
        """Begin with nothing learned."""
        super().__init__()
        self.entry = nn.Linear(len(READ) * HIDDEN, _HIDDEN)
        self.norm = nn.LayerNorm(_HIDDEN, eps=EPSILON)
        self.layers = nn.ModuleList(
            Layer(_HIDDEN, _WIDE, _HIDDEN // HEAD_SIZE, _DROPOUT) for _ in range(_LAYERS)
        )
        self.pooling, self.dropout = Pooling(_HIDDEN, 0.3), nn.Dropout(_DROPOUT)
        self.key = nn.Linear(256 + len(SPEAKERS), len(KEYS))
        self.kind = nn.Linear(256 + len(SPEAKERS), len(TYPES))
        self.worth = nn.Linear(256 + len(SPEAKERS), len(WORTHS))
        self.seam, self.seam_out = nn.Linear(SEAM_FEATURES, 64), nn.Linear(64, 1)

    def forward(self, examples: Sequence[Example]) -> Tensor:
        """Return the features of all sentences, shape (n, 256)."""
        state, mask = padded([each.states for each in examples])
        state = self.norm(self.entry(self.dropout(state)))
        for layer in self.layers:
            state = layer(state, mask)
        spans = [(row, *span) for row, each in enumerate(examples) for span in each.tokens.spans]
        found: Tensor = self.pooling(state, spans)
        return found

    def answers(self, examples: Sequence[Example]) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:
        """Return the logits of key, type and worth of all sentences, and of the cuts."""
        features = self(examples)
        many = [len(each.tokens.spans) for each in examples]
        speakers = torch.tensor([each.speaker for each in examples]).repeat_interleave(
            torch.tensor(many)
        )
        spoken = torch.cat([features, functional.one_hot(speakers, len(SPEAKERS)).float()], 1)
        parts = features.split(many)
        cuts = [self._changes(own) for own in parts]
        return self.key(spoken), self.kind(spoken), self.worth(spoken), cuts

    def turns(self, talk: Talk) -> tuple[Tensor, list[Tensor]]:
        """Return the logits of the seams between messages, and of those inside each."""
        parts = self(talk.messages).split([len(each.tokens.spans) for each in talk.messages])
        between = [
            self._seam(torch.cat(parts[max(0, at - SEEN_BEFORE) : at]), parts[at], 0.0, float(same))
            for at, same in enumerate(talk.same, 1)
        ]
        return _stacked(between), [self._changes(own) for own in parts]

    def _changes(self, own: Tensor) -> Tensor:
        """Return the logits of the seams between the sentences of a message."""
        return _stacked([self._seam(own[:at], own[at:], 1.0, 1.0) for at in range(1, len(own))])

    def _seam(self, before: Tensor, after: Tensor, inside: float, same: float) -> Tensor:
        first, then = before.mean(0), after[:SEEN_AFTER].mean(0)
        parts = [first, before[-1], after[0], then, first * then, torch.tensor([inside, same])]
        return self.seam_out(functional.relu(self.seam(torch.cat(parts))))[0]


def _stacked(logits: list[Tensor]) -> Tensor:
    return torch.stack(logits) if logits else torch.zeros(0)


def _loss(net: Net, examples: Sequence[Example]) -> Tensor:
    answers = net.answers(examples)
    many = [len(each.tokens.spans) for each in examples]
    loss = torch.zeros(())
    for at, share in enumerate((1.0, 0.5, 0.5)):
        for each, logits in zip(examples, answers[at].split(many), strict=True):
            if each.labels:
                wanted = torch.tensor([label[at] for label in each.labels])
                loss = loss + share * functional.cross_entropy(
                    logits, wanted, label_smoothing=_SMOOTHING, reduction="sum"
                )
    for each, logits in zip(examples, answers[3], strict=True):
        if each.cuts:
            loss = loss + _seam_loss(logits, each.cuts)
    return loss / _BATCH


def _seam_loss(logits: Tensor, changes: Sequence[int]) -> Tensor:
    wanted = torch.tensor(changes) * (1 - _SMOOTHING) + _SMOOTHING / 2
    return functional.binary_cross_entropy_with_logits(logits, wanted, reduction="sum")


def _talk_loss(net: Net, some: Sequence[Talk]) -> Tensor:
    loss = torch.zeros(())
    for talk in some:
        between, inside = net.turns(talk)
        loss = loss + _seam_loss(between, talk.begins)
        for logits, each in zip(inside, talk.messages, strict=True):
            if each.cuts:
                loss = loss + _seam_loss(logits, each.cuts)
    return loss / _BATCH


def _joined(known: Sequence[Talk], random: np.random.Generator) -> list[Talk]:
    """Return the conversations in any order, some of them as one."""
    left = [known[at] for at in random.permutation(len(known))]
    found = []
    while left:
        talk = left.pop()
        if left and random.random() < _JOINED and _language(talk) == _language(left[-1]):
            talk = talk.followed_by(left.pop())
        found.append(talk)
    return found


def _language(talk: Talk) -> str:
    return talk.messages[0].language


def train(examples: Sequence[Example], known: Sequence[Talk], seed: int = 1) -> Net:
    """Train on examples and conversations whose states are computed."""
    torch.manual_seed(seed)
    net, random = Net(), np.random.default_rng(seed)
    optimizer = torch.optim.AdamW(net.parameters(), weight_decay=0.05)
    batches = -(-len(examples) // _BATCH) + -(-len(known) // _TALKS)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, _RATE, total_steps=_EPOCHS * batches, pct_start=0.1
    )
    for epoch in range(_EPOCHS):
        # Texts of about one length together; the batches in any order.
        noise = random.normal(0, 3, len(examples))
        order = np.argsort([len(each.tokens.ids) for each in examples] + noise)
        batched: list[list[Any]] = [
            [examples[at] for at in order[start : start + _BATCH]]
            for start in range(0, len(examples), _BATCH)
        ]
        longer = _joined(known, random)
        batched += [longer[at : at + _TALKS] for at in range(0, len(longer), _TALKS)]
        total = 0.0
        net.train()
        for at in random.permutation(len(batched)):
            some = batched[at]
            loss = (_talk_loss if isinstance(some[0], Talk) else _loss)(net, some)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total / batches:.3f}", flush=True)
    return net.eval()


def _f1(true: np.ndarray, found: np.ndarray) -> float:
    right = int((true & found).sum())
    return 2 * right / max(1, int(true.sum() + found.sum()))


def report(net: Net, examples: Sequence[Example]) -> None:
    """Print how well sentences that the model has not seen are labelled, by language."""
    answers: list[tuple[Example, list[np.ndarray]]] = []
    with torch.no_grad():
        for each in examples:
            key, kind, worth, cuts = net.answers([each])
            likely = key.softmax(1)
            # As the product decides.
            kinds = torch.where(likely[:, 0] > 0.6, 0, likely[:, 1:].argmax(1) + 1)
            parts = [kinds.numpy(), kind.argmax(1).numpy(), worth.argmax(1).numpy()]
            answers.append((each, [*parts, (cuts[0] > 0).numpy()]))
    for language in ("en", "zh"):
        own = [(each, found) for each, found in answers if each.language == language]
        asked = [(e, f) for e, f in own if e.labels and SPEAKERS[e.speaker] == "user"]
        true = np.array([label[0] for each, _ in asked for label in each.labels])
        found = np.array([at for _, found in asked for at in found[0]])
        both = (true > 0) & (found > 0)
        line = [f"key F1 {_f1(true > 0, found > 0):.3f}, kind {(true == found)[both].mean():.3f}"]
        for at, name in ((1, "type"), (2, "worth")):
            right = [
                label[at] == got
                for each, found in own
                for label, got in zip(each.labels, found[at], strict=False)
                if label[at] != _UNKNOWN
            ]
            line.append(f"{name} {np.mean(right):.3f}")
        cuts = [(bool(t), bool(g)) for e, f in own for t, g in zip(e.cuts, f[3], strict=False)]
        if cuts:
            true, found = np.array(cuts).T
            line.append(f"cut F1 {_f1(true, found):.3f}")
        print(f"  {language}: {', '.join(line)}", flush=True)


def report_talks(net: Net, known: Sequence[Talk]) -> None:
    """Print how well topic changes between and inside messages are found, by language."""
    for language in ("en", "zh"):
        between, inside = [], []
        with torch.no_grad():
            for talk in known:
                if _language(talk) == language:
                    logits, own = net.turns(talk)
                    between += list(zip(talk.begins, (logits > 0).tolist(), strict=True))
                    for each, found in zip(talk.messages, own, strict=True):
                        inside += list(zip(each.cuts, (found > 0).tolist(), strict=True))
        f1 = [_f1(*np.array(each, dtype=bool).T) for each in (between, inside)]
        print(f"  {language}: topics between messages F1 {f1[0]:.3f}, inside {f1[1]:.3f}")


def main() -> None:
    """Train and write the weights, or check how well what was not seen is labelled."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", nargs="?", const=",".join(_WRITERS), default="")
    check = parser.parse_args().check
    random = np.random.default_rng(5)
    examples, judged = [*labelled(random), *cut_messages(random)], labelled(random, judged=True)
    known = talks()
    said = [message for talk in known for message in talk.messages]
    compute_states([*examples, *judged, *said])
    if not check:
        net = train(examples, known)
        export(net, OUTPUT)
        print("judged on what another writer labelled:")
        report(net, judged)
        return
    for name in check.split(","):
        fold = _WRITERS.index(name)
        left = [talk for talk in known if talk.messages[0].fold != fold]
        net = train([each for each in examples if each.fold != fold], left)
        print(f"without {name}:")
        report(net, [each for each in examples if each.fold == fold])
        report_talks(net, [talk for talk in known if talk.messages[0].fold == fold])


if __name__ == "__main__":
    main()
