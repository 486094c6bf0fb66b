"""Entities: the things that memories are about (M5).

Whether a text names an entity.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

# Words that stand for a thing without naming it.
_PRONOUNS = """
    i me my mine myself you your yours yourself he him his himself she her hers herself it its
    itself we us our ours ourselves they them their theirs themselves this that these those
    who whom whose which what one ones someone somebody something anyone anybody anything
    everyone everybody everything nobody nothing here there
    我 你 您 他 她 它 我们 咱 咱们 你们 他们 她们 它们 自己 大家 别人 人家 这 那 这个 那个 这些 那些
    这里 那里 这儿 那儿 这样 那样 谁 什么 哪 哪个 哪些 哪里 某人 某个
"""
_SHORTEST_NICKNAME = 3
_PRONOUN_WORDS = frozenset(_PRONOUNS.split())


def is_pronoun(word: str) -> bool:
    """Tell whether a word is an unresolved pronoun, which is never an entity."""
    return _folded(word) in _PRONOUN_WORDS


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing. Spellings that differ in case, width or blanks name the same one."""

    key: str
    name: str = field(compare=False)

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the entity of that name."""
        return cls(_folded(name), " ".join(name.split()))


def key_entities(
    entities: Sequence[str], keywords: Sequence[str], speakers: Collection[str] = ()
) -> tuple[Entity, ...]:
    """Return what a text is about: its key entities, else its best keyword that is no pronoun.

    Both are ordered best first, and so is the answer; it is empty when neither names a thing.
    Those who speak with each other are no key entities, as "I" and "you" are not: their names are
    said to call them, all would be linked to them, and nothing would ever fade.
    """
    named = [word for word in entities if _names_a_thing(word, speakers)]
    if not named:
        named = [word for word in keywords if _names_a_thing(word, speakers)][:1]
    return tuple(dict.fromkeys(map(Entity.named, named)))


def is_speaker(word: str, speakers: Iterable[str]) -> bool:
    """Tell whether a word names one of these people: whole, in part, or short ("Mel", Melanie)."""
    called = _folded(word)
    return any(called == name or _is_short_for(called, name) for name in map(_folded, speakers))


def _is_short_for(called: str, name: str) -> bool:
    parts = name.split()
    if called in parts:
        return True
    if called.isascii():
        return len(called) >= _SHORTEST_NICKNAME and any(part.startswith(called) for part in parts)
    return len(called) > 1 and name.endswith(called)  # a Chinese name without the surname


def _names_a_thing(word: str, speakers: Collection[str]) -> bool:
    return bool(word.strip()) and not is_pronoun(word) and not is_speaker(word, speakers)


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


# Where words are not set apart by blanks, a name begins and ends anywhere.
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_IN_WORD = rf"[^\W{_UNSPACED}]"


def names(text: str, key: str) -> bool:
    """Tell whether a text holds the entity's name, in any case, width or spacing, as a word.

    ``key`` is the entity's (``Entity.key``).
    """
    return bool(named(text, (key,)))


def named(text: str, keys: Iterable[str]) -> frozenset[str]:
    """Return those of the keys whose names a text holds."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return frozenset(key for key in keys if key in folded and _pattern(key).search(folded))


@lru_cache(1_024)
def _pattern(key: str) -> re.Pattern[str]:
    begin = rf"(?<!{_IN_WORD})" if re.match(_IN_WORD, key) else ""
    end = rf"(?!{_IN_WORD})" if re.search(rf"{_IN_WORD}\Z", key) else ""
    return re.compile(begin + re.escape(key) + end)
