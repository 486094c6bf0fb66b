"""Logs: one line an event, with the bound ids, and never the text of a message.

All logs, also of uvicorn and Celery, go to stderr through structlog. Bind ids with
``structlog.contextvars.bound_contextvars(agent_id=…, job_id=…)``.
"""

import logging
import sys
import traceback
from collections.abc import Iterator
from typing import Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from memci.config.unknown_names import misspelt_settings

# Errors of these packages quote their input: SQL parameters, rows, JSON.
_QUOTING = ("sqlalchemy", "psycopg", "pydantic", "pydantic_core")


def configure_logs(
    level: Literal["debug", "info", "warning", "error"] = "info",
    *,
    stream: TextIO | None = None,
) -> None:
    """Configure logging of this process: for people on a terminal, as JSON elsewhere."""
    out = stream or sys.stderr
    structlog.configure(
        processors=[*_shared(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_shared(),
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.dev.ConsoleRenderer(colors=True)
                if out.isatty()
                else structlog.processors.JSONRenderer(ensure_ascii=False),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    # It logs every request of our clients.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    # It warns of further errors behind one that is raised, and quotes them: they may contain rows.
    logging.getLogger("psycopg").setLevel(logging.ERROR)
    # It logs the start and the end of each request.
    logging.getLogger("mcp").setLevel(logging.WARNING)


def warn_of_misspelt_settings() -> None:
    """Log each unknown name that looks like a setting; called once, at the start of a process."""
    log = structlog.get_logger("memci.settings")
    for each in misspelt_settings():
        log.warning("no such setting", name=each.name, nearest=each.nearest)


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        _write_exception,
    ]


def _write_exception(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Write the traceback, without messages of errors that quote their input."""
    del logger, method
    info = event.pop("exc_info", None)
    error = sys.exc_info()[1] if info is True else info
    if isinstance(error, tuple):
        error = error[1]
    if isinstance(error, BaseException):
        event["exception"] = "\n".join(
            "".join([*traceback.format_tb(each.__traceback__), _headline(each)])
            for each in _chain(error)
        )
    return event


def _headline(error: BaseException) -> str:
    name = type(error).__qualname__
    quotes = type(error).__module__.partition(".")[0] in _QUOTING
    return name if quotes else f"{name}: {error}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error's causes in the order in which Python prints them, first cause first."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        yield from _chain(cause)
    yield error
