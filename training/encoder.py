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
EPSILON = 1e-12  # of all norms
HIDDEN = 384  # numbers of a state


@cache
def tokenizer() -> Any:
    """Return the embedder's tokenizer."""
    content = tokenizer_model(Weights.read(package_file()))
    return SentencePieceProcessor(model_proto=content)


class Layer(nn.Module):
    """A layer of a transformer with the norms behind (Vaswani and others, 2017)."""

    def __init__(self, hidden: int, wide: int, heads: int, dropout: float = 0.0) -> None:
        """Begin with nothing learned; ``wide``: numbers between the two linear layers."""
        super().__init__()
        self.heads, self.size = heads, hidden // heads
        self.qkv, self.ao = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.fi, self.fo = nn.Linear(hidden, wide), nn.Linear(wide, hidden)
        self.aln, self.oln = (nn.LayerNorm(hidden, eps=EPSILON) for _ in range(2))
        self.dropout = nn.Dropout(dropout)

    @classmethod
    def packaged(cls, weights: Weights, name: str) -> Layer:
        """Return the layer of the embedder whose tensors begin with ``name``."""

        def floats(part: str) -> Tensor:
            found = [weights.tensors[name + each].floats() for each in part.split()]
            return torch.from_numpy(np.concatenate(found).astype(np.float32))

        made = cls(weights.hidden, len(floats("fi.b")), weights.heads)
        parts = {"qkv": "qkv", "ao": ["ao"], "fi": ["fi"], "fo": ["fo"]}
        parts |= {each: [each] for each in ("aln", "oln")}
        with torch.no_grad():
            for part, sources in parts.items():
                layer = made.get_submodule(part)
                for kind, values in (("w", layer.weight), ("b", layer.bias)):
                    stored = floats(" ".join(f"{each}.{kind}" for each in sources))
                    values.copy_(stored.reshape(values.shape))
        return made

    def forward(self, state: Tensor, mask: Tensor) -> Tensor:
        """Return the next state, shape (n, tokens, d); ``mask``: True where there is a token."""
        many, length, hidden = state.shape
        parts = self.qkv(state).reshape(many, length, 3, self.heads, self.size)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        # Not ``scaled_dot_product_attention``, whose gradient takes as long as all else on a CPU.
        heat = query @ key.transpose(2, 3) / self.size**0.5
        seen = heat.masked_fill(~mask[:, None, None, :], -1e9).softmax(-1).to(value.dtype) @ value
        seen = seen.transpose(1, 2).reshape(many, length, hidden)
        state = self.aln(state + self.dropout(self.ao(seen)))
        return self.oln(state + self.dropout(self.fo(functional.gelu(self.fi(state)))))


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

    def __init__(self, hidden: int, dropout: float) -> None:
        """Take the share of features that is left out while it is trained."""
        super().__init__()
        self.query = nn.Linear(hidden, 4)
        self.value, self.mean = (nn.Linear(hidden, FEATURES // 2) for _ in range(2))
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
        self.layers = [Layer.packaged(weights, f"l{at}.") for at in range(weights.layers)]

    def embedded(self, texts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Return the state before the first layer, and where it has tokens."""
        ids = [torch.tensor(each) for each in texts]
        found, mask = padded([self._words[each] + self._places[: len(each)] for each in ids])
        return self._norm(found + self._kind), mask


def _arrays(net: nn.Module) -> dict[str, Tensor]:
    """Return what is trained of a model, by name."""
    arrays = {}
    for name, part in net.named_modules():
        if isinstance(part, Adapted):
            arrays |= {f"{name}.down": part.down, f"{name}.up": part.up}
        elif isinstance(part, nn.Linear | nn.LayerNorm) and part.weight.requires_grad:
            arrays |= {f"{name}.w": part.weight, f"{name}.b": part.bias}
    return arrays


def export(net: nn.Module, path: Path) -> None:
    """Write what is trained of a model, in half precision."""
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
