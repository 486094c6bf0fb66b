"""Nobody writes vectors that cannot be compared with those that are there."""

from __future__ import annotations

from memci.smallmodel.ports import Embedder
from memci.storage.session import Connection, Database
from memci.storage.vector_model import VectorModel, check_model, claim_model, held_model


class VectorGuard:
    """Compares the embedder of this process with the one in use, which may change at any time.

    A job that was begun under one model ends before its agent's vectors are made anew, since a
    lane does one thing at a time: so it is enough to look when a job is prepared.
    """

    def __init__(self, database: Database, embedder: Embedder) -> None:
        """Take the embedder that this process writes with."""
        self._database = database
        self._embedder = embedder

    def check(self, connection: Connection) -> None:
        """Raise ``WrongEmbedderError`` if it is not the one in use; the first ever is taken."""
        if held_model(connection) is None:
            self.claim()
        else:
            check_model(connection, self._model)

    def claim(self) -> None:
        """Take it into use if there is none; ``WrongEmbedderError`` if there is another."""
        with self._database.lane_transaction() as connection:
            claim_model(connection, self._model)

    @property
    def _model(self) -> VectorModel:
        return VectorModel(self._embedder.model, self._embedder.dimension)
