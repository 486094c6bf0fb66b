"""A document in a request: a file as multipart/form-data, or a name and a text as JSON."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from memci.errors import InvalidInputError, TooLargeError
from memci.http.body import MalformedError, MediaTypeError, parse_json
from memci.http.call import Call, announced_bytes
from memci.shapes.documents import DocumentRequest
from memci.shapes.faults import describe_faults

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
    _check(announced_bytes(call), most)
    body = bytearray()
    async for piece in call.stream():
        body += piece
        _check(len(body), most)
    return bytes(body)


def _check(size: int, most: int) -> None:
    if size > most:
        raise TooLargeError(
            f"expected a file of at most {most - _AROUND} bytes: split it, or raise"
            " MEMCI_MAX_DOCUMENT_BYTES of the server"
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
