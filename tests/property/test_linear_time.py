"""No text takes more than linear time in any function that reads texts.

Every public function of the text path that can be called with a text is found by its annotations,
so a new one is tested too. Processor time of the thread is measured.
"""

from __future__ import annotations

import gc
import inspect
import pkgutil
import time
import typing
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from types import UnionType
from typing import Any

import pytest

import memci
from memci.language.detection import Language
from memci.message import Message, Role

_PATH = ("memci.language", "memci.domain", "memci.smallmodel.offline")
_UNITS = (
    "a", "Ab ", "1", " ", "\t", "\n", "\r\n", '"', "“", "(", "（", "[", "{", ".", "...", ",", "，",
    "。", "、", ":", "-", "_", "/", "\\", "</", "&", "😀", "\u200b", "\u0301", "é", "?", "？", "'",
    "不", "需要", "你", "那", "如", "我", "年", "3月", "我喜欢猫。", "不，", "安：", "and ", "1, ",
    "- x\n", "a ", "x.\n", "(a). ", "http://a ", "a@a.", "1:1 ", "I like cats. ", "# a\n", "| a ",
    "```\n", "~", "*a* ", "the ", "Ann: ", "2024-01-01 ", "yes, ", "no ", "his ", "last ",
    "I am 30 and ", "because ", "[a](b) ", "please ", "谢谢", "请问", "还有", "可以",
)  # fmt: skip
_SHORT, _LONG = 2_500, 10_000
# Seconds of a long text that are not looked at more closely, and that none may take.
_FEW, _MOST = 0.15, 20.0
# Linear growth is 4; constant parts, caches and noise change it.
_GROWTH = 9.0
_NOW = datetime(2024, 5, 1, tzinfo=UTC)
# At least as many are found, or the search for them is wrong.
_FEWEST = 155


def _value(name: str, kind: Any, text: str) -> Any:
    """Return an argument; ``LookupError`` if a text makes none."""
    message = Message(seq=1, id="1", role=Role.USER, content=text, said_at=_NOW)
    plain: dict[Any, Any] = {
        str: text, Language: Language.ENGLISH, Message: message, int: 50, float: 0.5, bool: False,
        datetime: _NOW,
    }  # fmt: skip
    if kind in plain:
        return plain[kind]
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, UnionType):  # such as "str | None"
        return _value(name, inside[0], text)
    if name == "count":
        return len
    if origin is not None and inside and inside[0] in (str, Message):
        return [plain[inside[0]]]
    raise LookupError


def _call(function: Callable[..., Any], text: str) -> tuple[list[Any], dict[str, Any]]:
    hints, values, named = typing.get_type_hints(function), list[Any](), dict[str, Any]()
    takes_text = False
    for each in inspect.signature(function).parameters.values():
        if each.default is not each.empty or each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        kind = hints.get(each.name)
        value = _value(each.name, kind, text)
        takes_text |= isinstance(value, str | list | Message) and not isinstance(value, Language)
        if each.kind == each.KEYWORD_ONLY:
            named[each.name] = value
        else:
            values.append(value)
    if not takes_text:
        raise LookupError
    return values, named


def _functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for module in pkgutil.walk_packages(memci.__path__, "memci."):
        if not module.name.startswith(_PATH) or module.name.endswith(("__main__", "_files")):
            continue
        for name, found in vars(import_module(module.name)).items():
            if name.startswith("_") or getattr(found, "__module__", "") != module.name:
                continue
            if inspect.isfunction(found):
                yield f"{module.name}.{name}", found
            elif inspect.isclass(found) and name.startswith("Offline"):
                methods = (each for each in vars(found) if not each.startswith("_"))
                if not inspect.signature(found).parameters:
                    made = found()
                    yield from (
                        (f"{module.name}.{name}.{each}", getattr(made, each))
                        for each in methods
                        if inspect.isfunction(vars(found)[each])
                    )


def _testable() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, function in _functions():
        # It needs more than a text, or its types stand in a library that is loaded late.
        with suppress(LookupError, NameError):
            _call(function, "I like cats. 我喜欢猫。")
            yield name, function


def _consume(result: Any) -> None:
    if inspect.isgenerator(result):
        for _ in result:
            pass


def _seconds(function: Callable[..., Any], unit: str, length: int) -> float:
    values, named = _call(function, unit * (length // len(unit)))
    began = time.thread_time()
    with suppress(Exception):  # refused, at once or not
        _consume(function(*values, **named))
    return time.thread_time() - began


@pytest.mark.long
@pytest.mark.timeout(900)
def test_no_text_takes_more_than_linear_time() -> None:
    functions = dict(_testable())
    assert len(functions) >= _FEWEST
    slow = list[str]()
    gc.collect()
    gc.disable()  # it takes longer the more objects there are
    try:
        for name, function in functions.items():
            for unit in _UNITS:
                whole = _seconds(function, unit, _LONG)
                if whole < _FEW:
                    continue
                part = min(_seconds(function, unit, _SHORT) for _ in range(2))
                if whole > _MOST or whole / part > _GROWTH:
                    again = _seconds(function, unit, _LONG)
                    if min(whole, again) / part > _GROWTH or again > _MOST:
                        slow.append(f"{name} {unit!r}: {part:.3f} s, then {again:.3f} s")
    finally:
        gc.enable()
    assert not slow
