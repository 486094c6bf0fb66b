"""Names of people, places, products and works in a text (M5): never pronouns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from memci.smallmodel.offline import chinese
from memci.smallmodel.offline.chinese import TaggedWord
from memci.smallmodel.offline.latin_names import latin_names
from memci.smallmodel.offline.words import (
    CHINESE_SURNAMES,
    ENGLISH_PRONOUNS,
    HAN_NUMERALS,
    MEASURE_WORDS,
    NOT_CHINESE_NAMES,
)

MOST_ENTITIES = 4
LONGEST_NAME = 64

_TITLE = re.compile(r"《([^《》\n]{1,40})》|[“\"]([A-Z][^“”\"\n]{2,40})[”\"]|「([^「」\n]{2,40})」")
_CHINESE_NAMES = ("nr", "ns", "nt")
# jieba's dictionary has thousands of usual words among its names of two characters; those above
# this rarity seldom are.
_SELDOM = 14.2
_WHOLE_NAME = 3
_SHORTEST_IN_TITLE = 4  # letters of a word that has its capital in a title
_PLACE_ENDINGS = ("省", "市", "县", "镇", "州", "岛", "屿", "湖", "湾")
_PLACE_KINDS = ("城市", "小镇", "岛屿", "超市", "夜市", "海岛")
# A place that no dictionary has: 绿禾公园, 育英中学.
_KIND = "公园|大学|学院|中学|小学|医院|公司|机场|车站|博物馆|图书馆|广场|酒店|餐厅|书店|寺|山庄"
_PLACE = re.compile(
    "(?<=[去在到是了叫从来往于])[^\\W\\da-zA-Z去在到是了的叫从来往这那哪个家某有和我你他她]{2,5}"
    f"(?:{_KIND})"
)
# What tells which or how many, and names no place: 一名小学, 附近公园, 重点中学.
_UNNAMED = re.compile(
    f"^(?:[{HAN_NUMERALS}][{MEASURE_WORDS}]|附近|当地|本地|隔壁|楼下|楼上|对面|旁边|小区|社区|市里|城里|"
    "县里|镇上|村里|郊区|郊外|市中心|重点|普通|著名|知名|公立|私立|民办|国际|大型|小型|外地|国外|国内|很多|"
    "许多|一些|所有|自家|母校|新开)+"
)
_PLACE_KIND = re.compile(f"(?:[\u3400-\u9fff]?(?:{_KIND}))?")
_LATIN = re.compile(r"[A-Za-z]")


def entities(text: str, tagged: Iterable[TaggedWord]) -> list[str]:
    """Return the names in ``text``, best first; ``tagged``: the words of its Chinese sentences."""
    found: Counter[str] = Counter()
    for name, weight in _found(text, tagged):
        if 0 < len(name) <= LONGEST_NAME and name.lower() not in ENGLISH_PRONOUNS:
            found[name] += weight
    names: list[str] = []
    # Counter keeps the order of first mention among equals.
    for name, _ in found.most_common():
        if not any(_within(name, kept) for kept in names):
            names.append(name)
    return names[:MOST_ENTITIES]


def _found(text: str, tagged: Iterable[TaggedWord]) -> Iterator[tuple[str, int]]:
    for match in _TITLE.finditer(text):
        title = next(group for group in match.groups() if group).strip()
        if not match[2]:
            yield title, 3
        elif _is_title(title):
            yield title.removeprefix("The "), 3
    if tagged:
        for match in _PLACE.finditer(text):
            place = _UNNAMED.sub("", match[0])
            if not _PLACE_KIND.fullmatch(place):
                yield place, 3
        for word in tagged:
            if _names_something(word):
                yield word.text, 3 if word.tag == "nr" or chinese.is_nickname(word.text) else 2
    for name in latin_names(text):
        yield name, 2 + name.count(" ")


def _names_something(word: TaggedWord) -> bool:
    text, tag = word.text, word.tag
    if tag.startswith("n") and len(text) >= _WHOLE_NAME and text.endswith(_PLACE_ENDINGS):
        return not text.endswith(_PLACE_KINDS)
    if chinese.is_nickname(text) or chinese.is_given_name(text):
        return True
    if not tag.startswith(_CHINESE_NAMES) or len(text) == 1 or text in NOT_CHINESE_NAMES:
        return False
    if _LATIN.search(text):
        return False
    if tag in {"nr", "nrfg"}:
        whole = len(text) >= _WHOLE_NAME or chinese.rarity(text) > _SELDOM
        return text[0] in CHINESE_SURNAMES and whole
    return tag in {"ns", "nt"} or len(text) >= _WHOLE_NAME


def _within(name: str, longer: str) -> bool:
    return name != longer and name.lower() in longer.lower()


def _is_title(quoted: str) -> bool:
    """Say whether most words of a quotation have a capital: a title has, a saying has not."""
    words = [word for word in quoted.split() if len(word) >= _SHORTEST_IN_TITLE]
    return 2 * sum(not word[0].islower() for word in words) >= len(words)
