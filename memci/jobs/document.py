"""``memci.document.index``: a document is read, cut into chunks, and those can be found (R9).

The first job reads the file, in a process of its own, and indexes the first bite of its chunks;
each job queues the next in its own effect, so other jobs of the lane come between them, and a
worker that dies loses one bite. A file that cannot be read makes no job dead: its document says
why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memci.domain.documents import Chunk, searched_text
from memci.domain.job import Job, JobKind
from memci.errors import UnreadableDocumentError
from memci.extraction.blocks import ExtractionLimits
from memci.extraction.isolated import extract
from memci.jobs.message_texts import VectorGuard
from memci.queue.mailbox import NewJob, insert_job
from memci.queue.runner import Effect
from memci.smallmodel.ports import Vectors
from memci.smallmodel.registry import SmallModels
from memci.storage.documents import (
    WaitingFile,
    index_chunks,
    is_waiting,
    name_job,
    refuse,
    replace_chunks,
    waiting_chunks,
    waiting_file,
)
from memci.storage.search_index import Embedded, Terms
from memci.storage.session import Connection, Database

# Chunks in one job: some seconds of MiniLM on one core.
BITE = 128


class DocumentIndexing:
    """Reads what waits of a document, or indexes its next chunks."""

    kind = JobKind.INDEX_DOCUMENT
    triggers_compression = False

    def __init__(
        self,
        database: Database,
        models: SmallModels,
        limits: ExtractionLimits,
        *,
        bite: int = BITE,
    ) -> None:
        """Take the limits of one file, and how many chunks one job embeds."""
        self._database = database
        self._models = models
        self._limits = limits
        self._bite = bite
        self._guard = VectorGuard(database, models.embedder)

    def prepare(self, job: Job) -> Effect:
        """Read the file if nobody has yet, and embed chunks."""
        owner, document_id = job.agent_id, int(job.payload["document"])
        with self._database.agent_snapshot(owner) as connection:
            self._guard.check(connection)
            file = waiting_file(connection, owner, document_id)
            waiting = {} if file else waiting_chunks(connection, owner, document_id, self._bite)
        if file is None:
            texts = self._texts(list(waiting.values()))
            return _Next(owner, document_id, job, list(waiting), texts)
        try:
            chunks = extract(file.name, file.body, self._limits)
        except UnreadableDocumentError as error:
            return _Refusal(owner, document_id, file.digest, str(error))
        first = [
            searched_text(file.name, each.shown_path, each.text) for each in chunks[: self._bite]
        ]
        return _First(owner, document_id, job, file, chunks, self._texts(first))

    def _texts(self, texts: Sequence[str]) -> _Texts:
        embedder, lexicon = self._models.embedder, self._models.lexicon
        terms = [Terms(Counter(lexicon.terms(each))) for each in texts]
        return _Texts(embedder.embed(texts), terms, embedder.model)


@dataclass(frozen=True, slots=True)
class _Texts:
    """Vectors and terms of some chunks, in their order."""

    vectors: Vectors
    terms: Sequence[Terms]
    model: str

    def index(
        self, connection: Connection, owner: str, document_id: int, ids: Sequence[int]
    ) -> int | None:
        embedded = Embedded(ids, self.vectors, self.model)
        terms = dict(zip(ids, self.terms, strict=True))
        return index_chunks(connection, owner, document_id, embedded, terms)


@dataclass(frozen=True, slots=True)
class _Refusal:
    owner: str
    document_id: int
    digest: str
    error: str

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        if not is_waiting(connection, self.owner, self.document_id, self.digest):
            return {"document": self.document_id, "outdated": True}
        refuse(connection, self.owner, self.document_id, self.error)
        return {"document": self.document_id, "refused": True}


@dataclass(frozen=True, slots=True)
class _First:
    owner: str
    document_id: int
    job: Job
    file: WaitingFile
    chunks: Sequence[Chunk]
    texts: _Texts

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        # Other bytes came meanwhile, and their job comes after this one; or the document is gone.
        if not is_waiting(connection, self.owner, self.document_id, self.file.digest):
            return {"document": self.document_id, "outdated": True}
        ids = replace_chunks(connection, self.owner, self.document_id, self.chunks)
        first = ids[: len(self.texts.terms)]
        left = self.texts.index(connection, self.owner, self.document_id, first)
        return _go_on(connection, self.job, self.document_id, len(first), left)


@dataclass(frozen=True, slots=True)
class _Next:
    owner: str
    document_id: int
    job: Job
    ids: Sequence[int]
    texts: _Texts

    def __call__(self, connection: Connection) -> Mapping[str, Any]:
        left = self.texts.index(connection, self.owner, self.document_id, self.ids)
        return _go_on(connection, self.job, self.document_id, len(self.ids), left)


def _go_on(
    connection: Connection, job: Job, document_id: int, indexed: int, left: int | None
) -> Mapping[str, Any]:
    """Queue the next bite, if there is one and this job has not come for nothing."""
    if left and indexed:
        payload = {"document": document_id}
        following = NewJob(job.agent_id, JobKind.INDEX_DOCUMENT, payload=payload)
        insert_job(connection, following)
        name_job(connection, job.agent_id, document_id, following.id)
    return {"document": document_id, "indexed": indexed, "left": left or 0}
