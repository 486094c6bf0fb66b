"""Names of people, places, products and works in a text (M5): never pronouns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from memci.domain.language import Language
from memci.smallmodel.offline import chinese
from memci.smallmodel.offline.chinese import TaggedWord
from memci.smallmodel.offline.rarity import UNKNOWN, rarity
from memci.smallmodel.offline.sentences import sentences
from memci.smallmodel.offline.words import (
    CHINESE_SURNAMES,
    ENGLISH_FIRST_NAMES,
    ENGLISH_NOT_NOUNS,
    ENGLISH_PRONOUNS,
    NOT_CHINESE_NAMES,
    NOT_NAMES,
)

MOST_ENTITIES = 4
LONGEST_NAME = 64

# A Latin letter or digit: \w would join a name to the Han characters beside it.
_L = r"[0-9A-Za-z_À-ɏ]"
_PART = rf"[A-ZÀ-ÖØ-Þ]{_L}*(?:[-'’.&+#/][A-Za-z0-9]{_L}*)*[+#]*"
_LINK = "(?:of the|of|de|van|von|the|and the) "
_NAME = re.compile(rf"(?<!{_L})(?<!['’-]){_PART}(?: (?:{_LINK})?(?:{_PART}|\d[0-9A-Za-z.]*))*")
# iPhone, npm2, o200k_base: a capital or a digit inside a word marks a product or an identifier.
_MADE = re.compile(rf"(?<!{_L})(?<!['’/.-])(?:[a-z]+[A-Z]{_L}*|[A-Za-z]+-?\d+{_L}*)(?!{_L})(?!/)")
_TITLE = re.compile(r"《([^《》\n]{1,40})》|[“\"]([A-Z][^“”\"\n]{2,40})[”\"]|「([^「」\n]{2,40})」")
_POSSESSIVE = re.compile(r"['’]s?$")
_NOT_NAMES = NOT_NAMES | ENGLISH_NOT_NOUNS
_CHINESE_NAMES = ("nr", "ns", "nt")
# jieba's dictionary has thousands of usual words among its names of two characters; those above
# this rarity seldom are.
_SELDOM = 14.2
_WHOLE_NAME = 3
_PLACE_ENDINGS = ("省", "市", "县", "镇", "州", "岛", "屿", "湖", "湾")
_PLACE_KINDS = ("城市", "小镇", "岛屿", "超市", "夜市", "海岛")
# A place that no dictionary has: 绿禾公园, 育英中学.
_PLACE = re.compile(
    "(?<=[去在到是了叫从来往于])[^\\W\\da-zA-Z去在到是了的叫从来往这那哪个家某有和我你他她]{2,5}"
    "(?:公园|大学|学院|中学|小学|医院|公司|机场|车站|博物馆|图书馆|广场|酒店|餐厅|书店|寺|山庄)"
)
_LATIN = re.compile(r"[A-Za-z]")
# A sentence may open with any word: a capital there makes a name only of a first name, of a word
# that no dictionary has and that is called (“Priya, …”) or spoken of, and of a rare word that does
# what people do (“Dana owns …”). “Progress is slow” and “Exams, again” name nobody.
_RARE = 7.4
_CALLED_OR_DOING = re.compile(
    r"['’]s\b|, |[ ](?:and|is|was|has|had|will|can|would|\w{2,}(?:s|ed))\b"
)
_DOING = re.compile(
    r"['’]s (?:in|at|on|the|my|our|idea|birthday|name|\w+(?:er|or))\b|[ ](?:owns?|leads?|said|says|"
    r"told|tells|made|makes|went|goes|got|gets|thinks|thought|wants|wanted|likes|loves|liked|loved|lives|"
    r"lived|works|worked|asked|asks|called|calls|came|comes|moved|met|wrote|writes|agreed|agrees|"
    r"decided|bought|promised|prefers|knows|knew|has|had)\b"
)
_ABSTRACT = re.compile(r"(?:ing|ly|ity|tion|ness|ment|ship|able|ful|ous|ed|ism|ance|ence)$")
_INTERJECTION = re.compile(r"(.)\1\1|^(?:[ah]+|[oh]+|[hm]+|[aw]+)$", re.IGNORECASE)
# Function words that open names as well: New York, Under Armour.
_OPENS_NAMES = frozenset(("new", "under", "over", "great", "big", "little", "good", "best", "old"))


def entities(text: str, language: Language, tagged: Iterable[TaggedWord]) -> list[str]:
    """Return the names in ``text``, best first; ``tagged`` are its words where it is Chinese."""
    found: Counter[str] = Counter()
    for name, weight in _found(text, language, tagged):
        if 0 < len(name) <= LONGEST_NAME and name.lower() not in ENGLISH_PRONOUNS:
            found[name] += weight
    names: list[str] = []
    # Counter keeps the order of first mention among equals.
    for name, _ in found.most_common():
        if not any(_within(name, kept) for kept in names):
            names.append(name)
    return names[:MOST_ENTITIES]


def _found(
    text: str, language: Language, tagged: Iterable[TaggedWord]
) -> Iterator[tuple[str, int]]:
    for match in _TITLE.finditer(text):
        yield next(group for group in match.groups() if group).strip(), 3
    if language is Language.CHINESE:
        yield from ((match[0], 3) for match in _PLACE.finditer(text))
        for word in tagged:
            if _names_something(word):
                yield word.text, 3 if word.tag == "nr" else 2
    for name in _latin_names(text):
        yield name, 2 + name.count(" ")


def _names_something(word: TaggedWord) -> bool:
    text, tag = word.text, word.tag
    if tag.startswith("n") and len(text) >= _WHOLE_NAME and text.endswith(_PLACE_ENDINGS):
        return not text.endswith(_PLACE_KINDS)
    if not tag.startswith(_CHINESE_NAMES) or len(text) == 1 or text in NOT_CHINESE_NAMES:
        return False
    if _LATIN.search(text):
        return False
    if tag in {"nr", "nrfg"}:
        whole = len(text) >= _WHOLE_NAME or chinese.rarity(text) > _SELDOM
        return text[0] in CHINESE_SURNAMES and whole
    return tag in {"ns", "nt"} or len(text) >= _WHOLE_NAME


def _latin_names(text: str) -> Iterator[str]:
    inside: set[str] = set()
    opening: list[str] = []
    for sentence in sentences(text):
        for match in _NAME.finditer(sentence):
            opens = not any(character.isalnum() for character in sentence[: match.start()])
            name = _trimmed(match[0], opens=opens)
            if not name:
                continue
            start = match.start() + match[0].index(name)
            opens = not any(character.isalnum() for character in sentence[:start])
            if opens and not _surely_a_name(name, sentence[start + len(name) :]):
                opening.append(name)
            else:
                inside.add(name)
                yield name
        yield from (match[0] for match in _MADE.finditer(sentence))
    yield from (name for name in opening if name in inside)


def _trimmed(name: str, *, opens: bool) -> str:
    """Drop words at both ends that are capitalised without being names, and possessives."""
    words = _POSSESSIVE.sub("", name.rstrip(".")).split(" ")
    if opens and len(words) > 1 and _is_participle(words[0]):
        words.pop(0)
    while words and _no_name(words[0]) and not _begins_a_name(words, opens=opens):
        words.pop(0)
        opens = False
    while words and _no_name(words[-1]):
        words.pop()
    return " ".join(words) if words and not words[0][0].isdigit() else ""


def _begins_a_name(words: list[str], *, opens: bool) -> bool:
    """Say whether a function word with a capital belongs to the name that follows it."""
    first = words[0].lower()
    named = len(words) > 1 and words[1][0].isupper() and not _no_name(words[1])
    return named and first in _OPENS_NAMES and (not opens or first == "new")


def _is_participle(word: str) -> bool:
    """Say whether a word is a verb's form in -ing: "Learning German", not "Beijing University"."""
    lower = word.lower()
    stem = lower.removesuffix("ing")
    verbs = (stem, f"{stem}e", stem[:-1])
    return lower != stem and len(stem) > 1 and any(rarity(verb) < UNKNOWN for verb in verbs)


def _no_name(word: str) -> bool:
    bare = re.split(r"['’]", word.lower())[0]
    if bare in _NOT_NAMES or bare.removesuffix("s") in _NOT_NAMES:
        return True
    return len(word) == 1 and not word.isdigit()


def _surely_a_name(name: str, rest: str) -> bool:
    if "-" in name and all(rarity(part) < UNKNOWN for part in name.lower().split("-")):
        return False
    if " " in name or not name[1:].islower() or name.lower() in ENGLISH_FIRST_NAMES:
        return True
    if _ABSTRACT.search(name) or _INTERJECTION.search(name) or _is_plural(name.lower()):
        return False
    known = rarity(name.lower())
    if known >= UNKNOWN:
        return bool(_CALLED_OR_DOING.match(rest))
    return known >= _RARE and bool(_DOING.match(rest))


def _is_plural(word: str) -> bool:
    return word.endswith("s") and rarity(word[:-1]) < UNKNOWN


def _within(name: str, longer: str) -> bool:
    return name != longer and name.lower() in longer.lower()
