"""Writes docs/reference, and the chart of forgetting, from the code: ``make docs``.

A test compares the committed files with what this module makes of the code.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from typer.main import get_command

from beat_schedule import beat_schedule
from benchmarks.__main__ import PARTS, QUALITY_PARTS, RECALL
from memci.broker import names
from memci.cli.app import app as command_line
from memci.commands.attp.protocol import LONGEST_CODE
from memci.commands.attp.sandbox import Limits
from memci.commands.attp.sandbox_functions import ALLOWED
from memci.config.groups import TaskModel
from memci.config.settings import Settings, load_settings
from memci.domain.job import JobKind
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.parameter_definitions import settings_of
from memci.http.app import create_app
from memci.language.detection import Language
from memci.runtime import Runtime
from memci.schemas.attp import LONGEST_ANSWER, guide_in
from memci.schemas.memory_tools import SummaryRequest
from memci.schemas.messages import CompressArguments, CreateArguments, StoredArguments
from memci.schemas.network_editions import ComparisonRequest
from memci.schemas.pages import WindowRequest
from memci.schemas.reads import ContextRequest, RecallRequest, SearchRequest
from memci.schemas.sessions import HandoverRequest
from memci.schemas.tool_table import TOOLS, Tool
from memci.telemetry.metrics import LANE_GAUGES, MODEL_COUNTERS, HttpMetrics
from tests.support.document_examples import (
    ATTP_ANSWER,
    CELERY_MESSAGE,
    attp_reply,
    forgetting_chart,
    window,
)

ROOT = Path(__file__).parents[1]
WIDTH = 120
_RULES = re.compile(r" ?\((?:[MPR]\d|[a-z-]+\.md)[^)]*\)")
_UNBOUNDED = 1e15  # larger limits are those of the integer type
_LEVELS = {"debug", "info", "warning", "error", "exception"}
_MADE = "<!-- Made from the code by `make docs`: do not edit. -->"
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


def generated() -> dict[str, str]:
    """Return the text of every file that is made from the code, by its path in docs."""
    return {
        "reference/settings.md": _page("Settings", _settings()),
        "reference/commands.md": _page("Commands", _commands()),
        "reference/http.md": _page("HTTP", _http()),
        "reference/tools.md": _page("Tools for models", _tools()),
        "reference/events.md": _page("Events", _events()),
        "reference/metrics.md": _page("Metrics", _metrics()),
        "reference/attp.md": _page("ATTP", _attp()),
        "reference/window.md": _page("A context window", _window()),
        "reference/benchmarks.md": _page("Benchmarks", _benchmarks()),
        "images/forgetting.svg": forgetting_chart(MemoryParameters()),
    }


def main() -> None:
    """Write the files."""
    for name, text in generated().items():
        (ROOT / "docs" / name).write_text(text, encoding="utf-8")


def _page(title: str, blocks: Iterable[str]) -> str:
    text = "\n\n".join([f"# {title}", _MADE, *blocks])
    return re.sub(r"\n{3,}", "\n\n", text) + "\n"


def _item(text: str, indent: str = "") -> str:
    """Return an item of a list, in lines of at most WIDTH characters."""
    return textwrap.fill(
        " ".join(text.split()),
        WIDTH,
        initial_indent=f"{indent}- ",
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _items(texts: Iterable[str]) -> str:
    return "\n".join(map(_item, texts))


def _paragraph(text: str) -> str:
    return _item(text)[2:].replace("\n  ", "\n")


def _sentence(text: str | None) -> str:
    """Return a text that ends as a sentence does, without ids of rules; "" of none."""
    told = _RULES.sub("", " ".join((text or "").split())).replace("``", "`")
    return told if not told or told[-1] in ".:…?!" else f"{told}."


# Settings


def _settings() -> Iterator[str]:
    yield _paragraph(
        "Every setting is an environment variable, or its name without `MEMCI_` in small letters in `memci.toml`"
        " (`MEMCI_MEMORY__DECAY_RATE` is `decay_rate` in the table `[memory]`). The file is the one in the working"
        " directory, or the one that `MEMCI_CONFIG` names. The environment wins. `–` means: not set."
    )
    groups: dict[str, list[str]] = {}
    for path, field in _leaves(Settings):
        groups.setdefault(_group(path), []).append(_setting(path, field))
    single = [text for texts in groups.values() if len(texts) == 1 for text in texts]
    if single:
        yield _items(single)
    for group, texts in groups.items():
        if len(texts) > 1:
            yield f"## {group}"
            yield _items(texts)


def _leaves(
    model: type[BaseModel], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every setting with its path; those of nested groups too."""
    for name, field in model.model_fields.items():
        value = field.get_default(call_default_factory=True)
        if isinstance(value, BaseModel):
            yield from _leaves(type(value), (*path, name))
        elif is_dataclass(value):
            for parameter, declared in settings_of(value).items():
                yield (*path, name, parameter), declared
        elif name == "models":
            for option, each in TaskModel.model_fields.items():
                yield (name, "<TASK>", option), each
        else:
            yield (*path, name), field


def _group(path: tuple[str, ...]) -> str:
    word = path[0] if len(path) > 1 else path[0].partition("_")[0]
    return f"`MEMCI_{word.upper()}{'__' if len(path) > 1 else '_'}…`"


def _setting(path: tuple[str, ...], field: Any) -> str:
    default, told = field.default, field.description
    if isinstance(field, FieldInfo):
        default = field.get_default(call_default_factory=True)
        limits = _limits(field)
        choices = re.findall(r"Literal\[([^]]+)\]", str(field.annotation))
        limits += [f"one of {choices[0]}".replace("'", "").replace('"', "")] if choices else []
    else:
        limits = [str(field.limits).removeprefix("expected a ")] if field.limits else []
        limits += [f"one of {', '.join(field.choices)}"] if field.choices else []
    name = f"MEMCI_{'__'.join(path).upper()}"
    return f"`{name}` = {_value(default)}{_bracketed(limits)} {_sentence(told)}"


def _bracketed(texts: Iterable[str]) -> str:
    told = ", ".join(texts)
    return f" ({told})" if told else ""


def _limits(field: FieldInfo) -> list[str]:
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    return [
        f"{sign} {getattr(each, name)}"
        for each in field.metadata
        for name, sign in signs.items()
        if getattr(each, name, None) is not None
    ]


def _value(value: Any) -> str:
    """Return a default as it is written in the environment."""
    if value is None or (isinstance(value, (str, tuple)) and not value):
        return "–"
    if isinstance(value, SecretStr):
        return "`…`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"`{value}`"


# Commands


def _commands() -> Iterator[str]:
    yield _paragraph(
        "`memci COMMAND --help` shows the same. Commands find the API at `MEMCI_API_URL`, or where `MEMCI_HOST` and"
        " `MEMCI_PORT` say. They exit with 0 when all went well, 1 when something failed, 2 when they were called"
        " wrongly."
    )
    yield from _command(get_command(command_line), ("memci",))


def _command(command: Any, path: tuple[str, ...]) -> Iterator[str]:
    inner = getattr(command, "commands", {})
    if len(path) > 1:
        arguments = [each for each in command.params if each.param_type_name == "argument"]
        words = [*path, *map(_argument, arguments), *(["COMMAND"] if inner else [])]
        yield f"{'#' * min(len(path), 3)} `{' '.join(words)}`"
        yield from (_paragraph(part) for part in (command.help or "").split("\n\n") if part.strip())
        context = command.context_class(command, info_name=path[-1])
        told = [_parameter(each, context) for each in command.params if each.name != "help"]
        if told:
            yield _items(told)
    for name, each in inner.items():
        yield from _command(each, (*path, name))


def _argument(each: Any) -> str:
    word = (each.metavar or each.name or "").upper() + ("…" if each.nargs == -1 else "")
    return word if each.required else f"[{word}]"


def _parameter(each: Any, context: Any) -> str:
    if each.param_type_name == "argument":
        return f"`{_argument(each)}`: {_sentence(each.help)}"
    flag = isinstance(each.default, bool)
    value = "" if flag else f" {each.metavar or _kind(each, context)}"
    spelt = ", ".join(f"`{option}{value}`" for option in (*each.opts, *each.secondary_opts))
    shown = each.default not in (None, False, (), []) and not callable(each.default)
    default = f" Default: {_value(each.default)}." if shown else ""
    required = " Required." if each.required else ""
    return f"{spelt}: {_sentence(each.help)}{required}{default}"


def _kind(each: Any, context: Any) -> str:
    """Return the type of an option's value, or its choices: ``INT``, ``json|jsonl|text``."""
    shown = str(each.display_type(context)).strip("<>").removeprefix("list[").removesuffix("]")
    return shown if "|" in shown else shown.removesuffix(" range").upper()


# HTTP


@cache
def _runtime() -> Runtime:
    """Return a runtime that is never opened: it only says what there is."""
    return Runtime(
        load_settings(
            database_url="postgresql://nowhere/memci",
            broker_url="redis://nowhere",
            proxy_upstream_url="http://nowhere/v1",
        )
    )


def _http() -> Iterator[str]:
    app = create_app(_runtime())
    described = app.openapi()
    scopes = {
        (method, route.path): route.needs.name.lower()
        for route in app.router.routes
        for method in getattr(route, "methods", None) or ()
        if hasattr(route, "needs")
    }
    yield _paragraph(
        "A running API shows the same at `/docs`, and as OpenAPI at `/openapi.json`. A server with keys asks for"
        " `Authorization: Bearer KEY`; the word in brackets is the scope that a key needs. Bodies are JSON. Unknown"
        " fields are refused. What is refused is a problem (RFC 9457): `type`, `title`, `status`, `detail` and, where"
        " one field is wrong, `field`."
    )
    yield "Every operation may answer with these problems:"
    yield _items(f"`{status}`: {_sentence(text)}" for status, text in _problems(described).items())
    by_tag: dict[str, list[str]] = {}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            scope = scopes.get((method.upper(), path))
            entry = _operation(method, path, operation, scope)
            by_tag.setdefault(operation["tags"][0], []).append(entry)
    for tag, entries in by_tag.items():
        yield f"## {tag.capitalize()}"
        yield from entries
    yield "## Shapes"
    for name, schema in sorted(described["components"]["schemas"].items()):
        yield from _shape(name, schema)


def _problems(described: Mapping[str, Any]) -> dict[str, str]:
    """Return what refusals mean, by status."""
    return dict(
        sorted(
            (status, answer["description"])
            for operations in described["paths"].values()
            for operation in operations.values()
            for status, answer in operation["responses"].items()
            if status >= "400"
        )
    )


def _operation(method: str, path: str, operation: Mapping[str, Any], scope: str | None) -> str:
    told = [f"### `{method.upper()} {path}`"]
    about = f"{_sentence(operation.get('summary'))} {_sentence(operation.get('description'))}"
    told.append(_paragraph(about + (f" [{scope}]" if scope else "")))
    lines = []
    for each in operation.get("parameters", ()):
        if each["in"] != "path":
            where = "" if each["in"] == "query" else f", {each['in']}"
            described = _sentence(each.get("description"))
            lines.append(f"`{each['name']}` ({_type(each['schema'])}{where}) {described}")
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        kind = "" if media == "application/json" else f" as `{media}`"
        lines.append(f"Body{kind}: {_type(content.get('schema', {}))}.")
    for status, answer in operation["responses"].items():
        if status < "400":
            types = [_type(each.get("schema", {})) for each in answer.get("content", {}).values()]
            lines.append(f"Answer {status}: {' or '.join(filter(None, types)) or 'no body'}.")
    told.append(_items(lines))
    return "\n\n".join(told)


def _shape(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {name}"
    if schema.get("description"):
        yield _paragraph(_sentence(schema["description"]))
    required = schema.get("required", ())
    properties = schema.get("properties", {})
    if properties:
        yield _items(
            f"`{field}` ({_type(each)}{_given(each, required=field in required)})"
            f" {_sentence(each.get('description'))}"
            for field, each in properties.items()
        )
    elif "enum" in schema:
        yield _paragraph("One of " + ", ".join(f"`{value}`" for value in schema["enum"]) + ".")


def _given(schema: Mapping[str, Any], *, required: bool) -> str:
    if required:
        return ", required"
    default = schema.get("default")
    return "" if default in (None, [], {}) else f", default {_json(default)}"


def _json(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_json(each) for each in value)
    return _value(value)


def _type(schema: Mapping[str, Any]) -> str:
    """Return a JSON type in a few words, with a link to a shape."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[several]))
    kind = str(schema.get("format") or schema.get("type") or "any")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    limits = [
        f"{sign} {schema[key]:g}"
        for key, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"))
        if key in schema and abs(schema[key]) < _UNBOUNDED
    ]
    limits += [f"at most {schema['maxLength']} characters"] if "maxLength" in schema else []
    return f"{kind} {', '.join(limits)}".strip()


# Tools


def _tools() -> Iterator[str]:
    yield _paragraph(
        "The tools that a model may be given, over MCP, as function schemas (`memci tools`, `GET /v1/tools`) or by"
        " ATTP. The answer of each is the shape of that name in"
        " [http.md](http.md#shapes)."
    )
    for tool in TOOLS:
        yield f"## `{tool.name}`"
        yield _paragraph(_sentence(tool.description) + _use(tool))
        arguments = [
            f"`{name}`{'' if each.is_required() else ' (optional)'} {_sentence(each.description)}"
            for name, each in tool.request.model_fields.items()
        ]
        if arguments:
            yield _items(arguments)


def _use(tool: Tool) -> str:
    said = [
        "only looks" if not tool.changes else "",
        "for developers alone" if not tool.for_agents else "",
        "not in ATTP" if not tool.in_code else "",
        "`undo` does not take it back" if tool.changes and not tool.undone else "",
        "destroys for good; needs a key of scope `admin`" if tool.destroys else "",
    ]
    told = "; ".join(each for each in said if each)
    return f" ({told})" if told else ""


# Events


def _events() -> Iterator[str]:
    yield "## Jobs"
    yield _paragraph(
        "A job is a row of the table `job`, and a task in Flower under this name. Its state is `queued`, `done`,"
        " `dead` or `cancelled`."
    )
    yield _items(
        f"`{kind}`: {_sentence(_first_line(type(getattr(handler, 'handler', handler)).__doc__))}"
        for kind, handler in sorted(_runtime().handlers.items())
    )
    yield _item(
        f"`{JobKind.UNREADABLE}`: A message of a Celery producer that could not be read. It is dead at once."
    )
    yield "## Celery messages of producers"
    yield _paragraph(
        "All arguments go by name; `v` is 1. Arguments marked with `?` may be left out. They mean what the fields of"
        " the same name mean over HTTP."
    )
    yield _items(
        f"`{task}` on `{queue}`: {_arguments(models)}." for task, (queue, models) in TASKS.items()
    )
    yield "## The message itself"
    yield "A Celery message is this JSON in the Redis list of its queue; `body` and the ids are to be filled in:"
    yield f"```json\n{CELERY_MESSAGE}```"
    yield "## Celery events of jobs"
    yield _paragraph("What Flower and other monitors are told. Arguments are ids, never text.")
    yield _items(f"`{event}`: {_sentence(told)}" for event, told in _celery_events())
    yield "## Periodic duties"
    yield _items(
        f"`{task}`, every {entry['schedule']:g} s: {_sentence(_duties()[task])}"
        for task, entry in beat_schedule(_runtime().settings).items()
    )
    yield "## Log events"
    yield _paragraph(
        "Logs go to stderr, one line an event: JSON where stderr is no terminal. Beside these fields each line has"
        " `level`, `logger`, `timestamp` and, in a job, `agent_id` and `job_id`. No line holds the text of a message."
    )
    yield _items(
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
    tree = ast.parse((ROOT / "memci/broker/celery_events.py").read_text(encoding="utf-8"))
    for method in ast.walk(tree):
        if isinstance(method, ast.FunctionDef) and ast.get_docstring(method):
            for node in ast.walk(method):
                if isinstance(node, ast.Constant) and str(node.value).startswith("task-"):
                    yield str(node.value), _first_line(ast.get_docstring(method))


def _duties() -> dict[str, str]:
    tree = ast.parse((ROOT / "workers/upkeep.py").read_text(encoding="utf-8"))
    return {
        str(keyword.value.value): _first_line(ast.get_docstring(function))
        for function in tree.body
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
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n\n")[0]


# Metrics


def _metrics() -> Iterator[str]:
    yield _paragraph(
        "`GET /metrics` of the API, in Prometheus' format. No metric names an agent. Those of the queue and of language"
        " models are read from the database when Prometheus asks, so every API process reports the same: use `max()`."
    )
    yield _items(f"`{name}` ({kind}): {_sentence(told)}" for name, kind, told in metrics())


def metrics() -> Iterator[tuple[str, str, str]]:
    """Yield name, kind and help of every metric."""
    yield (
        "memci_database_up",
        "gauge",
        "1 when the database answers; else 0, and the next ones are missing",
    )
    for field, told in LANE_GAUGES.items():
        yield f"memci_{field.removesuffix('_s')}" + "_seconds" * field.endswith("_s"), "gauge", told
    for field, told in MODEL_COUNTERS.items():
        yield f"memci_model_{field}_total", "counter, by task and model", told
    for family in HttpMetrics().registry.collect():
        if family.name.startswith("memci_"):
            labels = (
                "by method, route and status" if family.type == "counter" else "by method and route"
            )
            total = "_total" * (family.type == "counter")
            yield f"{family.name}{total}", f"{family.type}, {labels}", family.documentation


# ATTP, windows, benchmarks


def _attp() -> Iterator[str]:
    limits, guide = Limits(), guide_in(Language.ENGLISH)
    yield _paragraph("A model's answer, which may stand in a fence with prose around it:")
    yield f"```toml\n{ATTP_ANSWER}```"
    yield _paragraph(
        "The `text` of the reply, to be handed back to the model; other fields say the same to a program:"
    )
    yield f"```toml\n{attp_reply()}```"
    yield _paragraph(
        "If something went wrong, `status` is `fail` and `error` says what, where, and what to do; the HTTP status is"
        " 200 then too. The code may call all [tools](tools.md) but those that say *not in ATTP*, and import"
        f" {', '.join(f'`{name}`' for name in ALLOWED)}; there are no files, no environment and no network. It is run"
        " again if others have changed the pages that it saw."
    )
    yield "## Limits"
    yield _items(
        [
            f"Answer: {LONGEST_ANSWER:,} characters, {LONGEST_CODE:,} of them code.",
            f"Time, with all calls: {limits.seconds:g} s. Memory: {limits.memory_bytes // 2**20} MiB.",
            f"Calls of functions: {limits.calls}. Calls within calls: {limits.depth} deep.",
            f"`__result__`: {limits.result:,} characters. Printed: {limits.printed:,} characters.",
            f"Arguments or answer of one call: {limits.longest:,} characters.",
        ]
    )
    yield "## What the model is told"
    yield f"With the setting `attp` a page of the system prompt says this, in the user's language:\n\n````text\n{_narrow(guide.text)}\n````"


def _narrow(text: str) -> str:
    wrapped = (
        textwrap.fill(line, WIDTH, subsequent_indent="    ") for line in text.strip().splitlines()
    )
    return "\n".join(wrapped)


def _window() -> Iterator[str]:
    yield _paragraph(
        "What a model sees of a small trip, in both languages: see [how pages make a window](../explanation/pages.md)."
    )
    for language in Language:
        yield f"## {language.name.capitalize()}"
        yield f"````markdown\n{window(language).strip()}\n````"


def _benchmarks() -> Iterator[str]:
    yield "The parts of `python -m benchmarks`; [how to measure](../how-to/measure.md) says how to read them."
    for title, parts in (
        ("Measured by default", PARTS),
        ("On conversations that you bring (`--data`)", (*QUALITY_PARTS, RECALL)),
    ):
        yield f"## {title}"
        yield _items(f"`{part}`: {_sentence(_first_line(_module_text(part)))}" for part in parts)


def _module_text(part: str) -> str | None:
    found = [ROOT / f"benchmarks/{part}.py", ROOT / f"benchmarks/{part}/__init__.py"]
    (path,) = (each for each in found if each.exists())
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
