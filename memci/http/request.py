"""Parses requests: body, query parameters, path parameters, uploads."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from difflib import get_close_matches
from tempfile import TemporaryFile
from typing import IO, Annotated, Any, TypeAlias, TypedDict
from uuid import UUID

from fastapi import Depends, Header, Path, Query
from pydantic import BaseModel, Field, ValidationError, WithJsonSchema
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.types import Receive
from starlette.types import Scope as Connection

from memci.api_keys import Scope, authorize
from memci.broker.names import ReadUse
from memci.domain.agent_id import AGENT_ID_PATTERN
from memci.domain.documents import collection_owner
from memci.domain.pages.window_text import Format
from memci.domain.strict_json import NotStrictError, decode
from memci.errors import InvalidInputError, TooLargeError, shown_name
from memci.http.documentation import problems
from memci.runtime import Runtime
from memci.schemas.base import ForeignId, Instant, Text, matching
from memci.schemas.documents import DocumentRequest
from memci.schemas.problems import describe_faults
from memci.schemas.reads import Fresh
from memci.storage.audit import AuditEntry


class MalformedError(InvalidInputError):
    """The body is not JSON."""


class MediaTypeError(InvalidInputError):
    """The body must be JSON: send it with 'Content-Type: application/json'."""


def parse_json(body: bytes) -> Any:
    """Parse UTF-8 JSON of RFC 8259, or raise ``MalformedError``."""
    try:
        return decode(body)
    except NotStrictError as error:
        raise MalformedError(f"the body {error}") from None


class Call(Request):
    """An authorized request, with the services for its endpoint."""

    def __init__(self, scope: Connection, receive: Receive, *, max_bytes: int) -> None:
        super().__init__(scope, receive)
        self._max_bytes = max_bytes
        self._bytes = b""
        self._parsed: Any = None

    async def read(self) -> None:
        """Read and parse the body, if there is one.

        Raises ``TooLargeError``, ``MediaTypeError`` or ``MalformedError``.
        """
        message = f"expected a body of at most {self._max_bytes} bytes; send several requests"
        chunks = limited_chunks(self, self._max_bytes, message)
        self._bytes = b"".join([chunk async for chunk in chunks])
        if self._bytes:
            kind = content_type(self)
            if kind != "application/json" and not re.fullmatch(r"application/.*\+json", kind):
                raise MediaTypeError
            self._parsed = parse_json(self._bytes)

    async def body(self) -> bytes:
        """Return the bytes that ``read`` has read."""
        return self._bytes

    async def json(self) -> Any:
        """Return the value that ``read`` has parsed."""
        return self._parsed

    @property
    def runtime(self) -> Runtime:
        """The services of this process."""
        runtime: Runtime = self.app.state.runtime
        return runtime

    def ask(self, use: ReadUse, agent_id: str, body: BaseModel | None) -> dict[str, Any]:
        """Let a context worker answer; raises as ``Reads.call``."""
        request = body.model_dump(mode="json", exclude_unset=True) if body else {}
        if self.state.traceparent is not None:
            request["traceparent"] = self.state.traceparent
        wait_ms = body.wait_ms if isinstance(body, Fresh) else 0
        return self.runtime.reads.call(use, agent_id, request, wait_ms=wait_ms)

    def check(self, needed: Scope) -> None:
        """Raise ``ForbiddenError`` if the key lacks a scope."""
        authorize(self.state.key, needed, None)

    def check_collections(self, names: Iterable[str]) -> None:
        """Raise ``ForbiddenError`` if the key may not read all of these collections."""
        for name in names:
            authorize(self.state.key, Scope.READ, collection_owner(name))


def audit_entry(request: Request, action: str) -> AuditEntry:
    """Return the entry of the audit log for an admitted request."""
    key, place = request.state.key, request.path_params
    named = ("name", "job_id", "webhook_id", "node_id")
    subject = next((place[each] for each in named if each in place), None)
    return AuditEntry(
        action,
        request.state.request_id,
        key and key.name,
        place.get("agent"),
        subject and str(subject),
    )


async def limited_chunks(
    request: Request, max_bytes: int, message: str
) -> AsyncGenerator[bytes, None]:
    """Yield the body; raises ``TooLargeError`` at once for a body over the limit."""
    announced = request.headers.get("content-length", "")
    size = 0
    if announced.isdecimal() and int(announced) > max_bytes:
        raise TooLargeError(message)
    async for chunk in request.stream():
        size += len(chunk)
        if size > max_bytes:
            raise TooLargeError(message)
        yield chunk


def content_type(request: Request) -> str:
    """Return the media type of the body, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def check_query(request: Request, known: Collection[str]) -> None:
    """Raise ``InvalidInputError`` for the first unknown parameter."""
    for name in request.query_params:
        if name not in known:
            nearest = get_close_matches(name, known, n=1)
            advice = f": this path takes {', '.join(sorted(known)) or 'none'}"
            if nearest:
                advice = f"; did you mean {nearest[0]}?"
            raise InvalidInputError(f"there is no such parameter{advice}", field=shown_name(name))


# The gate has checked it before any endpoint sees it; the pattern is for readers of the docs.
AgentId: TypeAlias = Annotated[str, Path(json_schema_extra={"pattern": f"^{AGENT_ID_PATTERN}$"})]
NodeId: TypeAlias = Annotated[int, Path(ge=0, le=2**63 - 1)]
ThingId: TypeAlias = Annotated[UUID, Path()]
Cursor: TypeAlias = Annotated[
    Annotated[Text, Field(max_length=512)] | None,
    Query(description="next_cursor of the page before; none for the first page"),
]
Limit: TypeAlias = Annotated[int, Query(ge=1, le=500)]


class ListPage(TypedDict):
    """The page of a list."""

    cursor: str | None
    limit: int


async def _page(cursor: Cursor = None, limit: Limit = 100) -> ListPage:
    return ListPage(cursor=cursor, limit=limit)


Page: TypeAlias = Annotated[ListPage, Depends(_page)]
AsOf: TypeAlias = Annotated[
    Instant | None,
    Query(description="What was believed then: ISO 8601, or an epoch number"),
]
SessionId: TypeAlias = Annotated[ForeignId | None, Query()]
WindowFormat: TypeAlias = Annotated[
    Format,
    Query(
        alias="format",
        description="How the window is written that the model sees: what fits, and tokens, are"
        " counted in it",
    ),
]
_KEY_PATTERN = r"^[\x21-\x7e]{1,255}$"

IdempotencyKey: TypeAlias = Annotated[
    Annotated[
        str,
        matching(_KEY_PATTERN, "1 to 255 visible ASCII characters, without blanks"),
        WithJsonSchema({"type": "string", "pattern": _KEY_PATTERN}),
    ]
    | None,
    Header(
        alias="Idempotency-Key",
        description="1 to 255 visible characters; the same key again gives the same answer, once",
    ),
]


ARCHIVE_TYPE = "application/zip"
_TYPES = frozenset({ARCHIVE_TYPE, "application/octet-stream"})


@asynccontextmanager
async def uploaded(call: Call, *, max_bytes: int) -> AsyncIterator[IO[bytes]]:
    """Open a temporary file with the body, at its beginning.

    Raises ``MediaTypeError`` and ``TooLargeError``.
    """
    if content_type(call) not in _TYPES:
        raise MediaTypeError(
            f"the body must be an archive: send it with 'Content-Type: {ARCHIVE_TYPE}'"
        )
    message = f"expected an archive of at most {max_bytes} bytes"
    with TemporaryFile() as file:
        async for chunk in limited_chunks(call, max_bytes, message):
            await run_in_threadpool(file.write, chunk)  # since disks make one wait
        file.seek(0)
        yield file


# Most bytes of a request beside its file: boundaries and heads of a form, escapes of JSON.
_OVERHEAD_BYTES = 64 * 1024
_MOST_FIELDS = 8


class DocumentForm(BaseModel):
    """A file as a document."""

    file: bytes
    name: str = Field("", description="Such as docs/guide.md (default: the file's)")


_REQUEST_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {"schema": DocumentForm.model_json_schema()},
            "application/json": {"schema": DocumentRequest.model_json_schema()},
        },
    }
}
# Of the routes that take a document: how to describe it, and its problems.
BODY: dict[str, Any] = {"openapi_extra": _REQUEST_BODY, "responses": problems(400, 413, 415)}


async def uploaded_document(call: Call, *, max_bytes: int) -> tuple[str, bytes]:
    """Return the name and the content of the document in a request.

    Raises ``MediaTypeError``, ``MalformedError``, ``InvalidInputError`` and ``TooLargeError``.
    """
    message = (
        f"expected a file of at most {max_bytes} bytes: split it, or raise"
        " MEMCI_HTTP_MAX_DOCUMENT_BYTES of the server"
    )
    chunks = limited_chunks(call, max_bytes + _OVERHEAD_BYTES, message)
    match content_type(call):
        case "application/json":
            body = b"".join([chunk async for chunk in chunks])
            try:
                request = DocumentRequest.model_validate(parse_json(body))
            except ValidationError as error:
                raise InvalidInputError(describe_faults(error, DocumentRequest)) from None
            return request.name, request.text.encode()
        case "multipart/form-data":
            return await _document_in_form(call, chunks)
    raise MediaTypeError(
        "the body must be a file, sent as multipart/form-data, or JSON with name and text, sent"
        " with 'Content-Type: application/json'"
    )


async def _document_in_form(call: Call, chunks: AsyncGenerator[bytes, None]) -> tuple[str, bytes]:
    parser = MultiPartParser(call.headers, chunks, max_files=1, max_fields=_MOST_FIELDS)
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError, ValueError):
        raise MalformedError("the body is no form of multipart/form-data with one file") from None
    file, name = form.get("file"), form.get("name")
    try:
        if not isinstance(file, UploadFile):
            raise InvalidInputError("file: expected a file in the field of this name", field="file")
        if len(form.getlist("name")) > 1:
            raise InvalidInputError("name: expected one field of this name", field="name")
        named = name if isinstance(name, str) and name else file.filename or ""
        return named, await file.read()
    finally:
        await form.close()
