"""Names in a question: people, places, products, titles (R10).

Precision comes before recall: a missed name costs little, because its characters are searched
anyway, but a word mistaken for a name finds the wrong memories. A Latin name has a capital that is
not due to the sentence; a Chinese name is found by its surname and the words beside it.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache

from memci.language.detection import Language, language_of
from memci.language.loading import TaskData
from memci.language.names import Entity, entities_named, is_pronoun, is_speaker
from memci.language.times.ranges import TimeExpression

_L = r"[0-9A-Za-zÀ-ÖØ-öø-ɏ_]"
_PART = rf"[A-ZÀ-ÖØ-Þ]{_L}*(?:[-'’.&+#/]{_L}+)*[+#]*"
_LINK = "(?:of the|of|de|da|van|von|the|and the) "
_NAME = re.compile(
    rf"(?<!{_L})(?<!['’-])(?:(?:Dr|Mr|Mrs|Ms|St)\. )?{_PART}"
    rf"(?: (?:{_LINK})?(?:{_PART}|\d[0-9A-Za-z.]*))*"
)
# iPhone, npm2, o200k_base: a capital or a figure inside a word marks a product or an identifier.
_MADE = re.compile(
    rf"(?<!{_L})(?<!['’/.$€£-])(?:[a-z]+[A-Z]{_L}*|[A-Za-z]+-?\d+{_L}*)(?!{_L})(?!/)"
)
# In a Chinese question Latin letters are names: of people, products, programs.
_FOREIGN = re.compile(rf"(?<!{_L})[A-Za-zÀ-ɏ]{_L}+(?:[-.'’]{_L}+)*(?: {_L}+)*[+#]*")
_OWNER = re.compile(rf"({_L}+)['’]s ")
_POSSESSIVE = re.compile(r"['’]s?\Z")
_SENTENCE_BEGINS = re.compile(r"(?:\A|[.!?。！？:：;；\n]|[\"“(])[\s\"“(—–-]*\Z")
_TITLES = ("Dr.", "Mr.", "Mrs.", "Ms.", "St.")
_NEAR = 8
_DATA = TaskData("names")
_NO_NAMES = _DATA.words("no_names_in_questions")
_DOING = _DATA.pattern("doing_in_questions", flags=0)
_NOT_OPENING = re.compile(r"(?:ing|ly|ed)\Z")
_SHORTEST_FOREIGN = 2


def _latin_names(text: str, language: Language) -> Iterator[tuple[int, str]]:
    """Yield each name with its position.

    In a text without small letters capitals do not count.
    """
    if language is Language.CHINESE:
        for match in _FOREIGN.finditer(text):
            if len(match[0]) >= _SHORTEST_FOREIGN and match[0].lower() not in _NO_NAMES:
                yield match.start(), match[0]
        return
    if not any(each.islower() for each in text):
        return
    for match in _MADE.finditer(text):
        yield match.start(), match[0]
    opening: list[tuple[int, str]] = []
    inside: set[str] = set()
    for match in _NAME.finditer(text):
        for start, name in _split_possessive(*_trim_name(match)):
            if _is_at_sentence_start(text, start) and not _is_certain_name(
                name, text[start + len(name) :]
            ):
                opening.append((start, name))
            else:
                inside.add(name)
                yield start, name
    yield from ((start, name) for start, name in opening if name in inside)


def _trim_name(match: re.Match[str]) -> tuple[str, int]:
    """Remove possessives, and capitalised words at both ends that are no names."""
    words = match[0].split(" ")
    start = match.start()
    while words and _is_no_name(words[0]):
        start += len(words.pop(0)) + 1
    while words and _is_no_name(words[-1]):
        words.pop()
    name = _POSSESSIVE.sub("", " ".join(words)).rstrip(".")
    return ("", start) if not name or name[0].isdigit() or len(name) == 1 else (name, start)


def _split_possessive(name: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield an owner and its property separately: Evan and Prius of "Evan's Prius"."""
    owner = _OWNER.match(name)
    if owner and not _is_no_name(owner[1]):
        yield start, owner[1]
        name, start = name[owner.end() :], start + owner.end()
    if name and not name[0].isdigit():
        yield start, name


def _is_no_name(word: str) -> bool:
    bare = _POSSESSIVE.sub("", word.lower()).rstrip(".")
    return word not in _TITLES and (bare in _NO_NAMES or word.lower() in _NO_NAMES)


def _is_at_sentence_start(text: str, start: int) -> bool:
    before = text[max(0, start - _NEAR) : start]
    return bool(_SENTENCE_BEGINS.search(before)) and not before.endswith(_ABBREVIATIONS)


_ABBREVIATIONS = ("Dr. ", "Mr. ", "Mrs. ", "Ms. ", "St. ")


def _is_certain_name(name: str, rest: str) -> bool:
    if " " in name or not name[1:].islower():
        return True
    return not _NOT_OPENING.search(name) and bool(_DOING.match(rest))


@cache
def _chinese_patterns() -> tuple[re.Pattern[str], ...]:
    """Compile the patterns at first use: most processes never need them."""
    names = ("person", "called", "place_in_questions", "travelled")
    return tuple(_DATA.pattern(name, flags=0) for name in names)


_NO_PLACE = _DATA.pattern("no_place", flags=0)


def _chinese_names(text: str) -> Iterator[tuple[int, str]]:
    for pattern in _chinese_patterns():
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
    masked = _mask_times(text, expressions)
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
    """Remove names that are part of another: "Smith" beside "Ada Smith"."""
    return {
        key: place
        for key, place in found.items()
        if not any(key != other and key in entities_named(other, (key,)) for other in found)
    }


def _mask_times(text: str, expressions: Iterable[TimeExpression]) -> str:
    """Return the text with dots in place of expressions of time, which may contain capitals."""
    for each in expressions:
        text = text[: each.start] + "." * (each.end - each.start) + text[each.end :]
    return text


def _is_title(quoted: str) -> bool:
    """Return True for a Chinese quotation, or one whose long words have capitals."""
    words = [word for word in quoted.split() if len(word) > 3]  # noqa: PLR2004
    return language_of(quoted) is Language.CHINESE or (
        bool(words) and all(not word[0].islower() for word in words)
    )
