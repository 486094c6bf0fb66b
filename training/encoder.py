"""The built-in embedder in torch, to adapt it: its layers, and changes of low rank.

LoRA: Hu and others, 2021.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentencepiece import SentencePieceProcessor
from torch import Tensor, nn
from torch.nn import functional

from memci.smallmodel.offline.e5_files import package_file
from memci.smallmodel.offline.e5_graph import ADAPTED, Weights, tokenizer_model
from memci.smallmodel.offline.sentence_model import FEATURES, Learned

_SCALE = 2.0  # of the changes of layers


@cache
def tokenizer() -> Any:
    """Return the embedder's tokenizer."""
    content = tokenizer_model(Weights.read(package_file()))
    return SentencePieceProcessor(model_proto=content)


class Layer(nn.Module):
    """A layer of the embedder, without dropout."""

    def __init__(self, weights: Weights, name: str) -> None:
        """Take the layer whose tensors begin with ``name``."""
        super().__init__()
        hidden = weights.hidden

        def floats(part: str, *shape: int) -> Tensor:
            found = np.array(weights.tensors[name + part].floats(), dtype=np.float32)
            return torch.from_numpy(found).reshape(shape or (-1,))

        def linear(*parts: str) -> nn.Linear:
            bias = torch.cat([floats(f"{part}.b") for part in parts])
            table = torch.cat([floats(f"{part}.w").reshape(-1) for part in parts])
            made = nn.Linear(len(table) // len(bias), len(bias))
            made.load_state_dict({"weight": table.reshape(len(bias), -1), "bias": bias})
            return made

        def norm(part: str) -> nn.LayerNorm:
            made = nn.LayerNorm(hidden, eps=weights.epsilon)
            made.load_state_dict({"weight": floats(f"{part}.w"), "bias": floats(f"{part}.b")})
            return made

        self.heads, self.size = weights.heads, hidden // weights.heads
        self.qkv, self.ao = linear("q", "k", "v"), linear("ao")
        self.fi, self.fo = linear("fi"), linear("fo")
        self.aln, self.oln = norm("aln"), norm("oln")

    def forward(self, state: Tensor, mask: Tensor) -> Tensor:
        """Return the next state, shape (n, tokens, d); ``mask``: True where there is a token."""
        many, length, hidden = state.shape
        parts = self.qkv(state).reshape(many, length, 3, self.heads, self.size)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        # Not ``scaled_dot_product_attention``, whose gradient takes as long as all else on a CPU.
        heat = query @ key.transpose(2, 3) / self.size**0.5
        seen = heat.masked_fill(~mask[:, None, None, :], -1e9).softmax(-1).to(value.dtype) @ value
        seen = seen.transpose(1, 2).reshape(many, length, hidden)
        state = self.aln(state + self.ao(seen))
        return self.oln(state + self.fo(functional.gelu(self.fi(state))))


class Adapted(nn.Module):
    """A linear layer with a change of low rank."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        """Keep ``base`` as it is; ``rank``: of the change."""
        super().__init__()
        self.base = base.requires_grad_(requires_grad=False)
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, state: Tensor) -> Tensor:
        """Return what the changed layer gives."""
        changed = (
            self.base.weight + _SCALE * self.up @ self.down
        )  # faster than the sum of two results
        return functional.linear(state, changed, self.base.bias)


def adapted_layers(layers: Sequence[Layer], rank: int) -> nn.ModuleList:
    """Return copies of layers of which only the changes are trained."""
    found = nn.ModuleList(copy.deepcopy(each) for each in layers)
    for layer in found:
        layer.requires_grad_(requires_grad=False)
        for name in ADAPTED:
            setattr(layer, name, Adapted(getattr(layer, name), rank))
    return found


def _adapters_of(layers: nn.Module) -> dict[str, Tensor]:
    """Return the changes by name."""
    found = {}
    for at, layer in enumerate(layers.children()):
        for name in ADAPTED:
            adapted = getattr(layer, name)
            found[f"l{at}.{name}.down"], found[f"l{at}.{name}.up"] = adapted.down, adapted.up
    return found


def padded(states: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return states of texts as one tensor, and where they have tokens."""
    length = max(map(len, states))
    found = torch.zeros(len(states), length, states[0].shape[-1])
    mask = torch.zeros(len(states), length, dtype=torch.bool)
    for row, state in enumerate(states):
        found[row, : len(state)], mask[row, : len(state)] = state.float(), True
    return found, mask


class Pooling(nn.Module):
    """Features of sentences: what heads of attention heed in each, and the mean of its tokens."""

    def __init__(self, dropout: float) -> None:
        """Take the share of features that is left out while it is trained."""
        super().__init__()
        self.query = nn.Linear(384, 4)
        self.value, self.mean = nn.Linear(384, FEATURES // 2), nn.Linear(384, FEATURES // 2)
        self.dropout = nn.Dropout(dropout)

    def forward(self, state: Tensor, spans: Sequence[tuple[int, int, int]]) -> Tensor:
        """Return the features, shape (len(spans), 256).

        ``spans``: the row of ``state``, shape (rows, tokens, d), and [start, stop) of its tokens.
        """
        width = max(stop - start for _, start, stop in spans)
        places = torch.tensor([[start] * width for _, start, _ in spans]) + torch.arange(width)
        inside = places < torch.tensor([[stop] for _, _, stop in spans])
        places = places.clamp(max=state.shape[1] - 1)
        found = self.dropout(state[torch.tensor([[row] for row, _, _ in spans]), places] * 2)
        attention = self.query(found).masked_fill(~inside[..., None], -1e9).softmax(1)
        pooled = torch.einsum("bta,btd->bad", attention, found)
        mean = (found * inside[..., None]).sum(1) / inside.sum(1, keepdim=True)
        parts = [functional.relu(self.value(pooled)).mean(1), functional.relu(self.mean(mean))]
        return self.dropout(torch.cat(parts, 1))


class Encoder:
    """The embedder: its table of tokens, and its layers."""

    def __init__(self) -> None:
        """Read the packaged weights."""
        weights = Weights.read(package_file())

        def table(name: str) -> Tensor:
            values = np.array(weights.tensors[name].floats(), dtype=np.float32)
            return torch.from_numpy(values).reshape(-1, weights.hidden)

        self._words, self._places = table("emb.word"), table("emb.pos")
        self._kind = table("emb.type")[0]
        self._norm = nn.LayerNorm(weights.hidden, eps=weights.epsilon).requires_grad_(
            requires_grad=False
        )
        scale, shift = table("emb.ln.w")[0], table("emb.ln.b")[0]
        self._norm.load_state_dict({"weight": scale, "bias": shift})
        self.layers = [Layer(weights, f"l{at}.") for at in range(weights.layers)]

    def embedded(self, texts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Return the state before the first layer, and where it has tokens."""
        ids = [torch.tensor(each) for each in texts]
        found, mask = padded([self._words[each] + self._places[: len(each)] for each in ids])
        return self._norm(found + self._kind), mask


def _arrays(net: nn.Module) -> dict[str, Tensor]:
    """Return the changes of ``net.layers``, and its heads, by name."""
    arrays = _adapters_of(net.get_submodule("layers"))
    for name, head in net.named_modules():
        if isinstance(head, nn.Linear) and not name.startswith("layers."):
            arrays[f"{name}.w"], arrays[f"{name}.b"] = head.weight, head.bias
    return arrays


def export(net: nn.Module, path: Path) -> None:
    """Write the changes of ``net.layers``, and its heads, in half precision."""
    halves: dict[str, Any] = {
        name: (each * _scale(name)).detach().numpy().astype(np.float16)
        for name, each in _arrays(net).items()
    }
    np.savez_compressed(path, **halves)


def restore(net: nn.Module, learned: Learned) -> None:
    """Read what ``export`` wrote."""
    with torch.no_grad():
        for name, each in _arrays(net).items():
            each.copy_(torch.from_numpy(learned[name]) / _scale(name))


def _scale(name: str) -> float:
    """Return what an array is multiplied with where it is used."""
    return _SCALE if name.endswith(".up") else 1.0
