"""Detect key messages: statements of users that must stay in view (R7).

Task definitions, goals (kind ``task``), constraints, decisions and preferences. Key messages cost
tokens in every context, so the rules are strict: they match instructions to those who work for the
user, and ignore talk among friends. Each sentence is judged alone, so the result does not depend on
how messages are split among calls.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from memci.language.detection import Language, language_of
from memci.language.key_messages.rules import NO_KEY_MESSAGE, RULES, PinKind
from memci.message import Message, Role

# A straight mark opens before a word and closes after it: 24" is a length. Different marks contain
# no other pair of the same, so each character is read once.
_QUOTED = re.compile(
    r"(?<!\w)\"(?=[^\s\"])(?:[^\"\n]|\n(?!\n))+(?<=\S)\"(?!\w)|“[^“”]+”|«[^«»]+»|「[^「」]+」|『[^『』]+』"
)
_HAN = re.compile(r"[\u3400-\u9fff]")
# A shorter quotation is a name, a term or a word to answer with, not speech.
_WORDS = 4
_CHARACTERS = 8


def blank_quotations(text: str) -> str:
    """Return a text with quotations replaced by blanks of the same length.

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

LONGEST = 240  # characters of a sentence; longer ones are no rules
_SHORTEST = {Language.ENGLISH: 12, Language.CHINESE: 6}
_LOOKED_AT = 8_000  # characters of a message; pasted material follows
_MOST = 6  # findings in one message
# Code, quoted lines and tables are material; a list mark is not part of the item.
_MATERIAL = re.compile(r"^(?:```|~~~|>|\||\s{4,}\S|[{}<\[])|[{};]$")
_LIST_MARK = re.compile(r"\s*(?:[-*+•]\s+|\(?\d{1,2}[.)、]\s*)")
_SOUND = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class KeySentence:
    """A key sentence at [start, end) of a message's content, in characters."""

    kind: PinKind
    start: int
    end: int
    text: str


def key_sentences(message: Message, cut: Cutter) -> list[KeySentence]:
    """Return the key sentences of a message, at most six.

    Only messages of users have any. System text is in every context anyway (R14).
    """
    if message.role is not Role.USER or not message.content:
        return []
    found: list[KeySentence] = []
    known: set[str] = set()
    for each in _find_key_sentences(message.content[:_LOOKED_AT], cut, named=bool(message.name)):
        if (words := normalized_words(each.text)) not in known:
            known.add(words)
            found.append(each)
    return found[:_MOST]


def normalized_words(text: str) -> str:
    """Return the words of a text for comparison, without case and marks."""
    return _SOUND.sub(" ", text.casefold()).strip()


def key_message_kind(sentence: str, *, named: bool = False) -> PinKind | None:
    """Return the kind of a key sentence; None for other sentences.

    ``named``: the speaker has a name, as people in a conversation do. Their plans are no tasks of
    the listening agent, unless they ask for it.
    """
    sentence = sentence.replace("’", "'")
    language = language_of(sentence)
    if not _SHORTEST[language] <= len(sentence) <= LONGEST or _MATERIAL.search(sentence):
        return None
    if NO_KEY_MESSAGE[language].search(sentence):
        return None
    rules = (rule for rule in RULES[language] if not (named and rule.ignored_if_named))
    return next((rule.kind for rule in rules if rule.fits(sentence)), None)


def _find_key_sentences(content: str, cut: Cutter, *, named: bool) -> Iterator[KeySentence]:
    own = blank_quotations(content)
    for start, end in cut(content):
        mark = _LIST_MARK.match(content, start, end)
        begin = mark.end() if mark else start
        # A quotation may be a rule of others.
        kind = key_message_kind(own[begin:end], named=named)
        if kind is not None:
            yield KeySentence(kind, begin, end, content[begin:end])
