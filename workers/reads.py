"""Tasks of the context workers: reads of snapshots, answered to whoever asked."""

from typing import Any

import structlog
from pydantic import ValidationError

from memci.broker.names import ReadUse, read_task
from memci.broker.read_calls import wrap_answer, wrap_error
from memci.domain.agent_id import check_agent_id
from memci.errors import InvalidInputError, MemciError
from memci.reading.registry import READ_S
from memci.schemas.problems import describe_faults
from memci.telemetry.watchdog import limited
from workers.app import app
from workers.lifecycle import runtime

_log = structlog.get_logger(__name__)


@app.task(name=read_task("recall"))
def recall(**arguments: Any) -> dict[str, Any] | None:
    """Search the memory network from the focus (M20)."""
    return _serve("recall", arguments)


@app.task(name=read_task("search"))
def search(**arguments: Any) -> dict[str, Any] | None:
    """Search all sources (R11)."""
    return _serve("search", arguments)


@app.task(name=read_task("assemble"))
def assemble(**arguments: Any) -> dict[str, Any] | None:
    """Assemble a message list that fits a budget (R13)."""
    return _serve("assemble", arguments)


@app.task(name=read_task("window"))
def window(**arguments: Any) -> dict[str, Any] | None:
    """Render the context window of a session (P11)."""
    return _serve("window", arguments)


@app.task(name=read_task("summarise"))
def summarise(**arguments: Any) -> dict[str, Any] | None:
    """Sum up messages and notes (R20)."""
    return _serve("summarise", arguments)


@app.task(name=read_task("handover"))
def handover(**arguments: Any) -> dict[str, Any] | None:
    """Write what another agent needs to go on with a session (R8)."""
    return _serve("handover", arguments)


@app.task(name=read_task("compare"))
def compare(**arguments: Any) -> dict[str, Any] | None:
    """Compare a rebuilt network with the current one (M24)."""
    return _serve("compare", arguments)


@app.task(name=read_task("items"))
def items(**arguments: Any) -> dict[str, Any] | None:
    """Find items of an agent's programs."""
    return _serve("items", arguments)


def _serve(use: ReadUse, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Answer to the reply key or wrapped, as our own callers ask; else as a Celery result."""
    reply, wrapped = arguments.pop("reply", None), arguments.pop("wrapped", False)
    if reply is None and not wrapped:
        return _answer(use, arguments)
    try:
        answer = wrap_answer(_answer(use, arguments))
    except MemciError as error:
        answer = wrap_error(error)
    except Exception:  # noqa: BLE001 - the caller waits: it has to hear of every failure
        _log.exception("read failed", use=use)
        answer = wrap_error(MemciError("the context worker failed; its log says why"))
    replies = runtime().replies
    if reply is None or replies is None:
        return answer
    replies.send(str(reply), answer)
    return None


def _answer(use: ReadUse, arguments: dict[str, Any]) -> dict[str, Any]:
    agent_id = check_agent_id(arguments.pop("agent_id", None))
    version = arguments.pop("v", 1)
    if version != 1:
        raise InvalidInputError("expected v = 1", field="v")
    traceparent = arguments.pop("traceparent", None)
    here = runtime()
    try:
        name = read_task(use)
        with here.traces.span(name, parent=traceparent, agent_id=agent_id), limited(name, READ_S):
            return here.readings.answer(use, agent_id, arguments)
    except ValidationError as error:
        raise InvalidInputError(describe_faults(error)) from None
