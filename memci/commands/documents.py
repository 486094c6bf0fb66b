"""Take documents in, and remove them (R9)."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from uuid import uuid4

from memci.broker.wakeup import Wakeups
from memci.domain.documents import DocumentState, NewDocument, check_name, is_collection, nobody
from memci.domain.job import JobKind, JobSource
from memci.errors import InvalidInputError, NotFoundError, TooLargeError
from memci.queue.mailbox import NewJob, insert_job, lock_lane, unlock_lane
from memci.schemas.documents import DocumentAnswer, DocumentsRemoved
from memci.storage.agents import is_there
from memci.storage.documents import (
    document_by_id,
    document_by_name,
    is_collection_there,
    keep_document,
    next_named,
    remove_documents,
)
from memci.storage.session import Connection, Database

# Documents removed in one transaction: the lane is locked meanwhile.
_AT_ONCE = 50
_NO_DOCUMENT = "there is no such document; it may have been removed already"


def new_document(name: str, body: bytes, *, max_bytes: int) -> NewDocument:
    """Return a file to be taken in.

    Raises ``InvalidInputError`` for a wrong name or nothing at all, and ``TooLargeError``.
    """
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
    tokens: Wakeups,
    owner: str,
    new: NewDocument,
    *,
    traceparent: str | None = None,
) -> DocumentAnswer:
    """Store a file, for a job to read it; the same content again is stored once.

    What has failed is tried again. A document of that name is replaced, and found as it was until
    the new content has been read.
    """
    with database.agent_transaction(owner) as connection:
        woken, _ = lock_lane(connection, owner)
        held = document_by_name(connection, owner, new.name)
        failed = held is not None and held.state is DocumentState.FAILED
        if held is not None and held.digest == new.digest and not failed:
            unlock_lane(connection, owner, woken=woken)
            return DocumentAnswer(**asdict(held), unchanged=True)
        job_id = uuid4()
        document_id = keep_document(connection, owner, new, held.id if held else None, job_id)
        payload = {"document": document_id}
        job = NewJob(
            owner, JobKind.INDEX_DOCUMENT, JobSource.HTTP, job_id, payload=payload,
            traceparent=traceparent,
        )  # fmt: skip
        insert_job(connection, job)
        kept = document_by_id(connection, owner, document_id)
    tokens.wake_lane(owner)
    if kept is None:
        raise NotFoundError(_NO_DOCUMENT)
    return DocumentAnswer(**asdict(kept), unchanged=False)


def remove(database: Database, owner: str, document_id: int) -> DocumentsRemoved:
    """Remove one document for good, or raise ``NotFoundError``."""
    with database.agent_transaction(owner) as connection:
        woken = _lock(connection, owner)
        documents, chunks = remove_documents(connection, owner, [document_id])
        if not documents:
            raise NotFoundError(_NO_DOCUMENT)
        unlock_lane(connection, owner, woken=woken)
    return DocumentsRemoved(documents=documents, chunks=chunks)


def remove_named(database: Database, owner: str, prefix: str) -> DocumentsRemoved:
    """Remove for good all documents whose names begin so, those that are there now."""
    documents = chunks = 0
    while True:
        with database.agent_transaction(owner) as connection:
            woken = _lock(connection, owner)
            ids = next_named(connection, owner, prefix, _AT_ONCE)
            removed = remove_documents(connection, owner, ids)
            unlock_lane(connection, owner, woken=woken)
        documents, chunks = documents + removed[0], chunks + removed[1]
        if len(ids) < _AT_ONCE:
            return DocumentsRemoved(documents=documents, chunks=chunks)


def _lock(connection: Connection, owner: str) -> bool:
    """Lock the lane of somebody who is there; whoever is not gets none."""
    there = is_collection_there if is_collection(owner) else is_there
    if not there(connection, owner):
        raise nobody(owner)
    woken, _ = lock_lane(connection, owner)
    return woken
