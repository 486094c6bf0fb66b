"""Rebuilds a network beside the current one (M24), or all vectors with another embedder."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memci.broker.wakeup import Wakeups
from memci.domain.job import JobSource, JobState
from memci.domain.memory.edition import Edition, EditionState
from memci.errors import ConflictError, InvalidInputError, NotFoundError
from memci.queue.job_requests import (
    ReembeddingLeft,
    edition_answer,
    rebuild_step,
    reembedding_left,
    request_rebuild_step,
    request_reembedding,
    request_reembedding_of,
)
from memci.queue.mailbox import lock_agent
from memci.schemas.editions import EditionAnswer
from memci.smallmodel.ports import Embedder
from memci.storage.agents import snapshot_of
from memci.storage.network.editions import (
    begin_edition,
    drop_edition,
    end_of_log,
    first_beyond,
    open_edition,
    save_edition,
)
from memci.storage.reading.snapshot_state import progress as progress_of_agent
from memci.storage.session import Connection, Database
from memci.storage.vectors import HeldModel, VectorModel, change_model, held_model


def begin(
    database: Database, tokens: Wakeups, agent_id: str, *, up_to_seq: int | None
) -> EditionAnswer:
    """Begin to rebuild; up to a seq, the network is made as it was with the messages up to it.

    Raises ``InvalidInputError`` for a seq after the last one, and ``ConflictError`` while there is
    a rebuilt network already.
    """
    with database.agent_transaction(agent_id) as connection:
        lock_agent(connection, agent_id)
        _check_seq(connection, agent_id, up_to_seq)
        there = open_edition(connection, agent_id)
        if there is not None:
            raise ConflictError(
                f"there is a rebuilt network already (edition {there.number}, {there.state}): "
                "compare it with the current one, then switch to it or drop it"
            )
        cut_at = None if up_to_seq is None else first_beyond(connection, agent_id, up_to_seq)
        edition = begin_edition(
            connection,
            agent_id,
            begun_at=end_of_log(connection, agent_id),
            up_to_seq=up_to_seq,
            cut_at=cut_at,
        )
        request_rebuild_step(connection, agent_id, edition.number, JobSource.HTTP)
        answer = edition_answer(connection, agent_id)
    tokens.wake_lane(agent_id)
    return answer


def show(database: Database, agent_id: str) -> EditionAnswer:
    """Tell of the last rebuilt network; ``NotFoundError``: there never was one."""
    with snapshot_of(database, agent_id) as connection:
        return edition_answer(connection, agent_id)


def switch(database: Database, tokens: Wakeups, agent_id: str) -> EditionAnswer:
    """Let the rebuilt network take the current one's place as soon as it has caught up.

    Asking twice is asking once. Raises ``ConflictError`` until it is ready.
    """
    with database.agent_transaction(agent_id) as connection:
        edition = _there(connection, agent_id)
        job = rebuild_step(connection, agent_id, edition.number)
        if job is not None and job.state is JobState.DEAD:
            raise ConflictError(
                f"its job {job.id} is dead: replay that job, or drop the rebuilt network"
            )
        if edition.state is EditionState.BUILDING:
            raise ConflictError(_not_ready(edition, works=job is not None))
        switching = replace(edition, state=EditionState.SWITCHING)
        save_edition(connection, agent_id, switching)
        if job is None:
            request_rebuild_step(connection, agent_id, edition.number, JobSource.HTTP)
        answer = edition_answer(connection, agent_id)
    tokens.wake_lane(agent_id)
    return answer


def drop(database: Database, tokens: Wakeups, agent_id: str) -> EditionAnswer:
    """Delete the rebuilt network; the current one stays as it is."""
    with database.agent_transaction(agent_id) as connection:
        edition = _there(connection, agent_id)
        drop_edition(connection, agent_id, edition)
        answer = edition_answer(connection, agent_id)
    # A worker that looked while the lane was locked has gone again.
    tokens.wake_lane(agent_id)
    return answer


def _check_seq(connection: Connection, agent_id: str, up_to_seq: int | None) -> None:
    last = progress_of_agent(connection, agent_id).message_seq
    if up_to_seq is not None and up_to_seq > last:
        raise InvalidInputError(
            f"there is no message {up_to_seq}: the last one is {last}", field="up_to_seq"
        )


def _not_ready(edition: Edition, *, works: bool) -> str:
    if works:
        return (
            f"the rebuilt network (edition {edition.number}) is still being made: wait until it is "
            "ready, compare it with the current one, then switch to it"
        )
    return (
        f"the rebuilt network (edition {edition.number}) is not ready and no job works at it: "
        "drop it, and rebuild anew"
    )


def _there(connection: Connection, agent_id: str) -> Edition:
    """Lock the lane and return the open edition, or raise ``NotFoundError``."""
    lock_agent(connection, agent_id)
    edition = open_edition(connection, agent_id)
    if edition is None:
        raise NotFoundError("there is no rebuilt network: begin a rebuild first")
    return edition


# Agents in one transaction.
_BATCH = 500


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
            some = request_reembedding(connection, change, after=after, max_agents=_BATCH)
        asked, after = asked + some.count, some.last
        for agent_id in some.erasing:
            with database.lane_transaction() as connection:
                asked += request_reembedding_of(connection, change, agent_id)
        if not after:
            return asked


def progress(database: Database) -> Progress:
    """Return how far it is."""
    with database.upkeep_transaction() as connection:
        return Progress(held_model(connection), reembedding_left(connection))
