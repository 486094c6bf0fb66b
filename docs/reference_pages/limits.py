"""The page of limits: what each input may be, what changes it, and what happens beyond it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter

from docs.reference_pages.markdown import paragraph
from memci import errors
from memci.commands.attp import protocol as attp
from memci.commands.attp.sandbox import Limits as SandboxLimits
from memci.config.settings import Settings
from memci.domain.agent_id import AGENT_ID_PATTERN
from memci.domain.documents import MOST_NAME
from memci.domain.pages.page import LONGEST_DESCRIPTION, LONGEST_NAME
from memci.domain.pages.parameters import PageRules
from memci.domain.session.plan import LONGEST_STEP, MOST_STEPS
from memci.extraction.blocks import ExtractionLimits
from memci.http import protocol
from memci.http.auth import FAILED_PER_MINUTE
from memci.http.routers.erasing import MAX_ARCHIVE_BYTES
from memci.language.keywords import LONGEST_KEYWORD
from memci.language.names import LONGEST_NAME as LONGEST_ENTITY
from memci.language.names import MOST_ENTITIES
from memci.message import AppendLimits
from memci.queue.runner import JOB_S
from memci.reading.registry import READ_S
from memci.schemas import base, messages, pages, problems, reads
from memci.schemas.archive import MANIFEST_BYTES
from memci.schemas.attp import LONGEST_ANSWER
from memci.schemas.base import MOST_LEVELS
from memci.schemas.events import LONGEST_URL
from memci.schemas.tools.memory import Remember
from memci.storage.archive.reading import LONGEST_LINE, MOST_UNPACKED_TIMES
from memci.telemetry.watchdog import STUCK_S
from memci.webhooks.manage import MOST_WEBHOOKS

_KIB = 1024
_UNITS = (("GiB", _KIB**3), ("MiB", _KIB**2), ("KiB", _KIB))
_BOUNDS = ("maxLength", "maxItems", "maxProperties", "maximum")


def blocks() -> Iterator[str]:
    """Yield the blocks of limits.md."""
    yield paragraph(
        "A request over a limit is refused as a whole, and nothing of it is stored. A number is the largest that is"
        " taken. Other fields have the limits that [http.md](http.md#shapes) and [tools.md](tools.md) name; beyond them"
        f" the answer is {_problem(errors.InvalidInputError)} with the `field`. Bytes are those of UTF-8."
    )
    for title, rows in _tables().items():
        yield f"## {title}"
        head = ("input", "limit", "setting", "beyond it")
        lines = [head, ("---",) * len(head), *rows]
        yield "\n".join(f"| {' | '.join(each)} |" for each in lines)


def _tables() -> Mapping[str, tuple[tuple[str, str, str, str], ...]]:
    """Return the rows of each table."""
    return {
        "Requests": _requests(),
        "Messages": _messages(),
        "Reads": _reads(),
        "Pages, pins, plans and tools": _pages(),
        "Documents and archives": _files(),
        "Time of work": _times(),
    }


def _requests() -> tuple[tuple[str, str, str, str], ...]:
    slow = f"{protocol.HEAD_S:g} s for a head, {protocol.BODY_S:g} s or more for a body"
    return (
        ("head", _bytes(protocol.HEAD_BYTES), "–", _refusal(protocol.TOO_LARGE)),
        (
            "body, also of MCP and the proxy",
            _bytes(_default("http_max_request_bytes")),
            _name("http_max_request_bytes"),
            _too_large(),
        ),
        ("time to send", slow, "–", _refusal(protocol.TOO_SLOW)),
        *(
            (what, "none", _name(f"key_limits__{name}"), _problem(error))
            for what, name, error in (
                ("requests of a key in a minute", "requests_per_minute", errors.RateLimitedError),
                ("new messages of a key in a day", "messages_per_day", errors.QuotaError),
                ("stored bytes of a key's agents", "stored_bytes", errors.QuotaError),
                ("agents of a key", "agents", errors.QuotaError),
            )
        ),
        (
            "requests without a valid key in a minute, of one address",
            str(FAILED_PER_MINUTE),
            "–",
            _problem(errors.RateLimitedError),
        ),
        ("JSON in `metadata`, filters, arguments", f"{MOST_LEVELS} levels", "–", _invalid()),
        (
            "open streams of events",
            f"{_default('http_max_streams')} a process, a quarter of it for one key",
            _name("http_max_streams"),
            _problem(errors.RateLimitedError),
        ),
        ("webhooks", str(MOST_WEBHOOKS), "–", _problem(errors.ConflictError)),
        ("address of a webhook", f"{LONGEST_URL} characters", "–", _invalid()),
        ("agent id", f"`{AGENT_ID_PATTERN}`", "–", _invalid()),
        ("id of a message, session or user", _characters(base.ForeignId), "–", _invalid()),
    )


def _messages() -> tuple[tuple[str, str, str, str], ...]:
    limits = AppendLimits(_default("http_max_request_bytes"))
    dead = "dead letter"
    return (
        ("messages in a request", str(limits.messages), "–", _too_large()),
        (
            "content, tool calls and metadata of a message",
            _bytes(limits.message_bytes),
            "–",
            _too_large(),
        ),
        ("name of a speaker", f"{_of(messages.MessageIn, 'name')} characters", "–", _invalid()),
        ("tool calls of a message", str(_of(messages.MessageIn, "tool_calls")), "–", _invalid()),
        (
            "name of a called tool",
            f"{_of(messages.FunctionCall, 'name')} characters",
            "–",
            _invalid(),
        ),
        (
            "message of a Celery producer",
            _bytes(limits.request_bytes),
            _name("http_max_request_bytes"),
            dead,
        ),
        ("messages in it, and their fields", "as in a request", "–", dead),
        (
            "entities of a topic segment",
            f"{MOST_ENTITIES} of {LONGEST_ENTITY} characters",
            "–",
            "the best are kept",
        ),
        (
            "keyword of a memory",
            f"{LONGEST_KEYWORD} characters",
            "–",
            "longer words are no keywords",
        ),
    )


def _reads() -> tuple[tuple[str, str, str, str], ...]:
    return (
        ("query", _characters(base.Query), "–", _invalid()),
        ("tokens of a budget", str(_largest(base.BudgetTokens)), "–", _invalid()),
        ("hits (`k`)", str(_largest(reads.Hits)), "–", _invalid()),
        ("`recent` messages", str(_of(reads.ContextRequest, "recent")), "–", _invalid()),
        ("`shown` messages", str(_of(reads.ContextRequest, "shown")), "–", _invalid()),
        ("collections", str(_of(reads.Scope, "collections")), "–", _invalid()),
        ("sessions in `filters`", str(_of(reads.Filters, "sessions")), "–", _invalid()),
        ("names or tags in `filters`", str(_of(reads.Filters, "names")), "–", _invalid()),
        ("values of `metadata` in `filters`", str(_of(reads.Filters, "metadata")), "–", _invalid()),
        ("`keywords` of recall", str(_of(reads.RecallRequest, "keywords")), "–", _invalid()),
        ("`wait_ms`", str(_largest(base.WaitMs)), "–", _invalid()),
        (
            "reads that wait at once",
            f"{_default('http_max_reads')} for each API process",
            _name("http_max_reads"),
            _problem(errors.ReadsBusyError),
        ),
        (
            "wait for a worker",
            f"{_default('http_read_timeout_ms')} ms and `wait_ms`",
            _name("http_read_timeout_ms"),
            _problem(errors.ReadTimeoutError),
        ),
    )


def _pages() -> tuple[tuple[str, str, str, str], ...]:
    rules = PageRules()
    return (
        ("title of a page", f"{LONGEST_NAME} characters", "–", _invalid()),
        ("description of a page", f"{LONGEST_DESCRIPTION} characters", "–", _invalid()),
        ("text of a pin", f"{_of(pages.Pin, 'text')} characters", "–", _invalid()),
        ("pins", str(rules.max_pins), _name("pages__max_pins"), _problem(errors.RefusedError)),
        (
            "tokens of all pins",
            str(rules.pins_max_tokens),
            _name("pages__pins_max_tokens"),
            _too_large(),
        ),
        ("steps of a plan", f"{MOST_STEPS} of {LONGEST_STEP} characters", "–", _invalid()),
        ("text of `remember` and `update`", f"{_of(Remember, 'text')} characters", "–", _invalid()),
        ("answer of a model in ATTP", f"{LONGEST_ANSWER} characters", "–", _too_large()),
        ("code in it", f"{attp.LONGEST_CODE} characters", "–", _too_large()),
        (
            "time of its code",
            f"{SandboxLimits().seconds:g} s",
            "–",
            "the code ends with an error, and nothing of it is kept",
        ),
    )


def _files() -> tuple[tuple[str, str, str, str], ...]:
    limits = ExtractionLimits()
    refused = "the document is `failed`, with the reason"
    largest = _default("http_max_document_bytes")
    return (
        (
            "document",
            _bytes(largest),
            _name("http_max_document_bytes"),
            f"{_too_large()}; the command line skips it",
        ),
        ("name of a document", f"{MOST_NAME} characters", "–", _invalid()),
        ("unpacked Office file or EPUB", _bytes(limits.unpacked_bytes), "–", refused),
        ("pages or slides", str(limits.pages), "–", refused),
        ("chunks of a document", str(limits.chunks), "–", refused),
        (
            "time to read a document",
            f"{limits.seconds} s of a processor, {2 * limits.seconds} s in all",
            "–",
            refused,
        ),
        ("memory to read a document", _bytes(limits.memory_bytes), "–", refused),
        ("archive", _bytes(MAX_ARCHIVE_BYTES), "–", _too_large()),
        ("unpacked archive", _bytes(MAX_ARCHIVE_BYTES * MOST_UNPACKED_TIMES), "–", _too_large()),
        ("manifest of an archive", _bytes(MANIFEST_BYTES), "–", _invalid()),
        ("row of an archive", _bytes(LONGEST_LINE), "–", _invalid()),
    )


def _times() -> tuple[tuple[str, str, str, str], ...]:
    again = "a new process begins it again; after three it is dead"
    return (
        ("a job, beside its models", f"{JOB_S:g} s of a processor", "–", again),
        (
            "a read, beside its models",
            f"{READ_S:g} s of a processor",
            "–",
            "no answer; the process is started again",
        ),
        (
            "any work that holds the interpreter",
            f"{STUCK_S:g} s of a processor",
            "–",
            "the process is started again",
        ),
        (
            "an attempt to deliver an event",
            f"{_default('webhooks_timeout_s')} s",
            _name("webhooks_timeout_s"),
            f"it is tried {len(Settings.model_fields['webhooks_retries_s'].default)} times more",
        ),
        (
            "tries while a model does not answer",
            str(_default("queue_max_attempts")),
            _name("queue_max_attempts"),
            "the job is dead",
        ),
    )


def _largest(kind: Any) -> int:
    return _bound(TypeAdapter(kind).json_schema())


def _of(model: type[BaseModel], field: str) -> int:
    return _bound(model.model_json_schema()["properties"][field])


def _bound(schema: Mapping[str, Any]) -> int:
    """Return the first limit in a schema; ``LookupError`` if it has none."""
    for each in (schema, *schema.get("anyOf", ())):
        for name in _BOUNDS:
            if name in each:
                return int(each[name])
    raise LookupError(schema)


def _characters(kind: Any) -> str:
    return f"{_largest(kind)} characters"


def _default(setting: str) -> int:
    return int(Settings.model_fields[setting].default)


def _name(setting: str) -> str:
    return f"`MEMCI_{setting.upper()}`"


def _bytes(number: int) -> str:
    return next(
        (f"{number / size:g} {unit}" for unit, size in _UNITS if number >= size), f"{number} bytes"
    )


def _problem(error: type[errors.MemciError]) -> str:
    kind = next(each for each in problems.KINDS if each.error is error)
    return f"{kind.status} `{kind.type}`"


def _refusal(problem: problems.Problem) -> str:
    return (
        f"{problem.status} `{problem.type.removeprefix(problems.TYPE_PREFIX)}`, connection closed"
    )


def _too_large() -> str:
    return _problem(errors.TooLargeError)


def _invalid() -> str:
    return _problem(errors.InvalidInputError)
