"""Moving one agent as one archive: between servers, or under another name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import IO, Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from memci.commands import transfer
from memci.http.documentation import problems
from memci.http.request import AgentId, Call
from memci.http.routing import AdminRoute
from memci.http.uploads import ARCHIVE_TYPE, uploaded
from memci.schemas.archive import ImportAnswer

router = APIRouter(prefix="/v1", tags=["transfer"], route_class=AdminRoute)

_CHUNK = 256 * 1024
_BINARY: dict[str, Any] = {ARCHIVE_TYPE: {"schema": {"type": "string", "format": "binary"}}}


@router.post(
    "/agents/{agent}/export",
    response_class=StreamingResponse,
    responses={200: {"description": "The archive", "content": _BINARY}, **problems(404, 409)},
)
def export_agent(agent: AgentId, call: Call) -> Response:
    """Return all that an agent is, at one moment, as one archive.

    A zip of JSON lines, one file a table, with vectors, pages, the texts of notes, trails,
    receipts, settings, tombstones and jobs that wait; `manifest.json` says what is in it and what
    is left out. The agent goes on meanwhile, and keeps what it has.
    """
    # First to a file: a slow reader would keep a transaction open, and an error comes in time.
    with ExitStack() as opened:
        file = opened.enter_context(TemporaryFile())
        transfer.export(call.runtime.database, call.runtime.page_store, agent, file)
        size = file.tell()
        file.seek(0)
        opened.pop_all()
    headers = {
        "Content-Length": str(size),
        "Content-Disposition": f'attachment; filename="{agent}.zip"',
    }
    return StreamingResponse(_chunks(file), media_type=ARCHIVE_TYPE, headers=headers)


@router.post(
    "/agents/{agent}/import",
    responses=problems(409, 413, 415),
    openapi_extra={"requestBody": {"required": True, "content": _BINARY}},
)
async def import_agent(agent: AgentId, call: Call) -> ImportAnswer:
    """Make an agent of an archive, all or nothing; jobs that waited in it are run from now on.

    The id in the path need not be the archive's. An agent that holds something already is left as
    it is, and so is one of whom a message in the archive was erased for good. Vectors of another
    embedder are made anew by a job.
    """
    runtime = call.runtime
    most = runtime.settings.max_import_bytes
    async with uploaded(call, max_bytes=most) as file:

        def run() -> ImportAnswer:
            return transfer.run(
                runtime.database, runtime.page_store, runtime.tokens, agent, file, max_bytes=most
            )

        return await run_in_threadpool(run)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK):
            yield chunk
