"""Writes memci/client/page_operations.pyi: the tools for type checkers and editors.

Run ``python -m tests.support.client_stub`` after the table of tools has changed.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator, Sequence
from enum import Enum
from inspect import Parameter
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from memci.client.page_operations import PageOperations
from memci.client.pages import help_of, signature_of
from memci.schemas.tools.table import TOOLS, About, Tool

_LONGEST_LINE = 100
STUB = Path(__file__).parents[2] / "memci/client/page_operations.pyi"
_HEAD = '"""Types of page_operations.py, made by tests/support/client_stub.py."""'


def stub() -> str:
    """Return the text of the file."""
    return "\n".join([_HEAD, "", *_imports(), "", *_class()])


def _class() -> Iterator[str]:
    yield "class PageOperations(Methods[TransportT]):"
    yield _docstring(inspect.getdoc(PageOperations) or "", 4)
    for tool in TOOLS:
        if tool.about is About.PAGES:
            yield from _method(tool)


def _method(tool: Tool) -> Iterator[str]:
    yield "    @method"
    yield f"    def {tool.name}("
    named = False
    for parameter in signature_of(tool).parameters.values():
        if parameter.kind is Parameter.KEYWORD_ONLY and not named:
            named = True
            yield "        *,"
        yield f"        {_parameter(parameter)},"
    yield f"    ) -> Flow[{tool.answer.__name__}]:"
    yield _docstring(help_of(tool), 8)
    yield ""


def _parameter(parameter: Parameter) -> str:
    if parameter.annotation is Parameter.empty:
        return parameter.name
    typed = f"{parameter.name}: {_type(parameter.annotation)}"
    if parameter.default is Parameter.empty:
        return typed
    default = "..." if isinstance(parameter.default, (Enum, tuple)) else repr(parameter.default)
    return f"{typed} = {default}".replace("'", '"')


def _type(kind: Any) -> str:
    inner = get_args(kind)
    if get_origin(kind) is Sequence:
        return f"Sequence[{_type(inner[0])}]"
    if get_origin(kind) is Literal:
        return f"Literal[{', '.join(map(repr, inner))}]"
    if inner:
        return " | ".join(map(_type, inner))
    return "None" if kind is NoneType else kind.__name__


def _docstring(text: str, indent: int) -> str:
    lines = text.strip().splitlines()
    closed = (
        f'"""{lines[0]}"""' if len(lines) == 1 else "\n".join(['"""' + lines[0], *lines[1:], '"""'])
    )
    return textwrap.indent(closed, " " * indent)


def _import_line(module: str, names: list[str]) -> str:
    """Return the statement as ruff formats it."""
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= _LONGEST_LINE:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in names), ")"])


def _imports() -> list[str]:
    """Import the types of the methods, each from the module that defines it."""
    modules: dict[str, set[str]] = {
        "collections.abc": {"Sequence"},
        "typing": {"Literal"},
        "memci.client.method": {"Methods", "TransportT", "method"},
        "memci.client.requests": {"Flow"},
    }
    for tool in (each for each in TOOLS if each.about is About.PAGES):
        signature = signature_of(tool)
        annotations = [each.annotation for each in signature.parameters.values()]
        for kind in (tool.answer, *(part for each in annotations for part in get_args(each))):
            if isinstance(kind, type) and kind.__module__.startswith("memci."):
                modules.setdefault(kind.__module__, set()).add(kind.__name__)
    lines = [_import_line(name, sorted(modules[name])) for name in sorted(modules)]
    foreign = [line for line in lines if "memci" not in line]
    return [*foreign, "", *(line for line in lines if "memci" in line)]


if __name__ == "__main__":
    STUB.write_text(stub())
