"""Workers whose vectors would not fit the database's do not start: said before they try."""

from __future__ import annotations

from memci.config import Settings
from memci.smallmodel.registry import build_small_models
from memci.storage.session import Database
from memci.storage.vector_model import VectorModel, check_model


def check_embedder(settings: Settings, database_url: str) -> None:
    """Raise ``WrongEmbedderError``, which says what to do."""
    embedder = build_small_models(settings).embedder
    database = Database(database_url)
    try:
        with database.lane_transaction() as connection:
            check_model(connection, VectorModel(embedder.model, embedder.dimension))
    finally:
        database.close()
