"""What stands for an interaction where its messages are not shown (P6, P7), and how long it may be.

All of it is counted in tokens as the agent's model counts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memci.domain.context.budget import Count
from memci.domain.language import Language
from memci.domain.message import Message, Role
from memci.domain.pages.fence import plain_name
from memci.domain.pages.labels import labels_of
from memci.domain.pages.page import Page, one_line

# Tokens.
MOST_NAME = 24
MOST_DESCRIPTION = 60
MOST_ENTRY = 40  # P7, its role included

_LONGEST_SPEAKER = 20  # characters

_MORE = "…"


@dataclass(frozen=True, slots=True)
class Outline:
    """What an interaction is called, what it was about, and a line for each of its messages.

    Each is one line, none is empty, and ``entries`` begin with who spoke.
    """

    name: str
    description: str
    entries: tuple[str, ...]


def lead(message: Message, language: Language) -> str:
    """Return what an entry begins with: ``user: ``, or ``user Mira: `` of who gave a name."""
    labels = labels_of(language)
    label = labels.roles[message.role.value]
    if message.name and message.role is not Role.TOOL:
        label = f"{label} {one_line(plain_name(message.name), _LONGEST_SPEAKER)}".strip()
    return label + labels.colon


def fitted(text: str, most: int, count: Count) -> str:
    """Return a text as one line of at most so many tokens, ended by "…" where it is cut."""
    line = " ".join(text.split())
    return line if count(line) <= most else _cut(line, most, count)


def named(page: Page, outline: Outline) -> Page:
    """Return a page with what the summarizer says of it, save what somebody has said himself."""
    return replace(
        page,
        name=page.name if page.named else outline.name,
        description=page.description if page.named and page.description else outline.description,
        entries=outline.entries,
        named=True,
        summed=True,
    )


def is_outline_of(outline: Outline, messages: Sequence[Message]) -> bool:
    """Tell whether there is an entry for each message, and nothing is empty or of several lines."""
    lines = (outline.name, outline.description, *outline.entries)
    return len(outline.entries) == len(messages) and all(
        line and line == one_line(line, len(line)) for line in lines
    )


def _cut(line: str, most: int, count: Count) -> str:
    """Find the longest beginning that fits with its mark; counts grow nearly with the length."""
    least, longest = 0, min(len(line), 16 * most)
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
