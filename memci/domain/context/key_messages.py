"""The key-message detector: what users say that must stay in sight (R7).

Task definitions, goals (kind ``task``), constraints, decisions and preferences. What it finds costs
tokens in every context, so it is strict: it knows what people say to who works for them, and passes
over what friends tell each other. A finding is a sentence, and looks at no other one: however
messages are parted among calls, the same is found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from memci.domain.context.cues import chinese_keys, english_keys
from memci.domain.context.cues.speech import without_speech
from memci.domain.language import Language, language_of
from memci.domain.message import Message, Role
from memci.domain.pages.pin import PinKind

# Cuts a text into the (start, end) of its sentences, in characters and in order.
Cutter: TypeAlias = Callable[[str], Sequence[tuple[int, int]]]

LONGEST = 240  # characters of a sentence; one that says more is no rule that can be kept in mind
_SHORTEST = {Language.ENGLISH: 12, Language.CHINESE: 6}
_LOOKED_AT = 8_000  # characters of a message: what is pasted behind them is material
_MOST = 6  # findings in one message
_RULES = {
    Language.ENGLISH: (english_keys.NO_KEYS, english_keys.RULES),
    Language.CHINESE: (chinese_keys.NO_KEYS, chinese_keys.RULES),
}
# Code, quoted lines and tables are material; a list's mark is not a part of what it lists.
_MATERIAL = re.compile(r"^(?:```|~~~|>|\||\s{4,}\S|[{}<\[])|[{};]$")
_LIST_MARK = re.compile(r"\s*(?:[-*+•]\s+|\(?\d{1,2}[.)、]\s*)")
_SOUND = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class KeySentence:
    """A sentence of a message's content that must stay in sight: [start, end) in characters."""

    kind: PinKind
    start: int
    end: int
    text: str


def key_sentences(message: Message, cut: Cutter) -> list[KeySentence]:
    """Return what must stay in sight of a message, at most six sentences.

    Only users are listened to. System text stands in every context as it is (R14), and would stand
    there twice.
    """
    if message.role is not Role.USER or not message.content:
        return []
    found: list[KeySentence] = []
    known: set[str] = set()
    for each in _found(message.content[:_LOOKED_AT], cut, named=bool(message.name)):
        if (words := words_of(each.text)) not in known:
            known.add(words)
            found.append(each)
    return found[:_MOST]


def words_of(text: str) -> str:
    """Return what two texts have in common that say the same words: no case, no marks."""
    return _SOUND.sub(" ", text.casefold()).strip()


def kind_of(sentence: str, *, named: bool = False) -> PinKind | None:
    """Return what a sentence is; None: nothing that must stay in sight.

    ``named``: who says it has a name, as people have who talk with each other. What they are up to
    is no task of the agent that listens, unless they ask for it.
    """
    sentence = sentence.replace("’", "'")
    language = language_of(sentence)
    if not _SHORTEST[language] <= len(sentence) <= LONGEST or _MATERIAL.search(sentence):
        return None
    never, rules = _RULES[language]
    if never.search(sentence):
        return None
    said = (rule for rule in rules if not (named and rule.told))
    return next((rule.kind for rule in said if rule.holds(sentence)), None)


def _found(content: str, cut: Cutter, *, named: bool) -> Iterator[KeySentence]:
    own = without_speech(content)
    for start, end in cut(content):
        mark = _LIST_MARK.match(content, start, end)
        begin = mark.end() if mark else start
        # What is quoted may be anybody's rule.
        kind = kind_of(own[begin:end], named=named)
        if kind is not None:
            yield KeySentence(kind, begin, end, content[begin:end])
