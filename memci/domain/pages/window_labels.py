"""Labels of the window in the agent's language, and safe forms of untrusted text (P11)."""

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files

from memci.language.detection import Language


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels; ``{}`` is a number."""

    heading: str  # a page's name with its state
    page: str
    folder: str
    expanded: str
    page_hidden: str
    folder_hidden: str
    pinned: str
    takes: str
    system: str
    conversation: str
    archive: str
    archive_says: str
    recalled: str
    recalled_once: str
    never_recalled: str
    more: str  # entries that are not shown
    collapsed: str
    excess: str
    comma: str
    colon: str
    between: str  # indexes in a row
    lost: str
    pins: str
    pin_kinds: dict[str, str]
    roles: dict[str, str]


_TABLES = tomllib.loads((files(__package__) / "labels.toml").read_text(encoding="utf-8"))
_LABELS = {
    Language.ENGLISH: Labels(**_TABLES["english"]),
    Language.CHINESE: Labels(**_TABLES["chinese"]),
}


def labels_of(language: Language) -> Labels:
    """Return the labels of a language."""
    return _LABELS[language]


_FENCE = re.compile(r"`{3,}")
# The beginnings of headings, in Markdown or as text, and of fences.
_MARK = re.compile(r"\s*(?:[#=]|`{3}|~{3})")


def fenced(text: str, label: str = "") -> str:
    """Fence a text by more backticks than it has in a row."""
    fence = "`" * (1 + max((len(match[0]) for match in _FENCE.finditer(text)), default=2))
    return f"{fence}{label}\n{text}\n{fence}"


def plain_name(name: str | None) -> str:
    """Return the name of a speaker without characters that could break a line or a fence."""
    return re.sub(r"[\s`]+", " ", name or "").strip()


def plain_line(line: str) -> str:
    """Return a line that stands alone and begins neither a heading nor a fence."""
    return f"\\{line}" if _MARK.match(line) else line
