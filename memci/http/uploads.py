"""Uploaded archives and documents."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from tempfile import TemporaryFile
from typing import IO, Any

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from memci.errors import InvalidInputError
from memci.http.documentation import problems
from memci.http.request import (
    Call,
    MalformedError,
    MediaTypeError,
    content_type,
    limited_chunks,
    parse_json,
)
from memci.schemas.documents import DocumentRequest
from memci.schemas.problems import describe_faults

ARCHIVE_TYPE = "application/zip"
_TYPES = frozenset({ARCHIVE_TYPE, "application/octet-stream"})
# Each write goes to a thread, since disks make one wait.
_WRITE_BYTES = 1024 * 1024


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
        buffer = bytearray()
        async for chunk in limited_chunks(call, max_bytes, message):
            buffer += chunk
            if len(buffer) >= _WRITE_BYTES:
                await run_in_threadpool(file.write, bytes(buffer))
                buffer.clear()
        await run_in_threadpool(file.write, bytes(buffer))
        file.seek(0)
        yield file


# Most bytes of a request beside its file: boundaries and heads of a form, escapes of JSON.
_OVERHEAD_BYTES = 64 * 1024
_MOST_FIELDS = 8

_REQUEST_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "name": {
                            "type": "string",
                            "description": "Such as docs/guide.md (default: the file's)",
                        },
                    },
                }
            },
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
                raise InvalidInputError(describe_faults(error)) from None
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
