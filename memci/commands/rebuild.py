"""Rebuilds a network beside the current one (M24), or all vectors with another embedder."""

from dataclasses import dataclass, replace

from memci.broker.wakeup import Wakeups
from memci.domain.job import JobSource, JobState
from memci.domain.memory.network_edition import Edition, EditionState
from memci.errors import ConflictError, InvalidInputError, NotFoundError
from memci.queue import job_requests
from memci.queue.mailbox import lock_agent
from memci.schemas.network_editions import EditionAnswer
from memci.smallmodel.ports import Embedder
from memci.storage.agents import snapshot_of
from memci.storage.network import network_editions
from memci.storage.reading.snapshot_state import progress as progress_of_agent
from memci.storage.search.vectors import ModelInUse, VectorModel, change_model, held_model
from memci.storage.session import Connection, Database


def begin(
    database: Database, wakeups: Wakeups, agent_id: str, *, up_to_seq: int | None
) -> EditionAnswer:
    """Begin to rebuild, from all messages or from those up to a seq.

    Raises ``InvalidInputError`` for a seq after the last one, and ``ConflictError`` while there is
    a rebuilt network already.
    """
    with database.agent_transaction(agent_id) as connection:
        lock_agent(connection, agent_id)
        last = progress_of_agent(connection, agent_id).message_seq
        if up_to_seq is not None and up_to_seq > last:
            raise InvalidInputError(
                f"there is no message {up_to_seq}: the last one is {last}", field="up_to_seq"
            )
        existing = network_editions.open_edition(connection, agent_id)
        if existing is not None:
            raise ConflictError(
                f"there is a rebuilt network already (edition {existing.number}, {existing.state}):"
                " compare it with the current one, then switch to it or drop it"
            )
        cut_at = up_to_seq and network_editions.first_beyond(connection, agent_id, up_to_seq)
        edition = network_editions.begin_edition(
            connection,
            agent_id,
            begun_at=network_editions.end_of_log(connection, agent_id),
            up_to_seq=up_to_seq,
            cut_at=cut_at,
        )
        job_requests.request_rebuild_step(connection, agent_id, edition.number, JobSource.HTTP)
        answer = job_requests.edition_answer(connection, agent_id)
    wakeups.wake_lane(agent_id)
    return answer


def show(database: Database, agent_id: str) -> EditionAnswer:
    """Return the last rebuilt network; raises ``NotFoundError`` if there never was one."""
    with snapshot_of(database, agent_id) as connection:
        return job_requests.edition_answer(connection, agent_id)


def switch(database: Database, wakeups: Wakeups, agent_id: str) -> EditionAnswer:
    """Replace the current network by the rebuilt one, which must be ready; idempotent."""
    with database.agent_transaction(agent_id) as connection:
        edition = _lock_open_edition(connection, agent_id)
        job = job_requests.rebuild_step(connection, agent_id, edition.number)
        if job is not None and job.state is JobState.DEAD:
            raise ConflictError(
                f"its job {job.id} is dead: replay that job, or drop the rebuilt network"
            )
        if edition.state is EditionState.BUILDING:
            what = f"the rebuilt network (edition {edition.number})"
            raise ConflictError(
                f"{what} is not ready and no job works at it: drop it, and rebuild anew"
                if job is None
                else f"{what} is still being made: wait until it is ready, compare it with the"
                " current one, then switch to it"
            )
        switching = replace(edition, state=EditionState.SWITCHING)
        network_editions.save_edition(connection, agent_id, switching)
        if job is None:
            job_requests.request_rebuild_step(connection, agent_id, edition.number, JobSource.HTTP)
        answer = job_requests.edition_answer(connection, agent_id)
    wakeups.wake_lane(agent_id)
    return answer


def drop(database: Database, wakeups: Wakeups, agent_id: str) -> EditionAnswer:
    """Delete the rebuilt network; the current one is unchanged."""
    with database.agent_transaction(agent_id) as connection:
        edition = _lock_open_edition(connection, agent_id)
        network_editions.drop_edition(connection, agent_id, edition)
        answer = job_requests.edition_answer(connection, agent_id)
    # A worker that found the lane locked has given up.
    wakeups.wake_lane(agent_id)
    return answer


def _lock_open_edition(connection: Connection, agent_id: str) -> Edition:
    """Lock the lane and return the open edition, or raise ``NotFoundError``."""
    lock_agent(connection, agent_id)
    edition = network_editions.open_edition(connection, agent_id)
    if edition is None:
        raise NotFoundError("there is no rebuilt network: begin a rebuild first")
    return edition


_AT_ONCE = 500  # agents in one transaction


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a change of the embedder."""

    held: ModelInUse | None  # the model in use; None before the first vector
    left: job_requests.ReembeddingLeft


def is_in_use(database: Database, embedder: Embedder) -> bool:
    """Return True if this embedder is the model in use."""
    with database.upkeep_transaction() as connection:
        in_use = held_model(connection)
    return in_use is not None and in_use.model == VectorModel(embedder.model, embedder.dimension)


def run(database: Database, embedder: Embedder) -> int:
    """Use this embedder from now on; queue a job for each agent, return how many. Idempotent."""
    model = VectorModel(embedder.model, embedder.dimension)
    with database.lane_transaction() as connection:
        change = change_model(connection, model).change
    count, after = 0, ""
    while True:
        with database.lane_transaction() as connection:
            some = job_requests.request_reembedding(
                connection, change, after=after, max_agents=_AT_ONCE
            )
        count, after = count + some.count, some.last
        for agent_id in some.erasing:
            with database.lane_transaction() as connection:
                count += job_requests.request_reembedding_of(connection, change, agent_id)
        if not after:
            return count


def progress(database: Database) -> Progress:
    """Return how many agents still have vectors of another model."""
    with database.upkeep_transaction() as connection:
        return Progress(held_model(connection), job_requests.reembedding_left(connection))
