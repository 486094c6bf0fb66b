"""Reads the corpora: archives of entries, and questions with the entries that answer them.

``README.md`` describes the format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from pathlib import Path

from memci.message import Message, Role

CORPORA = Path(__file__).parent / "corpora"
KINDS = ("single", "multi", "temporal", "open", "update", "situation")

_SESSION = re.compile(r"@ (\d{4}-\d\d-\d\d)(?: \d\d:\d\d)?")
_ENTRY = re.compile(
    r"(?P<speaker>[^\[\]:：@?=#\s][^\[\]:：]{0,40}?)"
    r"(?: \[(?P<name>[A-Za-z0-9_-]+)\])?[:：] ?(?P<text>.*)"
)


class CorpusError(ValueError):
    """A line that does not follow the format."""


@dataclass
class Entry:
    """A message, note or record."""

    speaker: str
    text: str
    session: int  # from 1
    day: date
    name: str | None = None  # by which questions name it as evidence

    @property
    def searched(self) -> str:
        """The text that memci embeds."""
        at = datetime.combine(self.day, time(12), UTC)
        return Message(1, "m", Role.USER, self.text, at, self.speaker).searched


@dataclass
class Question:
    """A question, or a situation that makes one think of an entry."""

    kind: str
    evidence: tuple[int, ...]  # places of all entries that are needed, from 0
    text: str = ""
    answer: str = ""


@dataclass
class Archive:
    """The memory of one agent."""

    name: str
    entries: list[Entry] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


def read_corpora(folder: Path = CORPORA) -> dict[str, list[Archive]]:
    """Return the archives of each file, by the name of the file."""
    return {path.stem: list(read_corpus(path)) for path in sorted(folder.glob("*.txt"))}


def read_corpus(path: Path) -> Iterator[Archive]:
    """Yield the archives of a file. Raises ``CorpusError`` with the number of a faulty line."""
    lines = path.read_text("utf-8").split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("## ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield _Reader(path, start).archive(lines[start:end])


class _Reader:
    """Reads the lines of one archive."""

    def __init__(self, path: Path, first: int) -> None:
        self._path = path
        self._number = first
        self._session = 0
        self._day: date | None = None
        self._entry: Entry | None = None
        self._question: Question | None = None
        self._named: list[tuple[Question, list[str]]] = []

    def archive(self, lines: list[str]) -> Archive:
        archive = Archive(lines[0].removeprefix("## ").strip())
        for line in lines:
            self._number += 1
            if line.startswith("## ") or not line.strip():
                continue
            self._read(line, archive)
        places = {each.name: at for at, each in enumerate(archive.entries) if each.name}
        for question, names in self._named:
            if missing := [name for name in names if name not in places]:
                raise CorpusError(f"{self._path.name}, {archive.name}: no entry {missing}")
            question.evidence = tuple(dict.fromkeys(places[name] for name in names))
        return archive

    def _read(self, line: str, archive: Archive) -> None:
        asked = self._question
        if line.startswith("  "):
            self._continue(line[2:])
        elif line.startswith("? "):
            kind, *names = line[2:].split()
            if kind not in KINDS or not names:
                raise self._error("a question needs a kind and its evidence")
            self._question, self._entry = Question(kind, ()), None
            self._named.append((self._question, names))
            archive.questions.append(self._question)
        elif asked is not None and not asked.text:
            asked.text = line
        elif asked is not None and not asked.answer:
            if not line.startswith("= "):
                raise self._error('an answer begins with "= "')
            asked.answer, self._question = line[2:], None
        elif match := _SESSION.fullmatch(line.strip()):
            self._session, self._day = self._session + 1, date.fromisoformat(match[1])
            self._entry = None
        else:
            self._add_entry(line, archive)

    def _continue(self, text: str) -> None:
        if self._question is not None and self._question.text:
            self._question.text += f"\n{text}"
        elif self._entry is not None:
            self._entry.text += f"\n{text}"
        else:
            raise self._error("nothing to continue")

    def _add_entry(self, line: str, archive: Archive) -> None:
        match = _ENTRY.fullmatch(line)
        if match is None or self._day is None:
            raise self._error("neither a session nor an entry of one")
        self._entry = Entry(
            match["speaker"], match["text"], self._session, self._day, match["name"]
        )
        archive.entries.append(self._entry)

    def _error(self, problem: str) -> CorpusError:
        return CorpusError(f"{self._path.name}, line {self._number}: {problem}")
