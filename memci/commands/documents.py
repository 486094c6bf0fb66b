"""Stores documents and removes them (R9)."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from memci.broker.wakeup import Wakeups
from memci.domain.documents import DocumentState, NewDocument, check_name
from memci.domain.job import JobKind, JobSource
from memci.errors import InvalidInputError, NotFoundError, TooLargeError
from memci.queue.mailbox import NewJob, insert_job, lock_lane, unlock_lane
from memci.schemas.documents import DocumentAnswer, DocumentsRemoved
from memci.storage.documents import (
    check_owner_there,
    find_document,
    keep_document,
    next_named,
    remove_documents,
)
from memci.storage.key_usage import Charge, charge
from memci.storage.session import Connection, Database

# Documents removed in one transaction: the lane is locked meanwhile.
_AT_ONCE = 50
_NO_DOCUMENT = "there is no such document; it may have been removed already"


def new_document(name: str, body: bytes, *, max_bytes: int) -> NewDocument:
    """Return a file to be stored; raises ``InvalidInputError`` and ``TooLargeError``."""
    if len(body) > max_bytes:
        raise TooLargeError(
            f"expected a file of at most {max_bytes} bytes: split it, or raise "
            "MEMCI_HTTP_MAX_DOCUMENT_BYTES of the server"
        )
    if not body:
        raise InvalidInputError("the file is empty: there is nothing to find in it", field="file")
    return NewDocument(check_name(name), body, hashlib.sha256(body).hexdigest())


def add(
    database: Database,
    wakeups: Wakeups,
    owner: str,
    new: NewDocument,
    *,
    traceparent: str | None = None,
    paying: Charge | None = None,
) -> DocumentAnswer:
    """Store a file, and queue a job that reads it; the same content is stored once.

    A failed document is tried again. A document of the same name is replaced: searches find its old
    content until the new one has been read.
    """
    with database.agent_transaction(owner) as connection:
        charge(connection, paying, owner)  # before the lane is locked, which may create the agent
        woken, _ = lock_lane(connection, owner)
        current = find_document(connection, owner, new.name)
        failed = current is not None and current.state is DocumentState.FAILED
        if current is not None and current.digest == new.digest and not failed:
            unlock_lane(connection, owner, woken=woken)
            return DocumentAnswer(**dict(current), unchanged=True)
        replaced = current.bytes if current else 0
        charge(connection, paying, owner, size=len(new.body) - replaced)
        job_id = uuid4()
        document_id = keep_document(connection, owner, new, current.id if current else None, job_id)
        payload = {"document": document_id}
        job = NewJob(
            owner, JobKind.INDEX_DOCUMENT, JobSource.HTTP, job_id, payload=payload,
            traceparent=traceparent,
        )  # fmt: skip
        insert_job(connection, job)
        stored = find_document(connection, owner, document_id)
    wakeups.wake_lane(owner)
    if stored is None:
        raise NotFoundError(_NO_DOCUMENT)
    return DocumentAnswer(**dict(stored), unchanged=False)


def remove(database: Database, owner: str, document_id: int) -> DocumentsRemoved:
    """Remove one document for good, or raise ``NotFoundError``."""
    with _locked(database, owner) as connection:
        documents, chunks = remove_documents(connection, owner, [document_id])
        if not documents:
            raise NotFoundError(_NO_DOCUMENT)
    return DocumentsRemoved(documents=documents, chunks=chunks)


def remove_named(database: Database, owner: str, prefix: str) -> DocumentsRemoved:
    """Remove for good all present documents whose names begin with ``prefix``."""
    documents = chunks = 0
    while True:
        with _locked(database, owner) as connection:
            ids = next_named(connection, owner, prefix, _AT_ONCE)
            removed = remove_documents(connection, owner, ids)
        documents, chunks = documents + removed[0], chunks + removed[1]
        if len(ids) < _AT_ONCE:
            return DocumentsRemoved(documents=documents, chunks=chunks)


@contextmanager
def _locked(database: Database, owner: str) -> Iterator[Connection]:
    """Open a transaction with the lane of a known owner locked."""
    with database.agent_transaction(owner) as connection:
        check_owner_there(connection, owner)
        woken, _ = lock_lane(connection, owner)
        yield connection
        unlock_lane(connection, owner, woken=woken)
