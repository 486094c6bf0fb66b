"""Documents in a real database; tests run the jobs that index them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from memci.commands import documents
from memci.domain.documents import Chunk, NewDocument, searched_text
from memci.domain.job import Job, JobKind
from memci.extraction.blocks import ExtractionLimits
from memci.jobs.index import DocumentIndexing
from memci.queue.mailbox import lock_lane
from memci.schemas.documents import DocumentAnswer
from memci.storage.documents import index_chunks, keep_document, replace_chunks
from memci.storage.search.index import Embedded
from memci.storage.session import Connection, Database
from tests.support.archives import RecordedWakeups
from tests.support.models import ScriptedModels

_WAITING = """
SELECT agent_id, id, ordinal, kind, payload, source, first_seq, last_seq, attempts, started,
       traceparent FROM job WHERE agent_id = %s AND state = 'queued' AND kind = %s ORDER BY ordinal
"""


def new(name: str, text: str | bytes) -> NewDocument:
    body = text if isinstance(text, bytes) else text.encode()
    return NewDocument(name, body, hashlib.sha256(body).hexdigest())


class Shelf:
    """The documents of one owner."""

    def __init__(self, database: Database, owner: str = "ada", *, bite: int = 128) -> None:
        self.database = database
        self.owner = owner
        self.models: Any = ScriptedModels()
        self.handler = DocumentIndexing(database, self.models, ExtractionLimits(), batch=bite)

    def add(self, name: str, text: str | bytes) -> DocumentAnswer:
        wakeups: Any = RecordedWakeups()
        return documents.add(self.database, wakeups, self.owner, new(name, text))

    def run(self, most: int = 1_000) -> int:
        """Run queued jobs and those that follow from them; return their number."""
        done = 0
        while done < most and (waiting := self.waiting()):
            self.finish(waiting[0], self.handler.prepare(waiting[0]))
            done += 1
        return done

    def waiting(self) -> list[Job]:
        with self.database.lane_transaction() as connection:
            rows = connection.exec_driver_sql(_WAITING, (self.owner, JobKind.INDEX_DOCUMENT))
            return [Job(**row._mapping) for row in rows]

    def finish(self, job: Job, effect: Any) -> Any:
        with self.database.agent_transaction(self.owner) as connection:
            lock_lane(connection, self.owner)
            done = effect(connection)
            connection.exec_driver_sql("UPDATE job SET state = 'done' WHERE id = %s", (job.id,))
        return done

    def rows(self, statement: str, *values: Any) -> list[Any]:
        with self.database.agent_snapshot(self.owner) as connection:
            return list(connection.exec_driver_sql(statement, (self.owner, *values)))

    def texts(self) -> list[str]:
        return [
            row[0] for row in self.rows("SELECT text FROM chunk WHERE agent_id = %s ORDER BY id")
        ]

    def counters(self) -> tuple[int, int, int]:
        """The counters of the lane: documents, searchable chunks, and their terms."""
        ((documents_, chunks, terms),) = self.rows(
            "SELECT documents, indexed_chunks, chunk_terms FROM lane WHERE agent_id = %s"
        )
        return documents_, chunks, terms

    def counted(self) -> tuple[int, int, int]:
        """The same numbers, counted in the tables."""
        ((found,),) = self.rows("SELECT count(*) FROM document WHERE agent_id = %s")
        ((chunks, terms),) = self.rows(
            "SELECT count(*), coalesce(sum(length), 0)::bigint FROM ("
            "SELECT DISTINCT chunk_id, length FROM chunk_term WHERE agent_id = %s) AS each"
        )
        return found, chunks, terms


def put(connection: Connection, owner: str, name: str, chunks: Sequence[Chunk], models: Any) -> int:
    """Store a document with searchable chunks; the lane must exist."""
    document = keep_document(connection, owner, new(name, name), None, uuid4())
    ids = replace_chunks(connection, owner, document, chunks)
    texts = [searched_text(name, each.shown_path, each.text) for each in chunks]
    terms = {key: Counter(models.lexicon.terms(text)) for key, text in zip(ids, texts, strict=True)}
    embedded = Embedded(ids, models.embedder.embed(texts), models.embedder.model)
    index_chunks(connection, owner, document, embedded, terms)
    return document
