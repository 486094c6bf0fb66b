"""Detects key messages: what users say that must stay in view (R7).

Task definitions, goals (kind ``task``), constraints, decisions and preferences. What it finds costs
tokens in every context, so it is strict: it knows what people say to those who work for them, and
passes over what friends tell each other. It judges each sentence by itself, so the result does not
depend on how messages are split among calls.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from memci.language.detection import Language, language_of
from memci.language.key_messages.rules import NO_KEY_MESSAGE, RULES, PinKind
from memci.message import Message, Role

# A straight mark before a word opens, and one behind it closes: 24" is a length. Between marks that
# differ no other pair of the same can lie: each character is looked at once.
_QUOTED = re.compile(
    r"(?<!\w)\"(?=[^\s\"])(?:[^\"\n]|\n(?!\n))+(?<=\S)\"(?!\w)|“[^“”]+”|«[^«»]+»|「[^「」]+」|『[^『』]+』"
)
_HAN = re.compile(r"[\u3400-\u9fff]")
# A name, a term or a word to answer with is no speech: of those the rest of a sentence tells.
_WORDS = 4
_CHARACTERS = 8


def blank_quotations(text: str) -> str:
    """Return a text in which blanks stand for what is quoted, at the same places.

    Terms of fewer than four words, or eight Chinese characters, stay.
    """
    return _QUOTED.sub(lambda quoted: _blank(quoted[0]), text)


def _blank(quoted: str) -> str:
    inside = quoted[1:-1]
    words = len(inside.split(maxsplit=_WORDS))
    if words < _WORDS and len(_HAN.findall(inside)) < _CHARACTERS:
        return quoted
    return quoted[0] + re.sub(r"\S", " ", inside) + quoted[-1]


# Cuts a text into the (start, end) of its sentences, in characters and in order.
Cutter: TypeAlias = Callable[[str], Sequence[tuple[int, int]]]

LONGEST = 240  # characters of a sentence; one that says more is no rule that can be kept in mind
_SHORTEST = {Language.ENGLISH: 12, Language.CHINESE: 6}
_LOOKED_AT = 8_000  # characters of a message: what is pasted behind them is material
_MOST = 6  # findings in one message
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
        if (words := normalized_words(each.text)) not in known:
            known.add(words)
            found.append(each)
    return found[:_MOST]


def normalized_words(text: str) -> str:
    """Return what two texts have in common that say the same words: no case, no marks."""
    return _SOUND.sub(" ", text.casefold()).strip()


def key_message_kind(sentence: str, *, named: bool = False) -> PinKind | None:
    """Return what a sentence is; None: nothing that must stay in sight.

    ``named``: who says it has a name, as people have who talk with each other. What they are up to
    is no task of the agent that listens, unless they ask for it.
    """
    sentence = sentence.replace("’", "'")
    language = language_of(sentence)
    if not _SHORTEST[language] <= len(sentence) <= LONGEST or _MATERIAL.search(sentence):
        return None
    if NO_KEY_MESSAGE[language].search(sentence):
        return None
    rules = (rule for rule in RULES[language] if not (named and rule.told))
    return next((rule.kind for rule in rules if rule.fits(sentence)), None)


def _found(content: str, cut: Cutter, *, named: bool) -> Iterator[KeySentence]:
    own = blank_quotations(content)
    for start, end in cut(content):
        mark = _LIST_MARK.match(content, start, end)
        begin = mark.end() if mark else start
        # What is quoted may be anybody's rule.
        kind = key_message_kind(own[begin:end], named=named)
        if kind is not None:
            yield KeySentence(kind, begin, end, content[begin:end])
