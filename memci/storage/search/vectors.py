"""Vectors as values of halfvec columns, and the embedder that made them.

Each vector is stored with its model's name and has its model's dimension. One row names the model
in use; other models are refused until all vectors are recomputed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from memci.errors import WrongEmbedderError

# Shape (n, dimension), unit length rows.
Vectors: TypeAlias = npt.NDArray[np.float32]


def to_text(vectors: Vectors) -> list[str]:
    """Return each row as pgvector reads it; five digits are more than a halfvec keeps."""
    pattern = "[" + ",".join(["%.5g"] * vectors.shape[1]) + "]"
    return [pattern % tuple(row) for row in vectors.astype(np.float16).tolist()]


def as_stored(vectors: Vectors) -> Vectors:
    """Return unit vectors as they will be read back, so that a rebuilt network sees the same."""
    return from_arrays(vectors.astype(np.float16).astype(np.float32))


def from_arrays(rows: Sequence[Sequence[float]] | Vectors) -> Vectors:
    """Return the rows of ``embedding::real[]`` as vectors of unit length again."""
    vectors = np.asarray(rows, dtype=np.float32)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.maximum(norms, np.finfo(np.float32).tiny)
    return unit


_CLAIM = """
INSERT INTO vector_model (model, dimension) VALUES (%s, %s) ON CONFLICT DO NOTHING
"""
_IN_USE = "SELECT model, dimension, change, changed_at FROM vector_model"
_CHANGE = """
INSERT INTO vector_model (model, dimension) VALUES (%(model)s, %(dimension)s)
ON CONFLICT (only_one) DO UPDATE
SET model = excluded.model, dimension = excluded.dimension, change = vector_model.change + 1,
    changed_at = now()
WHERE (vector_model.model, vector_model.dimension) <> (excluded.model, excluded.dimension)
"""


@dataclass(frozen=True, slots=True)
class VectorModel:
    """The name of an embedder, and the dimension of its vectors."""

    name: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.name} ({self.dimension} numbers)"


@dataclass(frozen=True, slots=True)
class ModelInUse:
    """The model in use, and how often the model was changed."""

    model: VectorModel
    change: int
    changed_at: datetime


def held_model(connection: Connection) -> ModelInUse | None:
    """Return the model in use; None for a database without vectors."""
    row = connection.exec_driver_sql(_IN_USE).first()
    return None if row is None else ModelInUse(VectorModel(row[0], row[1]), row[2], row[3])


def claim_model(connection: Connection, model: VectorModel) -> None:
    """Use this model if none is in use; raises ``WrongEmbedderError`` for another one."""
    connection.exec_driver_sql(_CLAIM, (model.name, model.dimension))
    check_model(connection, model)


def check_model(connection: Connection, model: VectorModel) -> None:
    """Raise ``WrongEmbedderError`` when another model is in use."""
    in_use = held_model(connection)
    if in_use is not None and in_use.model != model:
        raise WrongEmbedderError(
            f"the vectors in this database were made by {in_use.model}, and"
            f" MEMCI_MODELS__EMBEDDER__MODEL names {model}: set it back, or run"
            " `memci db reembed` with the new setting and then start the workers again"
        )


def change_model(connection: Connection, model: VectorModel) -> ModelInUse:
    """Use this model from now on; vectors of others must be recomputed."""
    connection.exec_driver_sql(_CHANGE, {"model": model.name, "dimension": model.dimension})
    row = connection.exec_driver_sql(_IN_USE).one()
    return ModelInUse(VectorModel(row[0], row[1]), row[2], row[3])
