"""Routes for erasure, export and import."""

from collections.abc import Iterator
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import IO, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from memci.commands import erase, transfer
from memci.commands.erase import ErasureSelection
from memci.commands.erase_search import Words, find_messages, find_pages, find_pins
from memci.http.documentation import CONFLICT, problems
from memci.http.request import ARCHIVE_TYPE, AgentId, Call, uploaded
from memci.http.routing import Routes
from memci.schemas.agents import ReceiptAnswer
from memci.schemas.archive import EraseRequest, ErasurePreview, ImportAnswer

routes = Routes("erasing")
transfer_routes = Routes("transfer")


@routes.admin.post("/agents/{agent}/erase")
def erase_messages(
    agent: AgentId, body: EraseRequest, call: Call
) -> ReceiptAnswer | ErasurePreview:
    """Erase messages or a session for good, with all that was made of them.

    The answer is a receipt with numbers and ids, which stays; with `preview` it is what would be
    erased. A `query` needs `preview`: send back the `message_ids`, `page_indexes` and `pins` that
    it found. Messages that shared a memory with an erased one become memories again.

    A message with an erased id is refused for good.
    """
    runtime = call.runtime
    database, store = runtime.database, runtime.page_store
    which = ErasureSelection(
        body.message_ids or (), body.session_id, body.page_indexes or (), body.pins or ()
    )
    if body.query is not None:
        words = Words.of(body.query, runtime.models.lexicon)
        found = find_pages(database, store, agent, words, most=body.k)
        which = ErasureSelection(
            find_messages(database, agent, words, most=body.k),
            page_indexes=found.indexes,
            pins=find_pins(database, agent, words, most=body.k),
        )
        preview = erase.preview(database, store, agent, which, words)
        return preview.model_copy(update={"unread": found.unread})
    if body.preview:
        return erase.preview(database, store, agent, which)
    return erase.run_on_pages(runtime.page_commands, runtime.wakeups, agent, which)


@routes.admin.delete("/agents/{agent}")
def erase_agent(agent: AgentId, call: Call) -> ReceiptAnswer:
    """Erase an agent for good, with its messages in the broker.

    The next message under its id creates a new agent. Ids of erased messages are refused for good.
    """
    runtime = call.runtime
    return erase.run_agent(
        runtime.database, runtime.page_store, runtime.wakeups, runtime.agent_queues, agent
    )


_CHUNK = 256 * 1024
# Of one agent: some two million messages. It is in the folder for temporary files meanwhile.
MAX_ARCHIVE_BYTES = 2 * 1024**3
_BINARY: dict[str, Any] = {ARCHIVE_TYPE: {"schema": {"type": "string", "format": "binary"}}}


@transfer_routes.admin.post(
    "/agents/{agent}/export",
    response_class=StreamingResponse,
    responses={200: {"description": "The archive", "content": _BINARY}, **CONFLICT},
)
def export_agent(agent: AgentId, call: Call) -> Response:
    """Return an archive of everything of an agent, as of one moment.

    A zip with one file of JSON lines for each table; `manifest.json` lists them, and the tables
    that are left out. The agent itself does not change.
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


@transfer_routes.admin.post(
    "/agents/{agent}/import",
    responses=problems(409, 413, 415),
    openapi_extra={"requestBody": {"required": True, "content": _BINARY}},
)
async def import_agent(agent: AgentId, call: Call) -> ImportAnswer:
    """Create an agent from an archive, all or nothing; its waiting jobs run from now on.

    The id may differ from the archive's. An agent that holds something is refused, and so is an
    archive with a message that was erased for good. A job computes vectors of another embedder
    again.
    """
    runtime = call.runtime
    async with uploaded(call, max_bytes=MAX_ARCHIVE_BYTES) as file:
        return await run_in_threadpool(
            transfer.run,
            runtime.database,
            runtime.page_store,
            runtime.wakeups,
            agent,
            file,
            max_bytes=MAX_ARCHIVE_BYTES,
            redact=runtime.settings.memory.redact,
        )


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK):
            yield chunk
