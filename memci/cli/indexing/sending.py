"""Sending what is new, and removing what is gone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from memci.cli.indexing.finding import Found
from memci.cli.indexing.leaving import gone_of
from memci.client import Agent, Collection
from memci.domain.documents.document import DocumentState, check_name
from memci.errors import InvalidInputError, NotFoundError
from memci.shapes.documents import DocumentOut

Where: TypeAlias = Agent | Collection
_LISTED = 500


@dataclass(slots=True)
class Sent:
    """What was done, by names; ``refused`` and ``failed`` say why, ``waiting`` are document ids.

    ``tried_again``: what workers have refused before, and has not changed.
    """

    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    tried_again: list[str] = field(default_factory=list)
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    waiting: dict[int, str] = field(default_factory=dict)


def documents_of(where: Where, prefix: str = "") -> Iterator[DocumentOut]:
    """Yield all documents whose names begin so; none, where there is nobody yet."""
    cursor: str | None = None
    try:
        while True:
            page = where.documents(prefix=prefix, cursor=cursor, limit=_LISTED)
            yield from page.documents
            cursor = page.next_cursor
            if cursor is None:
                return
    except NotFoundError:
        return


def has_documents(where: Where, prefix: str) -> bool:
    """Tell whether there is a document whose name begins so."""
    return next(documents_of(where, prefix), None) is not None


def send(where: Where, found: Found, on_progress: Callable[[str], None]) -> Sent:
    """Send files whose content is not there yet; one that is refused stops no other.

    Documents below the named folders that have no file any more are removed; of a file that cannot
    be read now the document stays. Raises ``InvalidInputError`` where all of a folder's would go.
    """
    sent = Sent()
    held = {each.name: each for each in documents_of(where)}
    gone = gone_of(held, found)
    for name, path in found.files.items():
        on_progress(name)
        try:
            body = path.read_bytes()
            known = held.get(check_name(name))
            same = known is not None and known.digest == hashlib.sha256(body).hexdigest()
            if known is not None and same and known.state is not DocumentState.FAILED:
                sent.unchanged += 1
                if known.state is not DocumentState.READY:
                    sent.waiting[known.id] = name
                continue
            kept = where.add_document(name, body)
        except (InvalidInputError, OSError) as error:
            sent.refused[name] = str(error)
            continue
        told = sent.new if known is None else sent.tried_again if same else sent.changed
        told.append(name)
        sent.waiting[kept.id] = name
    for name in gone:
        _remove(where, held[name])
        sent.removed.append(name)
    return sent


def wait(
    where: Where, sent: Sent, timeout_s: float, on_progress: Callable[[str], None]
) -> list[DocumentOut]:
    """Wait until workers are done with what was sent; note what they have refused."""
    done = []
    for document_id, name in sent.waiting.items():
        on_progress(name)
        ended = where.wait_document(document_id, timeout_s=timeout_s)
        done.append(ended)
        if ended.state is DocumentState.FAILED:
            sent.failed[name] = ended.error or "the workers' logs say why"
    return done


def _remove(where: Where, document: DocumentOut) -> None:
    try:
        where.remove_document(document.id)
    except NotFoundError:
        return  # somebody else has
