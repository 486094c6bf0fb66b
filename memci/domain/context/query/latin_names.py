"""Names in Latin letters: what has a capital that the sentence does not give it (R10)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memci.domain.language import Language

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
_NO_NAMES = frozenset(
    """
    a an the this that these those such both each every all any some no none another other others
    i i'm i've i'd i'll me my mine you your yours he him his she her hers it its we us our ours they
    them their theirs myself yourself ourselves
    who whom whose what which when where why how whether if because since though although while
    am is are was were be been being do does did done doing have has had having can could will would
    shall should may might must let let's isn't aren't wasn't weren't don't doesn't didn't hasn't
    haven't can't couldn't won't wouldn't
    what's who's where's when's how's that's there's it's
    and or but nor so yet not also then than too very just only even still already now here there
    of in on at by for from to into onto with without within about above across after against along
    among around as before behind below beneath beside besides between beyond despite down during
    except inside like near off out outside over past through throughout toward towards under until
    till up upon via per according
    tell give list name show find describe explain summarize summarise compare say remind recall
    remember mention discuss state write read help check look think consider suppose imagine please
    ok okay yes hey hi hello thanks thank sorry well oh ah
    first second third last next today yesterday tomorrow tonight recently lately currently
    earlier later again once ever never always sometimes usually often
    how's many much more most less least several few
    mr mrs ms dr sir madam tv pc
    monday tuesday wednesday thursday friday saturday sunday january february march april june july
    august september october november december
    am pm ok q a's
    """.split()  # noqa: SIM905
)
# After these a word with a capital that opens the sentence is somebody who does something.
_DOING = re.compile(
    r"['’]s\b|,? (?:and|or|&) [A-Z]|[ ](?:said|says|told|went|goes|likes|liked|"
    r"loves|"
    r"wants|wanted|lives|lived|works|worked|made|got|bought|met|mentioned|recommended|asked|called)\b"
)
_NOT_OPENING = re.compile(r"(?:ing|ly|ed)\Z")
_SHORTEST_FOREIGN = 2


def latin_names(text: str, language: Language) -> Iterator[tuple[int, str]]:
    """Yield each name with its place.

    In a text without any small letters capitals mean nothing, and none is found by them.
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
        for start, name in _apart(*_trimmed(match)):
            if _opens(text, start) and not _surely_a_name(name, text[start + len(name) :]):
                opening.append((start, name))
            else:
                inside.add(name)
                yield start, name
    yield from ((start, name) for start, name in opening if name in inside)


def _trimmed(match: re.Match[str]) -> tuple[str, int]:
    """Drop words at both ends that have a capital without being names, and possessives."""
    words = match[0].split(" ")
    start = match.start()
    while words and _no_name(words[0]):
        start += len(words.pop(0)) + 1
    while words and _no_name(words[-1]):
        words.pop()
    name = _POSSESSIVE.sub("", " ".join(words)).rstrip(".")
    return ("", start) if not name or name[0].isdigit() or len(name) == 1 else (name, start)


def _apart(name: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield an owner and what is owned by themselves: "Evan's Prius"."""
    owner = _OWNER.match(name)
    if owner and not _no_name(owner[1]):
        yield start, owner[1]
        name, start = name[owner.end() :], start + owner.end()
    if name and not name[0].isdigit():
        yield start, name


def _no_name(word: str) -> bool:
    bare = _POSSESSIVE.sub("", word.lower()).rstrip(".")
    return word not in _TITLES and (bare in _NO_NAMES or word.lower() in _NO_NAMES)


def _opens(text: str, start: int) -> bool:
    """Say whether a place is the beginning of a sentence, where any word has a capital."""
    before = text[max(0, start - _NEAR) : start]
    return bool(_SENTENCE_BEGINS.search(before)) and not before.endswith(_ABBREVIATIONS)


_ABBREVIATIONS = ("Dr. ", "Mr. ", "Mrs. ", "Ms. ", "St. ")


def _surely_a_name(name: str, rest: str) -> bool:
    if " " in name or not name[1:].islower():
        return True
    return not _NOT_OPENING.search(name) and bool(_DOING.match(rest))
