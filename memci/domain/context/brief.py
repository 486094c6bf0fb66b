"""An interaction that is over: of each tool result one line is left (tool, arguments, outcome)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from memci.domain.context.interaction import Interaction, Unit
from memci.domain.message import JsonObject, Message, Role

# Characters. A result's beginning says what it is, its end what came of it.
_LONGEST_OUTCOME = 240
_OUTCOME_END = 80
_LONGEST_ARGUMENT = 160
CUT = " … "  # stands for what is cut out
# What words and figures are made of, but for Chinese; what is much longer is neither.
_RUN = r"(?:[^\W\u2e80-\u9fff\uff00-\uff0f\uff1a-\uffef]|[.,'’-])"
_DIGIT = re.compile(r"\d")
_RUN_BEGINS = re.compile(_RUN)
_RUN_AT_END = re.compile(rf"(?<!{_RUN}){_RUN}{{1,24}}\Z")
_RUN_AT_BEGIN = re.compile(rf"\A{_RUN}{{1,24}}(?!{_RUN})")


def in_brief(interaction: Interaction) -> Interaction:
    """Return it with each tool call and its result in brief; all other messages as they are.

    The tools, their arguments' names and which result answers which call stay, as chat APIs want
    them; raw texts are in the store. What is short stays as it is, byte for byte.
    """
    if not any(unit[0].tool_calls for unit in interaction.units):
        return interaction
    return Interaction(tuple(map(_brief, interaction.units)))


def message_in_brief(message: Message) -> Message:
    """Return one message as ``in_brief`` leaves it, with or without its calls or results."""
    if message.role is Role.TOOL:
        return _result(message)
    if not message.tool_calls:
        return message
    return replace(message, tool_calls=tuple(map(_call, message.tool_calls)))


def one_line(text: str, longest: int = _LONGEST_OUTCOME, end: int = _OUTCOME_END) -> str:
    """Return a text on one line, of at most ``longest`` characters: its beginning and its end."""
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    return f"{head(line, longest - end - len(CUT))}{CUT}{tail(line, end)}"


def head(text: str, most: int) -> str:
    """Return the beginning of a text, at most so many characters: half a figure is another one."""
    cut = text[:most]
    if _RUN_BEGINS.match(text, most):
        cut = _unless_figure(cut, _RUN_AT_END.sub("", cut))
    return cut.rstrip()


def tail(text: str, most: int) -> str:
    """Return the end of a text, as ``head`` does."""
    start = max(0, len(text) - most)
    cut = text[start:]
    if start and _RUN_BEGINS.match(text, start - 1):
        cut = _unless_figure(cut, _RUN_AT_BEGIN.sub("", cut))
    return cut.lstrip()


def _unless_figure(cut: str, without: str) -> str:
    """Return what was cut without its half word, or the half word where that is all."""
    return without if without or _DIGIT.search(cut) else cut


def _brief(unit: Unit) -> Unit:
    return tuple(map(message_in_brief, unit)) if unit[0].tool_calls else unit


def _result(message: Message) -> Message:
    content = message.content or ""
    if len(content) <= _LONGEST_OUTCOME and "\n" not in content:
        return message
    return replace(message, content=one_line(content))


def _call(call: JsonObject) -> JsonObject:
    function = call.get("function") or {}
    arguments = function.get("arguments")
    if not isinstance(arguments, str) or len(arguments) <= _LONGEST_ARGUMENT:
        return call
    return {**call, "function": {**function, "arguments": _shorter(arguments)}}


def _shorter(arguments: str) -> str:
    """Return arguments with their long values cut; still the JSON that chat APIs check."""
    try:
        read = json.loads(arguments)
    except ValueError:
        read = arguments
    return json.dumps(_cut(read), ensure_ascii=False, separators=(",", ":"))


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(inner) for name, inner in value.items()}
    if isinstance(value, str):
        return one_line(value, _LONGEST_ARGUMENT, 0) if len(value) > _LONGEST_ARGUMENT else value
    if isinstance(value, list):
        written = json.dumps(value, ensure_ascii=False)
        return value if len(written) <= _LONGEST_ARGUMENT else [one_line(written, 80, 0)]
    return value
