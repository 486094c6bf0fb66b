"""Key messages: sentences of users that must stay in view (R7).

Task definitions, goals (kind ``task``), constraints, decisions and preferences. A model reads the
sentences; here it is decided which of them a message can give.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memci.domain.pages.pins import PinKind
from memci.language.sentences import normalized_words
from memci.message import Message, Role

LONGEST = 240  # characters of a sentence; longer ones are no rules
_SHORTEST = 4
_MOST = 6  # findings in one message
# Of a longer message only the beginning and the end can tell what the user wants: material that
# somebody else wrote lies between them. In characters.
_LONG, _ENDS = 2_000, 600
# Code, quoted lines and tables are material; a list mark is not part of the item.
_MATERIAL = re.compile(r"^(?:```|~~~|>|\||[{}<\[])|[{};]$")
_LIST_MARK = re.compile(r"\s*(?:[-*+•]\s+|\(?\d{1,2}[.)、]\s*)")
# A straight mark opens before a word and closes after it: 24" is a length. Different marks contain
# no other pair of the same, so each character is read once.
_QUOTED = re.compile(
    r"(?<!\w)\"(?=[^\s\"])(?:[^\"\n]|\n(?!\n))+(?<=\S)\"(?!\w)|“[^“”]+”|«[^«»]+»|「[^「」]+」|『[^『』]+』"
)


@dataclass(frozen=True, slots=True)
class KeySentence:
    """A key sentence at [start, end) of a message's content, in characters."""

    kind: PinKind
    start: int
    end: int
    text: str


def may_have_keys(message: Message) -> bool:
    """Return True for messages of users: system text is in every context anyway (R14)."""
    return message.role is Role.USER and bool(message.content)


def key_sentences(
    message: Message, kinds: Iterable[tuple[int, int, PinKind | None]]
) -> list[KeySentence]:
    """Return the key sentences of a message, at most six.

    ``kinds``: (start, stop, kind) of its sentences as a model read them, in order. A sentence that
    says nothing beside a quotation is none: the quoted words may be a rule of others.
    """
    content = message.content or ""
    own = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), content)
    found: dict[str, KeySentence] = {}
    for start, stop, kind in kinds:
        if kind is None or stop > len(content) or _is_material(content, start, stop):
            continue
        mark = _LIST_MARK.match(content, start, stop)
        begin = mark.end() if mark else start
        text = content[begin:stop]
        is_own = any(map(str.isalnum, own[begin:stop]))
        if is_own and sum(map(str.isalnum, text)) >= _SHORTEST and len(text) <= LONGEST:
            found.setdefault(normalized_words(text), KeySentence(kind, begin, stop, text))
    return list(found.values())[:_MOST]


def _is_material(content: str, start: int, stop: int) -> bool:
    if len(content) > _LONG and _ENDS < start < len(content) - _ENDS:
        return True
    return bool(_MATERIAL.search(content[start:stop]))
