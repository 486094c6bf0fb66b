"""Names in a question: people, places, products, titles (R10).

Precision comes before recall: a missed name costs little, because its characters are searched
anyway, but a word mistaken for a name finds the wrong memories. A Latin name has a capital that is
not due to the sentence; a Chinese name is found by its surname and the words beside it.
"""

import re
from collections.abc import Collection, Iterable, Iterator

from memci.language.detection import Language, language_of
from memci.language.loading import TaskData
from memci.language.names import (
    NOT_NAMES,
    Entity,
    entities_named,
    is_pronoun,
    is_speaker,
    latin_names,
)
from memci.language.times.ranges import TimeExpression, mask_times

_L = r"[0-9A-Za-zÀ-ÖØ-öø-ɏ_]"
# In a Chinese question Latin letters are names: of people, products, programs.
_FOREIGN = re.compile(rf"(?<!{_L})[A-Za-zÀ-ɏ]{_L}+(?:[-.'’]{_L}+)*(?: {_L}+)*[+#]*")
_OWNER = re.compile(rf"({_L}+)['’]s ")
_DATA = TaskData("names")
_DOING = _DATA.pattern("doing_in_questions", flags=0)
_NOT_OPENING = re.compile(r"(?:ing|ly|ed)\Z")
_SHORTEST_FOREIGN = 2


def _latin_names(text: str, language: Language) -> Iterator[tuple[int, str]]:
    """Yield each name with its position."""
    if language is Language.CHINESE:
        for match in _FOREIGN.finditer(text):
            if len(match[0]) >= _SHORTEST_FOREIGN and match[0].lower() not in NOT_NAMES:
                yield match.start(), match[0]
        return
    # In a text without small letters capitals do not count.
    if any(each.islower() for each in text):
        for start, name in latin_names(text, _is_certain_name):
            yield from _split_possessive(name, start)


def _split_possessive(name: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield an owner and its property separately: Evan and Prius of "Evan's Prius"."""
    owner = _OWNER.match(name)
    if owner:
        yield start, owner[1]
        name, start = name[owner.end() :], start + owner.end()
    if name and not name[0].isdigit():
        yield start, name


def _is_certain_name(name: str, rest: str) -> bool:
    if " " in name or not name[1:].islower():
        return True
    return not _NOT_OPENING.search(name) and bool(_DOING.match(rest))


_CHINESE_NAMES = tuple(
    _DATA.pattern(name, flags=0) for name in ("person", "called", "place_in_questions", "travelled")
)
_NO_PLACE = _DATA.pattern("no_place", flags=0)


def _chinese_names(text: str) -> Iterator[tuple[int, str]]:
    for pattern in _CHINESE_NAMES:
        for match in pattern.finditer(text):
            if not _NO_PLACE.fullmatch(match["name"]):
                yield match.start("name"), match["name"]


_MOST = 12
_LONGEST = 64
# A character alone is in too many words.
_SHORTEST_CHINESE = 2
_TITLE = re.compile(
    r"[《〈]([^《》〈〉\n]{1,40})[》〉]|[「『]([^「」『』\n]{2,40})[」』]|[“\"]([^“”\"\n]{2,40})[”\"]"
)


def speakers_called(entities: Iterable[str], names: Collection[str]) -> frozenset[str]:
    """Return the names that an entity abbreviates unambiguously: "Mel"."""
    found = set()
    for entity in entities:
        meant = [name for name in names if is_speaker(entity, (name,))]
        if len(meant) == 1:
            found.update(meant)
    return frozenset(found)


def speakers_in(text: str, names: Collection[str]) -> frozenset[str]:
    """Return the names that a question contains as whole words, in any case.

    Chinese names match by their characters; names of one character are not searched.
    """
    by_key: dict[str, list[str]] = {}
    for name in names:
        key = Entity.named(name).key
        chinese = language_of(name) is Language.CHINESE
        if key and (not chinese or len(key) >= _SHORTEST_CHINESE):
            by_key.setdefault(key, []).append(name)
    return frozenset(name for key in entities_named(text, by_key) for name in by_key[key])


def entities_in(
    text: str, language: Language, known: Collection[str], expressions: Iterable[TimeExpression]
) -> tuple[str, ...]:
    """Return the names in a question, at most 12, in order of first mention.

    ``known``: names that count in any case. Expressions of time are no names.
    """
    masked = mask_times(text, expressions)  # which may contain capitals
    found: dict[str, tuple[int, str]] = {}
    for at, name in (*_known(text, known), *_named(masked, language)):
        key = Entity.named(name).key
        if key and len(name) <= _LONGEST and not is_pronoun(name):
            found[key] = min(found.get(key, (at, name)), (at, name))
    return tuple(name for _, name in sorted(_without_contained(found).values())[:_MOST])


def _named(text: str, language: Language) -> Iterator[tuple[int, str]]:
    for match in _TITLE.finditer(text):
        title = next(group for group in match.groups() if group).strip()
        if match[3] is None or _is_title(title):
            yield match.start(), title
    if language is Language.CHINESE:
        yield from _chinese_names(text)
    yield from _latin_names(text, language)


def _known(text: str, known: Collection[str]) -> Iterator[tuple[int, str]]:
    lower = text.casefold()
    for name in known:
        place = lower.find(name.casefold())
        yield max(place, 0), name


def _without_contained(found: dict[str, tuple[int, str]]) -> dict[str, tuple[int, str]]:
    """Remove names that are part of another: "Smith" in "Ada Smith"."""
    return {
        key: place
        for key, place in found.items()
        if not any(key != other and key in entities_named(other, (key,)) for other in found)
    }


def _is_title(quoted: str) -> bool:
    """Return True for a Chinese quotation, or one whose long words have capitals."""
    words = [word for word in quoted.split() if len(word) > 3]  # noqa: PLR2004
    return language_of(quoted) is Language.CHINESE or (
        bool(words) and all(not word[0].islower() for word in words)
    )
