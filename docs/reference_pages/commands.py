"""The page of commands: their arguments and options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from docs.reference_pages.markdown import items, literal, paragraph, sentence
from memci.cli.app import app as command_line


def blocks() -> Iterator[str]:
    """Yield the blocks of commands.md."""
    yield paragraph(
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
        yield from (paragraph(part) for part in (command.help or "").split("\n\n") if part.strip())
        context = command.context_class(command, info_name=path[-1])
        told = [_parameter(each, context) for each in command.params if each.name != "help"]
        if told:
            yield items(told)
    for name, each in inner.items():
        yield from _command(each, (*path, name))


def _argument(each: Any) -> str:
    word = (each.metavar or each.name or "").upper() + ("…" if each.nargs == -1 else "")
    return word if each.required else f"[{word}]"


def _parameter(each: Any, context: Any) -> str:
    if each.param_type_name == "argument":
        return f"`{_argument(each)}`: {sentence(each.help)}"
    flag = isinstance(each.default, bool)
    value = "" if flag else f" {each.metavar or _kind(each, context)}"
    spelt = ", ".join(f"`{option}{value}`" for option in (*each.opts, *each.secondary_opts))
    shown = each.default not in (None, False, (), []) and not callable(each.default)
    default = f" Default: {literal(each.default)}." if shown else ""
    required = " Required." if each.required else ""
    return f"{spelt}: {sentence(each.help)}{required}{default}"


def _kind(each: Any, context: Any) -> str:
    """Return the type of an option's value, or its choices: ``INT``, ``json|jsonl|text``."""
    shown = str(each.display_type(context)).strip("<>").removeprefix("list[").removesuffix("]")
    return shown if "|" in shown else shown.removesuffix(" range").upper()
