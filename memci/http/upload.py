"""A body that is too large for the memory: it goes to a temporary file as it comes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from tempfile import TemporaryFile
from typing import IO

from starlette.concurrency import run_in_threadpool

from memci.errors import TooLargeError
from memci.http.body import MediaTypeError
from memci.http.call import Call, announced_bytes

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
        raise TooLargeError(
            f"expected an archive of at most {most} bytes; MEMCI_MAX_IMPORT_BYTES of the server "
            "allows more"
        )
