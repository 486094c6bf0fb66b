"""A piece of a document that is found by itself (R9)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# Between the headings of a path: "Guide › Install".
PATH_SEPARATOR = " › "


class ChunkKind(StrEnum):
    """What a chunk was cut from: running text, rows of a table, or program code."""

    TEXT = "text"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of text and where in its document it stands.

    ``path``: the headings above it, or the symbols around it, outermost first. ``symbol``: the
    qualified name of the code that it is, parts joined by dots (``Parser.read``); a long symbol is
    several chunks. ``language``: that of the code (``python``), else that of the text (``en``).
    ``first_line``, ``last_line``: from 1, both included, where the file has lines. ``page``: from
    1, of what has pages or slides.
    """

    text: str
    path: tuple[str, ...] = ()
    kind: ChunkKind = ChunkKind.TEXT
    symbol: str | None = None
    language: str = "en"
    first_line: int | None = None
    last_line: int | None = None
    page: int | None = None

    @property
    def shown_path(self) -> str:
        """The path on one line."""
        return PATH_SEPARATOR.join(self.path)


def searched_text(name: str, path: str, text: str) -> str:
    """Return what is embedded and indexed of a chunk: where it stands helps to find it.

    ``name`` is the document's, of which the folders are left out.
    """
    place = PATH_SEPARATOR.join(each for each in (name.rpartition("/")[2], path) if each)
    return f"{place}\n{text}"
