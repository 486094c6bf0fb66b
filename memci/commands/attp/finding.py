"""Where in a model's answer its TOML may be: models put fences and prose around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*(\w*)[^\n]*$", re.MULTILINE)
_LANGUAGES = {"", "toml", "attp"}
_BEGINNING = re.compile(r"^[ \t]*(?:thought[ \t]*=|\[tool_call\])", re.MULTILINE)
_AT_LINE = re.compile(r"\(at line (\d+), column (\d+)\)")
# Fences within code look like the end of the fence around it; so many are tried.
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
    """Return what may be the TOML, likeliest first: what is fenced, then without what is around."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if not _BEGINNING.match(text):
        yield from _fenced(text)
    begins = _BEGINNING.search(text)
    if begins is None:
        yield Excerpt(text, 0)
        return
    rest = _from(text, begins.start())
    yield rest
    yield from _before_fences(rest)
    yield from _before_prose(rest)


def _from(text: str, start: int, end: int | None = None) -> Excerpt:
    return Excerpt(text[start:end], text.count("\n", 0, start))


def _fenced(text: str) -> Iterator[Excerpt]:
    fences = list(_FENCE.finditer(text))
    for number, fence in enumerate(fences):
        if fence[2].lower() in _LANGUAGES and _BEGINNING.search(text, fence.end()):
            ends = [each.start() for each in fences[number + 1 :] if each[1][0] == fence[1][0]]
            for end in ends[:_MOST_ENDS]:
                yield _from(text, fence.end() + 1, end)
            if not ends:
                yield _from(text, fence.end() + 1)
            return


def _before_fences(rest: Excerpt) -> Iterator[Excerpt]:
    """Leave out a fence that ends what none began."""
    for fence in list(_FENCE.finditer(rest.text))[:_MOST_ENDS]:
        yield Excerpt(rest.text[: fence.start()], rest.lines_before)


def _before_prose(rest: Excerpt) -> Iterator[Excerpt]:
    """Leave out what comes after an empty line and does not look like TOML."""
    paragraphs = list(re.finditer(r"\n[ \t]*\n", rest.text))[-_MOST_ENDS:]
    for gap in reversed(paragraphs):
        tail = rest.text[gap.end() :]
        if re.search(r"^[ \t]*(\[|[\w.-]+[ \t]*=)|'''|\"\"\"", tail, re.MULTILINE):
            return
        yield Excerpt(rest.text[: gap.start()], rest.lines_before)
