"""Names, descriptions and entries of interactions, and their placeholders (P6, P7)."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memci.domain.pages.page import (
    LONGEST_DESCRIPTION,
    LONGEST_ENTRY,
    LONGEST_NAME,
    Page,
    one_line,
)
from memci.domain.pages.window_labels import labels_of, plain_name
from memci.domain.token_counts import Count
from memci.language.detection import Language, language_of
from memci.message import Message, Role

# Limits in tokens.
MOST_NAME = 24
MOST_DESCRIPTION = 60
MOST_ENTRY = 40  # P7, its role included

# Characters for each token of a limit; so all lines fit into pages (LONGEST_…).
_LONGEST_TOKEN = 8
_LONGEST_SPEAKER = 20
_MORE = "…"


@dataclass(frozen=True, slots=True)
class Outline:
    """Non-empty lines: name, description, and an entry for each message, with its speaker."""

    name: str
    description: str
    entries: tuple[str, ...]


def entry_prefix(message: Message, language: Language) -> str:
    """Return the beginning of an entry: ``user: ``, or ``user Mira: `` if the name is known."""
    labels = labels_of(language)
    label = labels.roles[message.role.value]
    if message.name and message.role is not Role.TOOL:
        label = f"{label} {one_line(plain_name(message.name), _LONGEST_SPEAKER)}".strip()
    return label + labels.colon


def fit_line(text: str, most: int, count: Count) -> str:
    """Return one line of at most ``most`` tokens and ``8 * most`` characters, cut with "…"."""
    line = " ".join(text.split())
    fits = len(line) <= most * _LONGEST_TOKEN and count(line) <= most
    return line if fits else _cut(line, most, count)


def with_outline(page: Page, outline: Outline) -> Page:
    """Return a page with an outline; names given by an agent or a developer are kept."""
    return replace(
        page,
        name=page.name if page.named else outline.name,
        description=page.description if page.named and page.description else outline.description,
        entries=outline.entries,
        named=True,
        summarized=True,
    )


def is_valid_outline(outline: Outline, messages: Sequence[Message]) -> bool:
    """Return True if there is an entry for each message and all lines have valid lengths."""
    lines = [(outline.name, LONGEST_NAME), (outline.description, LONGEST_DESCRIPTION)]
    lines += [(each, LONGEST_ENTRY) for each in outline.entries]
    return len(outline.entries) == len(messages) and all(
        line and line == one_line(line, longest) for line, longest in lines
    )


def _cut(line: str, most: int, count: Count) -> str:
    """Return the longest beginning that fits with "…", found by bisection."""
    ends = range(1, 1 + min(len(line), max(0, most * _LONGEST_TOKEN - len(_MORE))))
    end = bisect_right(ends, most, key=lambda end: count(line[:end].rstrip() + _MORE))
    cut = whole = line[:end]
    if end < len(line) and line[end].isascii() and line[end].isalnum():
        cut = cut.rpartition(" ")[0] or cut
    neat = cut.rstrip(" ,;:，；：、") + _MORE
    return neat if count(neat) <= most else whole.rstrip() + _MORE


# Characters of placeholders, until a small model has written the texts (P6).
_LONGEST_PLACEHOLDER = 80
# About thirty tokens: a Chinese character is one at least.
_LONGEST_ENTRY = {Language.ENGLISH: 80, Language.CHINESE: 28}


def entry_line(message: Message) -> str:
    """Return the placeholder of a message's entry, until it is summarized (P7)."""
    language = language_of(message.text)
    return entry_prefix(message, language) + one_line(message.text, _LONGEST_ENTRY[language])


def with_placeholders(page: Page, messages: Sequence[Message], last_seq: int) -> Page:
    """Return the page of one or more messages, with placeholders for all texts (P6).

    Its span ends with ``last_seq``: notes may come after the messages.
    """
    if page.span is None:
        raise AssertionError("only pages of interactions have messages")
    return replace(
        page,
        name=placeholder_name(messages[0]),
        description="",
        named=False,
        summarized=False,
        span=replace(page.span, first_seq=messages[0].seq, last_seq=last_seq),
        entries=tuple(entry_line(each) for each in messages) if page.span.number else (),
    )


def placeholder_name(message: Message) -> str:
    """Return the placeholder of a page's name (P6)."""
    return one_line(message.text, _LONGEST_PLACEHOLDER) or message.role.value
