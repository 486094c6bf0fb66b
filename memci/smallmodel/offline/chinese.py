"""Chinese words and their kinds, from jieba's own dictionary."""

from __future__ import annotations

import logging
import math
import re
import warnings
from dataclasses import dataclass
from typing import Any

from memci.smallmodel.offline.once import Once
from memci.smallmodel.offline.words import CHINESE_SURNAMES

# jieba's time is quadratic in a run of unknown characters; words do not reach over these marks.
_MARKS = r"\s，。！？；：,!?;"
_RUN = re.compile(rf"[^{_MARKS}]{{0,200}}[{_MARKS}]+|[^{_MARKS}]{{1,200}}")
_LATIN = re.compile(r"[0-9A-Za-z]")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_LONGEST_PERSON = 3


@dataclass(frozen=True, slots=True)
class TaggedWord:
    """A word and jieba's tag of it: n noun, nr person, ns place, nt organisation, r pronoun.

    Words that are not in the dictionary are ``eng`` when Latin, ``nr`` when they look like a
    person's name, ``n`` when longer than a character, and else ``x``.
    """

    text: str
    tag: str


@dataclass(frozen=True, slots=True)
class _Dictionary:
    cutter: Any  # jieba.Tokenizer
    tags: dict[str, str]
    total: float


def words(text: str) -> list[str]:
    """Cut ``text`` into words; joined they are the text again."""
    cutter = _dictionary.get().cutter
    return [word for run in _RUN.findall(text) for word in cutter.cut(run)]


def tagged_words(text: str) -> list[TaggedWord]:
    """Cut ``text`` into words with their tags.

    Not by ``jieba.posseg``: its model of unknown words takes milliseconds for each character.
    """
    tags = _dictionary.get().tags
    return [TaggedWord(word, tags.get(word) or _tag_of_unknown(word)) for word in words(text)]


def rarity(word: str) -> float:
    """Say how rare a word is in Chinese text: about 3 for 的, 11 for a usual noun, 17 unknown."""
    dictionary = _dictionary.get()
    return math.log(dictionary.total / max(dictionary.cutter.FREQ.get(word, 0), 2))


def _tag_of_unknown(word: str) -> str:
    if _LATIN.match(word):
        return "eng"
    if len(word) == 1 or not _HAN.fullmatch(word):
        return "x"
    return "nr" if word[0] in CHINESE_SURNAMES and len(word) <= _LONGEST_PERSON else "n"


def _load() -> _Dictionary:
    with warnings.catch_warnings():
        # jieba's sources have escapes that newer Pythons warn of, and it looks for pkg_resources.
        warnings.simplefilter("ignore")
        import jieba  # noqa: PLC0415 - a second and 100 MB: only where Chinese is cut

    jieba.setLogLevel(logging.ERROR)  # it prints to stderr
    cutter = jieba.Tokenizer()
    # jieba's own way keeps its dictionary in the shared temporary folder and trusts whatever
    # lies there under that name: read the packaged dictionary instead.
    cutter.FREQ, cutter.total = cutter.gen_pfdict(cutter.get_dict_file())
    cutter.initialized = True
    with cutter.get_dict_file() as file:
        entries = (line.decode().split(" ") for line in file)
        tags = {word: tag.strip() for word, _, tag in entries}
    return _Dictionary(cutter, tags, float(cutter.total))


_dictionary = Once(_load)
