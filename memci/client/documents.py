"""Documents of an agent and of a collection."""

import time
from pathlib import Path
from typing import Unpack

from memci.client.agent_state import POLL_S
from memci.client.archive_files import unreadable
from memci.client.keyword_arguments import DocumentOptions
from memci.client.method import Methods, TransportT, method
from memci.client.requests import Flow, Pause, form_of
from memci.domain.documents import DocumentState
from memci.errors import InvalidInputError, UnavailableError
from memci.schemas.documents import DocumentAnswer, DocumentList, DocumentOut, DocumentsRemoved


class DocumentMethods(Methods[TransportT]):
    """Adds, lists and removes documents of an agent or a collection."""

    @method
    def add_document(self, name: str, content: bytes | str) -> Flow[DocumentAnswer]:
        """Add a document under a name with an ending that says its format, such as ``guide.md``.

        A document of the same name is replaced. ``wait_document`` waits until workers have read it.
        """
        return self._add(name, content.encode() if isinstance(content, str) else content)

    @method
    def add_file(self, path: Path | str, *, name: str | None = None) -> Flow[DocumentAnswer]:
        """Add a file, under its own name or another.

        Raises ``InvalidInputError`` for a file that cannot be read.
        """
        source = Path(path)
        try:
            content = source.read_bytes()
        except OSError as error:
            raise InvalidInputError(unreadable(source, error), field="path") from None
        return self._add(name or source.name, content)

    @method
    def documents(self, **options: Unpack[DocumentOptions]) -> Flow[DocumentList]:
        """List documents by id, with their states."""
        return self._get("/documents", DocumentList, options)

    @method
    def document(self, document_id: int) -> Flow[DocumentOut]:
        """Return one document and its state."""
        return self._get(f"/documents/{document_id}", DocumentOut)

    @method
    def remove_document(self, document_id: int) -> Flow[DocumentsRemoved]:
        """Remove one document for good."""
        path = f"/documents/{document_id}"
        # A second request would not find it.
        return self._fetch_slowly("DELETE", path, DocumentsRemoved, repeatable=False)

    @method
    def remove_documents(self, prefix: str) -> Flow[DocumentsRemoved]:
        """Remove for good all documents whose names begin with ``prefix``; empty: all."""
        params = {"prefix": prefix}
        return self._fetch_slowly("DELETE", "/documents", DocumentsRemoved, params=params)

    @method
    def wait_document(self, document_id: int, *, timeout_s: float = 60.0) -> Flow[DocumentOut]:
        """Return a document as soon as it can be found, or has failed: see ``state``.

        Raises ``UnavailableError`` after ``timeout_s``.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            found = yield from self._get(f"/documents/{document_id}", DocumentOut)
            if found.state in {DocumentState.READY, DocumentState.FAILED}:
                return found
            if time.monotonic() > deadline:
                raise UnavailableError(
                    f"document {found.name} is still {found.state.value} after {timeout_s:g} s;"
                    " do workers run?"
                )
            yield Pause(POLL_S)

    def _add(self, name: str, content: bytes) -> Flow[DocumentAnswer]:
        body, content_type = form_of(name, content)
        headers = {"Content-Type": content_type}
        return self._fetch_slowly("POST", "/documents", DocumentAnswer, body=body, headers=headers)
