"""Export an agent as one archive, and import it."""

from typing import IO

from memci.broker.wakeup import Wakeups
from memci.domain.job import JobKind, JobSource
from memci.queue.mailbox import NewJob, free, insert_job, lock_lane
from memci.schemas.archive import ArchiveManifest, ImportAnswer
from memci.storage.archive import import_rows
from memci.storage.archive.export import write_archive
from memci.storage.archive.reading import open_archive
from memci.storage.page_store.port import PageStore
from memci.storage.session import Database


def export(database: Database, store: PageStore, agent_id: str, file: IO[bytes]) -> ArchiveManifest:
    """Write an archive of an agent from one snapshot.

    Raises ``NotFoundError``, ``PageStoreError``, and ``ConflictError`` when a note has no text.
    """
    with database.agent_snapshot(agent_id) as connection:
        return write_archive(connection, store, agent_id, file)


def run(
    database: Database,
    store: PageStore,
    wakeups: Wakeups,
    agent_id: str,
    file: IO[bytes],
    *,
    max_bytes: int,
) -> ImportAnswer:
    """Create an agent from an archive, all or nothing; ``agent_id`` may differ from the archive's.

    Raises ``InvalidInputError`` for an invalid archive, ``ConflictError`` when the agent has data
    already, ``ErasedError`` when a message was erased from it for good, and ``PageStoreError`` when
    texts of notes cannot be stored.
    """
    with open_archive(file, max_bytes=max_bytes) as archive:
        with database.agent_transaction(agent_id) as connection:
            lock_lane(connection, agent_id)
            import_rows.lock_empty_agent(connection, agent_id)
            rows = import_rows.insert_archive(connection, agent_id, archive)
            reembed_job_id = None
            if import_rows.has_other_vectors(connection, agent_id):
                job = NewJob(agent_id, JobKind.REEMBED, JobSource.REEMBED)
                insert_job(connection, job)
                reembed_job_id = job.id
            queued = import_rows.count_queued_jobs(connection, agent_id)
            # As after a job: the queued work determines the wakeups.
            freed = free(connection, agent_id)
            import_rows.save_note_texts(connection, store, agent_id, archive)
        from_agent_id = archive.manifest.agent_id
    freed.publish(wakeups, agent_id)
    return ImportAnswer(
        agent_id=agent_id,
        from_agent_id=from_agent_id,
        rows=rows,
        queued=queued,
        reembed_job_id=reembed_job_id,
    )
