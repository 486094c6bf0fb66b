"""Take another embedder into use: every vector is made anew by it."""

from __future__ import annotations

from dataclasses import dataclass

from memci.queue.network_jobs import (
    ReembeddingLeft,
    ask_agent_to_reembed,
    ask_agents_to_reembed,
    reembedding_left,
)
from memci.smallmodel.ports import Embedder
from memci.storage.session import Database
from memci.storage.vectors import HeldModel, VectorModel, change_model, held_model

# Agents in one transaction.
_BITE = 500


@dataclass(frozen=True, slots=True)
class Progress:
    """The model in use, None before the first vector, and for how many agents it has work."""

    held: HeldModel | None
    left: ReembeddingLeft


def is_in_use(database: Database, embedder: Embedder) -> bool:
    """Tell whether the vectors are made by this embedder already, or are about to be."""
    with database.upkeep_transaction() as connection:
        held = held_model(connection)
    return held is not None and held.model == VectorModel(embedder.model, embedder.dimension)


def run(database: Database, embedder: Embedder) -> int:
    """Use this embedder from now on, and queue the work; returns how many agents were asked.

    May run again, after a crash in its middle too: nobody is asked twice for one change.
    """
    model = VectorModel(embedder.model, embedder.dimension)
    with database.lane_transaction() as connection:
        change = change_model(connection, model).change
    asked, after = 0, ""
    while True:
        with database.lane_transaction() as connection:
            some = ask_agents_to_reembed(connection, change, after=after, most=_BITE)
        asked, after = asked + some.count, some.last
        for agent_id in some.erasing:
            with database.lane_transaction() as connection:
                asked += ask_agent_to_reembed(connection, change, agent_id)
        if not after:
            return asked


def progress(database: Database) -> Progress:
    """Return how far it is."""
    with database.upkeep_transaction() as connection:
        return Progress(held_model(connection), reembedding_left(connection))
