"""Large bodies go to temporary files; answers that are files."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from tempfile import TemporaryFile
from typing import IO, Any

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from memci.errors import InvalidInputError, TooLargeError
from memci.http.request import Call, MalformedError, MediaTypeError, announced_bytes, parse_json
from memci.schemas.documents import DocumentRequest
from memci.schemas.problems import describe_faults

ARCHIVE_TYPE = "application/zip"
_TYPES = frozenset({ARCHIVE_TYPE, "application/octet-stream"})
# Written at once: each write goes to a thread, since disks make one wait.
_WRITE = 1024 * 1024


@asynccontextmanager
async def uploaded(call: Call, *, max_bytes: int) -> AsyncIterator[IO[bytes]]:
    """Lend a file with the body, at its beginning.

    Raises ``MediaTypeError``, and ``TooLargeError`` as soon as it is over the limit.
    """
    declared = call.headers.get("content-type", "").partition(";")[0].strip().lower()
    if declared not in _TYPES:
        raise MediaTypeError(
            f"the body must be an archive: send it with 'Content-Type: {ARCHIVE_TYPE}'"
        )
    _check(announced_bytes(call), max_bytes)
    with TemporaryFile() as file:
        waiting, size = bytearray(), 0
        async for chunk in call.stream():
            waiting += chunk
            size += len(chunk)
            _check(size, max_bytes)
            if len(waiting) >= _WRITE:
                await run_in_threadpool(file.write, bytes(waiting))
                waiting.clear()
        await run_in_threadpool(file.write, bytes(waiting))
        file.seek(0)
        yield file


def _check(size: int, most: int) -> None:
    if size > most:
        raise TooLargeError(f"expected an archive of at most {most} bytes")


# Of a form: its boundaries and heads, and the escapes of JSON are counted as they come.
_AROUND = 64 * 1024
_FILE_FIELDS = 1
_TEXT_FIELDS = 8

BODY: dict[str, Any] = {
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


async def sent_document(call: Call, *, max_bytes: int) -> tuple[str, bytes]:
    """Return the name and the bytes of the document in a request.

    Raises ``MediaTypeError``, ``MalformedError``, ``InvalidInputError`` and ``TooLargeError``.
    """
    kind = call.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return _text(await _body(call, max_bytes + _AROUND))
    if kind == "multipart/form-data":
        return await _file(call, await _body(call, max_bytes + _AROUND))
    raise MediaTypeError(
        "the body must be a file, sent as multipart/form-data, or JSON with name and text, sent"
        " with 'Content-Type: application/json'"
    )


async def _body(call: Call, most: int) -> bytes:
    _check_size(announced_bytes(call), most)
    body = bytearray()
    async for piece in call.stream():
        body += piece
        _check_size(len(body), most)
    return bytes(body)


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise TooLargeError(
            f"expected a file of at most {most - _AROUND} bytes: split it, or raise"
            " MEMCI_HTTP_MAX_DOCUMENT_BYTES of the server"
        )


def _text(body: bytes) -> tuple[str, bytes]:
    try:
        asked = DocumentRequest.model_validate(parse_json(body))
    except ValidationError as error:
        raise InvalidInputError(describe_faults(error)) from None
    return asked.name, asked.text.encode()


async def _file(call: Call, body: bytes) -> tuple[str, bytes]:
    async def pieces() -> AsyncGenerator[bytes, None]:
        yield body

    parser = MultiPartParser(
        call.headers, pieces(), max_files=_FILE_FIELDS, max_fields=_TEXT_FIELDS
    )
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
