"""What stands for an interaction where its messages are not shown (P6, P7), and how long it may be.

All of it is counted in tokens as the agent's model counts them, and in characters: a token may be a
row of sixty-four hyphens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memci.domain.context.message_list import Count
from memci.domain.pages.labels import labels_of, plain_name
from memci.domain.pages.page import (
    LONGEST_DESCRIPTION,
    LONGEST_ENTRY,
    LONGEST_NAME,
    Page,
    one_line,
)
from memci.language.detection import Language
from memci.message import Message, Role

# Tokens.
MOST_NAME = 24
MOST_DESCRIPTION = 60
MOST_ENTRY = 40  # P7, its role included

# Characters that a token may stand for; so all lines are within what pages hold (LONGEST_…).
_LONGEST_TOKEN = 8
_LONGEST_SPEAKER = 20

_MORE = "…"


@dataclass(frozen=True, slots=True)
class Outline:
    """What an interaction is called, what it was about, and a line for each of its messages.

    Each is one line, none is empty, and ``entries`` begin with who spoke.
    """

    name: str
    description: str
    entries: tuple[str, ...]


def entry_prefix(message: Message, language: Language) -> str:
    """Return what an entry begins with: ``user: ``, or ``user Mira: `` of who gave a name."""
    labels = labels_of(language)
    label = labels.roles[message.role.value]
    if message.name and message.role is not Role.TOOL:
        label = f"{label} {one_line(plain_name(message.name), _LONGEST_SPEAKER)}".strip()
    return label + labels.colon


def fit_line(text: str, most: int, count: Count) -> str:
    """Return a text as one line of at most so many tokens, ended by "…" where it is cut.

    It has at most eight characters for each of them, which words do not come to.
    """
    line = " ".join(text.split())
    fits = len(line) <= most * _LONGEST_TOKEN and count(line) <= most
    return line if fits else _cut(line, most, count)


def with_outline(page: Page, outline: Outline) -> Page:
    """Return a page with what the summarizer says of it, save what somebody has said himself."""
    return replace(
        page,
        name=page.name if page.named else outline.name,
        description=page.description if page.named and page.description else outline.description,
        entries=outline.entries,
        named=True,
        summarized=True,
    )


def is_valid_outline(outline: Outline, messages: Sequence[Message]) -> bool:
    """Tell whether there is an entry for each message, and all are lines that a page can have.

    None is empty, or longer than what pages hold.
    """
    return (
        len(outline.entries) == len(messages)
        and _is_line(outline.name, LONGEST_NAME)
        and _is_line(outline.description, LONGEST_DESCRIPTION)
        and all(_is_line(each, LONGEST_ENTRY) for each in outline.entries)
    )


def _is_line(text: str, longest: int) -> bool:
    return bool(text) and text == one_line(text, longest)


def _cut(line: str, most: int, count: Count) -> str:
    """Find the longest beginning that fits with its mark; counts grow nearly with the length."""
    least, longest = 0, min(len(line), max(0, most * _LONGEST_TOKEN - len(_MORE)))
    while least < longest:
        middle = (least + longest + 1) // 2
        if count(line[:middle].rstrip() + _MORE) <= most:
            least = middle
        else:
            longest = middle - 1
    cut = whole = line[:least]
    if least < len(line) and line[least : least + 1].isascii() and line[least].isalnum():
        cut = cut.rpartition(" ")[0] or cut
    neat = cut.rstrip(" ,;:，；：、") + _MORE
    return neat if count(neat) <= most else whole.rstrip() + _MORE
