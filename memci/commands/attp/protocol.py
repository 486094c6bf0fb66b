"""ATTP, the TOML tool protocol: reads the answer of a model (P15).

A model answers in TOML: ``thought``, and a table ``[tool_call]`` with ``status``. With "success" it
holds ``code``, Python to run; with "fail" a ``message`` on why the model cannot go on. ``target``
says what it is about, and comes back with our answer. The TOML may stand in a fence, with prose
around.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memci.errors import InvalidInputError, TooLargeError
from memci.schemas.attp import LONGEST_ANSWER, AttpStatus

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*(\w*)[^\n]*$", re.MULTILINE)
_LANGUAGES = {"", "toml", "attp"}
_BEGINNING = re.compile(r"^[ \t]*(?:thought[ \t]*=|\[tool_call\])", re.MULTILINE)
_GAP = re.compile(r"\n[ \t]*\n")
_LIKE_TOML = re.compile(r"^[ \t]*(\[|[\w.-]+[ \t]*=)|'''|\"\"\"", re.MULTILINE)
_AT_LINE = re.compile(r"\(at line (\d+), column (\d+)\)")
# Fences within code look like the end of the outer fence, so up to this many ends are tried.
_MOST_ENDS = 8


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of an answer, and the number of lines before it."""

    text: str
    lines_before: int

    def in_place(self, message: str) -> str:
        """Return a message of ``tomllib`` with the line counted in the whole answer."""
        return _AT_LINE.sub(
            lambda found: f"(line {int(found[1]) + self.lines_before}, column {found[2]})",
            message.replace("(at end of document)", "(at the end)"),
        )


def excerpts(text: str) -> Iterator[Excerpt]:
    """Yield the parts that may be the TOML, likeliest first: fenced ones, then ones in prose."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if not _BEGINNING.match(text):
        yield from _fenced(text)
    begins = _BEGINNING.search(text)
    if begins is None:
        yield Excerpt(text, 0)
        return
    rest = _cut(text, begins.start())
    yield rest
    for fence in list(_FENCE.finditer(rest.text))[:_MOST_ENDS]:  # its opening one may be missing
        yield Excerpt(rest.text[: fence.start()], rest.lines_before)
    # Without paragraphs at the end that do not look like TOML.
    for gap in reversed(list(_GAP.finditer(rest.text))[-_MOST_ENDS:]):
        if _LIKE_TOML.search(rest.text, gap.end()):
            return
        yield Excerpt(rest.text[: gap.start()], rest.lines_before)


def _cut(text: str, start: int, end: int | None = None) -> Excerpt:
    return Excerpt(text[start:end], text.count("\n", 0, start))


def _fenced(text: str) -> Iterator[Excerpt]:
    fences = list(_FENCE.finditer(text))
    for number, fence in enumerate(fences):
        if fence[2].lower() in _LANGUAGES and _BEGINNING.search(text, fence.end()):
            ends: list[int | None] = [
                each.start() for each in fences[number + 1 :] if each[1][0] == fence[1][0]
            ]
            for end in ends[:_MOST_ENDS] or [None]:
                yield _cut(text, fence.end() + 1, end)
            return


LONGEST_CODE = 32_000
LONGEST_MESSAGE = 8_000
LONGEST_TARGET = 500
EXAMPLE = """\
thought = "why I do this"

[tool_call]
status = "success"
target = "what it is about"
code = '''
__result__ = 1 + 1
'''
"""
_RAW = "put code between ''' and ''' (three single quotes): there nothing needs a backslash"
_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
# The time that ``tomllib`` takes for a key grows with the square of its parts.
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-]){_PART}(?:[ \t]*\.[ \t]*{_PART}){{64}}")
_END = "end a text with the same quotes that it begins with"
_HINTS = {
    "Unescaped '\\'": _RAW,
    "Illegal character '\\n'": f"a text of several lines needs three quotes; {_RAW}",
    "Unterminated": _END,
    "Expected \"'''\"": _END,
    "Expected '=' after a key": "write key = value, a text in quotes",
    "Invalid value": "put text in quotes",
    "Cannot overwrite": "write each key and each table once",
    "Cannot declare": "write each key and each table once",
}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's call: ``code`` to run, or, if that is empty, a message why it gives up."""

    thought: str
    target: str
    code: str
    message: str

    @property
    def status(self) -> AttpStatus:
        """Success if there is code to run, else failure."""
        return AttpStatus.SUCCESS if self.code else AttpStatus.FAIL


def read_answer(text: str) -> ToolCall:
    """Return the call in a model's answer.

    Raises ``InvalidInputError`` if the answer is no ATTP, with the line in the whole text and what
    was expected; ``TooLargeError`` above 100,000 characters, or 32,000 of code.
    """
    if len(text) > LONGEST_ANSWER:
        raise TooLargeError(
            f"expected an answer of at most {LONGEST_ANSWER} characters, got {len(text)}: do less "
            "in one call"
        )
    if not text.strip():
        raise _invalid("the answer is empty")
    if _LONG_KEY.search(text):
        raise _invalid("a key has more than 64 parts with dots between them")
    return _call(_document(text))


def _document(text: str) -> Mapping[str, Any]:
    """Return the first excerpt that is TOML with a call, or report the likeliest one."""
    errors: list[InvalidInputError] = []
    documents: list[Mapping[str, Any]] = []
    for excerpt in excerpts(text):
        try:
            documents.append(tomllib.loads(excerpt.text))
        except RecursionError:
            errors.append(_invalid("it is nested too deeply"))
        except tomllib.TOMLDecodeError as error:
            message = excerpt.in_place(str(error))
            hint = next((f"; {hint}" for sign, hint in _HINTS.items() if sign in message), "")
            errors.append(_invalid(f"not valid TOML: {message}{hint}"))
        else:
            if "tool_call" in documents[-1]:
                return documents[-1]
    if documents:
        return documents[0]
    raise errors[0]


def _call(document: Mapping[str, Any]) -> ToolCall:
    table = document.get("tool_call")
    if isinstance(table, list):
        raise _invalid("expected one [tool_call], not [[tool_call]]: make one call at a time")
    if not isinstance(table, dict):
        found = f", found {_names(document)}" if document else ""
        raise _invalid(f"expected a table [tool_call]{found}")
    status = _status(table)
    expected, other = ("code", "message") if status is AttpStatus.SUCCESS else ("message", "code")
    if not _text(table, expected).strip():
        raise _invalid(
            f'with status = "{status}", tool_call.{expected} is expected, found {_names(table)}',
            f"tool_call.{expected}",
        )
    if table.get(other):
        raise _invalid(f"tool_call has code and message: with {status} only {expected} is expected")
    return ToolCall(
        thought=_text(document, "thought", LONGEST_MESSAGE, prefix=""),
        target=_text(table, "target", LONGEST_TARGET),
        code=_text(table, "code", LONGEST_CODE),
        message=_text(table, "message", LONGEST_MESSAGE),
    )


def _status(table: Mapping[str, Any]) -> AttpStatus:
    status = table.get("status")
    try:
        return AttpStatus(status.strip().lower() if isinstance(status, str) else "")
    except ValueError:
        found = "found none" if status is None else f"found {str(status)[:40]!r}"
        raise _invalid(
            f'tool_call.status: expected "success" (with code to run) or "fail" (with a message), '
            f"{found}",
            "tool_call.status",
        ) from None


def _text(
    table: Mapping[str, Any], name: str, limit: int = LONGEST_ANSWER, *, prefix: str = "tool_call."
) -> str:
    value, field = table.get(name, ""), f"{prefix}{name}"
    if not isinstance(value, str):
        raise _invalid(f"{field}: expected text in quotes", field)
    if len(value) > limit:
        raise TooLargeError(
            f"{field}: expected at most {limit} characters, got {len(value)}", field=field
        )
    return value


def _names(table: Mapping[str, Any]) -> str:
    return ", ".join(name[:40] for name in list(table)[:8]) or "nothing"


def _invalid(what: str, field: str | None = None) -> InvalidInputError:
    return InvalidInputError(
        f"this is no ATTP: {what}. Answer with TOML like this:\n{EXAMPLE}", field=field
    )
