"""Export an agent as one archive, and import it."""

from typing import IO

from memci.broker.wakeup import Wakeups
from memci.domain.job import JobKind, JobSource
from memci.errors import InvalidInputError
from memci.language.redaction import kinds_of, redact_message
from memci.queue.mailbox import NewJob, free, insert_job, lock_lane
from memci.schemas.archive import ArchiveManifest, ImportAnswer
from memci.storage.agents import redaction_of
from memci.storage.archive import import_rows
from memci.storage.archive.export import write_archive
from memci.storage.archive.reading import open_archive
from memci.storage.page_store.port import PageStore
from memci.storage.reading.messages import list_messages
from memci.storage.session import Connection, Database


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
    redact: str = "",
) -> ImportAnswer:
    """Create an agent from an archive, all or nothing; ``agent_id`` may differ from the archive's.

    ``redact`` is what placeholders replace in messages of agents that do not say it.

    Raises ``InvalidInputError`` for an invalid archive, ``ConflictError`` when the agent has data
    already, ``ErasedError`` when a message was erased from it for good, and ``PageStoreError`` when
    texts of notes cannot be stored.
    """
    with open_archive(file, max_bytes=max_bytes) as archive:
        with database.agent_transaction(agent_id) as connection:
            lock_lane(connection, agent_id)
            import_rows.lock_empty_agent(connection, agent_id)
            rows = import_rows.insert_archive(connection, agent_id, archive)
            _check_redacted(connection, agent_id, redact)
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


_AT_ONCE = 500


def _check_redacted(connection: Connection, agent_id: str, default: str) -> None:
    """Raise ``InvalidInputError`` for messages that would have been redacted.

    Memories were made of them, so placeholders in the messages alone would hide nothing.
    """
    kinds = kinds_of(redaction_of(connection, agent_id, default))
    after, more = 0, bool(kinds)
    while more:
        rows = list_messages(connection, agent_id, session_id=None, after=after, limit=_AT_ONCE)
        more = bool(rows)
        for message, *_ in rows:
            _, counts = redact_message(message, kinds)
            if counts:
                found = ", ".join(f"{kind} {count}" for kind, count in counts.items())
                raise InvalidInputError(
                    f"message {message.seq} of the archive has values that this server redacts"
                    f" ({found}): import it with the parameter redact empty, or send its messages"
                )
            after = message.seq
