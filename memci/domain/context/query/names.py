"""Whom and what a question names (R10)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from memci.domain.context.query.chinese_names import chinese_names
from memci.domain.context.query.latin_names import latin_names
from memci.domain.context.query.moment import Moment
from memci.domain.language import Language, language_of
from memci.domain.memory.entity import Entity, is_pronoun, is_speaker
from memci.domain.memory.naming import named

_MOST = 12
_LONGEST = 64
# A character alone is in too many words.
_SHORTEST_CHINESE = 2
_TITLE = re.compile(
    r"[《〈]([^《》〈〉\n]{1,40})[》〉]|[「『]([^「」『』\n]{2,40})[」』]|[“\"]([^“”\"\n]{2,40})[”\"]"
)


def holds(text: str, keys: Iterable[str]) -> frozenset[str]:
    """Return those of the keys of a question's entities that a text names, as whole words."""
    return named(text, keys)


def called(entities: Iterable[str], names: Collection[str]) -> frozenset[str]:
    """Return those of the names that an entity is short for, where it can be only one: "Mel"."""
    found = set()
    for entity in entities:
        meant = [name for name in names if is_speaker(entity, (name,))]
        if len(meant) == 1:
            found.update(meant)
    return frozenset(found)


def speakers_in(text: str, names: Collection[str]) -> frozenset[str]:
    """Return those of the names that a question holds: whole words, in any case.

    Of Chinese names the characters; a name of a single character is not looked for.
    """
    by_key: dict[str, list[str]] = {}
    for name in names:
        key = Entity.named(name).key
        chinese = language_of(name) is Language.CHINESE
        if key and (not chinese or len(key) >= _SHORTEST_CHINESE):
            by_key.setdefault(key, []).append(name)
    return frozenset(name for key in named(text, by_key) for name in by_key[key])


def entities_in(
    text: str, language: Language, known: Collection[str], moments: Iterable[Moment]
) -> tuple[str, ...]:
    """Return the named things of a question, at most 12, in the order of their mention.

    ``known``: names that are known to be names, whatever their letters. What tells a time is none.
    """
    masked = _masked(text, moments)
    found: dict[str, tuple[int, str]] = {}
    for at, name in (*_known(text, known), *_named(masked, language)):
        key = Entity.named(name).key
        if key and len(name) <= _LONGEST and not is_pronoun(name):
            found[key] = min(found.get(key, (at, name)), (at, name))
    return tuple(name for _, name in sorted(_longest(found).values())[:_MOST])


def _named(text: str, language: Language) -> Iterator[tuple[int, str]]:
    for match in _TITLE.finditer(text):
        title = next(group for group in match.groups() if group).strip()
        if match[3] is None or _is_title(title):
            yield match.start(), title
    if language is Language.CHINESE:
        yield from chinese_names(text)
    yield from latin_names(text, language)


def _known(text: str, known: Collection[str]) -> Iterator[tuple[int, str]]:
    lower = text.casefold()
    for name in known:
        place = lower.find(name.casefold())
        yield max(place, 0), name


def _longest(found: dict[str, tuple[int, str]]) -> dict[str, tuple[int, str]]:
    """Leave out what is only a part of another: "Smith" beside "Ada Smith"."""
    return {
        key: place
        for key, place in found.items()
        if not any(key != other and key in named(other, (key,)) for other in found)
    }


def _masked(text: str, moments: Iterable[Moment]) -> str:
    """Return the text with a dot for each character of a time: dates and holidays name nobody."""
    for each in moments:
        text = text[: each.start] + "." * (each.end - each.start) + text[each.end :]
    return text


def _is_title(quoted: str) -> bool:
    """Say whether a quotation names something: its long words have capitals, or it is Chinese."""
    words = [word for word in quoted.split() if len(word) > 3]  # noqa: PLR2004
    return language_of(quoted) is Language.CHINESE or (
        bool(words) and all(not word[0].islower() for word in words)
    )
