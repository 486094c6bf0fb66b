"""The page of events: jobs, messages and events of Celery, periodic duties, and logs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from beat_schedule import beat_schedule
from docs.reference_pages.markdown import first_line, item, items, paragraph, sentence
from docs.reference_pages.source import ROOT, parsed, runtime
from memci.broker import names
from memci.domain.job import JobKind
from memci.schemas.messages import CompressArguments, CreateArguments, StoredArguments
from memci.schemas.network_editions import ComparisonRequest
from memci.schemas.pages import WindowRequest
from memci.schemas.reads import ContextRequest, RecallRequest, SearchRequest
from memci.schemas.sessions import HandoverRequest
from memci.schemas.tools.memory import SummaryRequest
from tests.support.document_examples import CELERY_MESSAGE

_LEVELS = {"debug", "info", "warning", "error", "exception"}
# Celery tasks that any producer may send, and the models of their arguments.
TASKS: Mapping[str, tuple[str, tuple[type[BaseModel], ...]]] = {
    names.CREATE_TASK: ("memci.agent.<id>", (CreateArguments, StoredArguments)),
    names.COMPRESS_TASK: ("memci.agent.<id>", (CompressArguments,)),
    names.read_task("recall"): (names.READ_QUEUE, (RecallRequest,)),
    names.read_task("search"): (names.READ_QUEUE, (SearchRequest,)),
    names.read_task("assemble"): (names.READ_QUEUE, (ContextRequest,)),
    names.read_task("window"): (names.READ_QUEUE, (WindowRequest,)),
    names.read_task("summarise"): (names.READ_QUEUE, (SummaryRequest,)),
    names.read_task("handover"): (names.READ_QUEUE, (HandoverRequest,)),
    names.read_task("compare"): (names.READ_QUEUE, (ComparisonRequest,)),
}


def blocks() -> Iterator[str]:
    """Yield the blocks of events.md."""
    yield "## Jobs"
    yield paragraph(
        "A job is a row of the table `job`, and a task in Flower under this name. Its state is `queued`, `done`,"
        " `dead` or `cancelled`."
    )
    yield items(
        f"`{kind}`: {sentence(first_line(type(getattr(handler, 'handler', handler)).__doc__))}"
        for kind, handler in sorted(runtime().handlers.items())
    )
    yield item(
        f"`{JobKind.UNREADABLE}`: A message of a Celery producer that could not be read. It is dead at once."
    )
    yield "## Celery messages of producers"
    yield paragraph(
        "All arguments go by name; `v` is 1. Arguments marked with `?` may be left out. They mean what the fields of"
        " the same name mean over HTTP."
    )
    yield items(
        f"`{task}` on `{queue}`: {_arguments(models)}." for task, (queue, models) in TASKS.items()
    )
    yield "## The message itself"
    yield "A Celery message is this JSON in the Redis list of its queue; `body` and the ids are to be filled in:"
    yield f"```json\n{CELERY_MESSAGE}```"
    yield "## Celery events of jobs"
    yield paragraph("What Flower and other monitors are told. Arguments are ids, never text.")
    yield items(f"`{event}`: {sentence(told)}" for event, told in _celery_events())
    yield "## Periodic duties"
    yield items(
        f"`{task}`, every {entry['schedule']:g} s: {sentence(_duties()[task])}"
        for task, entry in beat_schedule(runtime().settings).items()
    )
    yield "## Log events"
    yield paragraph(
        "Logs go to stderr, one line an event: JSON where stderr is no terminal. Beside these fields each line has"
        " `level`, `logger`, `timestamp` and, in a job, `agent_id` and `job_id`. No line holds the text of a message."
    )
    yield items(
        f"`{event}` ({level}, `{module}`){': ' if found else ''}"
        + ", ".join(f"`{name}`" for name in found)
        for event, level, module, found in sorted(set(_log_events()))
    )


def _arguments(models: tuple[type[BaseModel], ...]) -> str:
    def told(model: type[BaseModel]) -> str:
        named = {name: each for name, each in model.model_fields.items() if name != "v"}
        words = ["`agent_id`"] if "agent_id" not in named else []
        for name, each in named.items():
            words.append(f"`{name}`{'' if each.is_required() else '?'}")
        return ", ".join(words)

    return "; or ".join(dict.fromkeys(map(told, models)))


def _celery_events() -> Iterator[tuple[str, str]]:
    for method in ast.walk(parsed(ROOT / "memci/broker/celery_events.py")):
        if isinstance(method, ast.FunctionDef) and ast.get_docstring(method):
            for node in ast.walk(method):
                if isinstance(node, ast.Constant) and str(node.value).startswith("task-"):
                    yield str(node.value), first_line(ast.get_docstring(method))


def _duties() -> dict[str, str]:
    return {
        str(keyword.value.value): first_line(ast.get_docstring(function))
        for function in parsed(ROOT / "workers/upkeep.py").body
        if isinstance(function, ast.FunctionDef)
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call)
        for keyword in decorator.keywords
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant)
    }


def _log_events() -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Yield event, level, module and fields of every call of a logger with a literal event."""
    for path in sorted([*ROOT.glob("memci/**/*.py"), *ROOT.glob("workers/*.py")]):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(parsed(path)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id in {"log", "_log"}
                and node.func.attr in _LEVELS
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                level = {"exception": "error"}.get(node.func.attr, node.func.attr)
                found = tuple(
                    each.arg for each in node.keywords if each.arg not in {None, "exc_info"}
                )
                yield str(node.args[0].value), level, module, found
