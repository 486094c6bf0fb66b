"""Documents, of an agent and of a collection."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Unpack
from urllib.parse import quote

from memci.client.exchange import Flow, Pause, ask, exchange, form_of
from memci.client.files import unreadable
from memci.client.options import DocumentOptions
from memci.client.verbs.agent_requests import Asking, Habits
from memci.domain.documents import DocumentState, collection_owner
from memci.errors import InvalidInputError, UnavailableError
from memci.schemas.documents import DocumentAnswer, DocumentList, DocumentOut, DocumentsRemoved

_POLL_S = 0.2
_SENDING_S = 300.0
_REMOVING_S = 300.0


class DocumentVerbs(Asking):
    """Takes documents in, lists and removes them."""

    def add_document(self, name: str, content: bytes | str) -> Flow[DocumentAnswer]:
        """Hand over a document under a name whose ending says how it is read: ``guide.md``.

        One of the same name is replaced. It is found when workers have read it: ``wait_document``.
        """
        body, kind = form_of(name, content.encode() if isinstance(content, str) else content)
        request = exchange("POST", f"{self._path}/documents", extra_timeout_s=_SENDING_S)
        sent = replace(request, body=body, headers={"Content-Type": kind})
        return ask(sent, DocumentAnswer, self._habits.retries)

    def add_file(self, path: Path | str, *, name: str | None = None) -> Flow[DocumentAnswer]:
        """Hand over a file, under its own name or another.

        Raises ``InvalidInputError`` for a file that cannot be read.
        """
        source = Path(path)
        try:
            content = source.read_bytes()
        except OSError as error:
            raise InvalidInputError(unreadable(source, error), field="path") from None
        return self.add_document(name or source.name, content)

    def documents(self, **options: Unpack[DocumentOptions]) -> Flow[DocumentList]:
        """List documents by id, with how far each is."""
        return self._get("/documents", DocumentList, options)

    def document(self, document_id: int) -> Flow[DocumentOut]:
        """Return one document, and how far it is."""
        return self._get(f"/documents/{document_id}", DocumentOut)

    def remove_document(self, document_id: int) -> Flow[DocumentsRemoved]:
        """Remove one document for good."""
        return self._remove(f"/documents/{document_id}", {})

    def remove_documents(self, prefix: str) -> Flow[DocumentsRemoved]:
        """Remove for good all documents whose names begin so; with an empty prefix, all."""
        return self._remove("/documents", {"prefix": prefix})

    def wait_document(self, document_id: int, *, timeout_s: float = 60.0) -> Flow[DocumentOut]:
        """Return a document as soon as all of it can be found, or it was refused: see ``state``.

        Raises ``UnavailableError`` after ``timeout_s``.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            found = yield from self.document(document_id)
            if found.state in {DocumentState.READY, DocumentState.FAILED}:
                return found
            if time.monotonic() > deadline:
                raise UnavailableError(
                    f"document {found.name} is still {found.state.value} after {timeout_s:g} s;"
                    " do workers run?"
                )
            yield Pause(_POLL_S)

    def _remove(self, path: str, params: dict[str, str]) -> Flow[DocumentsRemoved]:
        request = exchange(
            "DELETE",
            self._path + path,
            params=params,
            extra_timeout_s=_REMOVING_S,
            repeatable=bool(params),  # a document that is removed twice was there once
        )
        return ask(request, DocumentsRemoved, self._habits.retries)


class CollectionVerbs(DocumentVerbs):
    """What can be asked about one collection."""

    def __init__(self, name: str, habits: Habits) -> None:
        """Take the collection's name, or raise ``InvalidInputError``."""
        collection_owner(name)
        self.id = name
        self._path = f"/v1/collections/{quote(name, safe='')}"
        self._habits = habits
