"""Weigh the words of a text by their rarity.

``data/english_words.txt`` has the whole words of BERT's vocabulary (Apache-2.0), from the most to
the least frequent of a large corpus. By Zipf's law the logarithm of a word's place is its rarity
(inverse document frequency), up to a constant.
"""

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources

from memci.language import chinese_words, word_lists
from memci.language.detection import Language
from memci.language.loading import LoadOnce

# The rarity of a word outside the vocabulary: mostly names and technical terms.
UNKNOWN = 11.0


def rarity(word: str) -> float:
    """Return the rarity of a lower-case word: 0.7 for "the", 7 for "garden", 11 when unknown."""
    return _table.get().get(word, UNKNOWN)


def _load() -> dict[str, float]:
    words = resources.files(__package__).joinpath("data", "english_words.txt").read_text("ascii")
    return {word: math.log(place) for place, word in enumerate(words.split(), start=2)}


_table = LoadOnce(_load)


_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
# jieba would cut "don't" into three.
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]+(?:['’][A-Za-z]+)+")
_HAN = re.compile(r"[\u3400-\u9fff]")
_NUMBER = 8.0
_NEGATION = 4.0
_TIME = 5.0
# The factor of the day of the text, which a memory has anyway.
_SAME_DAY = 0.25
_TODAY = re.compile(
    r"\b(?:today|tonight|right now|this (?:morning|afternoon|evening))\b(?: \([\d-]+\))?",
    re.IGNORECASE,
)
_NAME_FACTOR = 2.5
_RARE = 7.5
# The rarity of the most usual words, which have no value.
_ENGLISH_FLOOR = 2.0
_CHINESE_FLOOR = 4.0
_INDEFINITE = re.compile(f"一[{word_lists.MEASURE_WORDS}]")  # 一部, 一本: "a"
_TITLE = re.compile("《[^《》\n]{1,40}》")
_LEAST_IN_TITLE = 1.5  # for each character
_RAREST_CHINESE = 13.0  # rarer words are mostly cut wrongly, or bookish
_CHINESE_NAME_TAGS = frozenset(("nr", "ns", "nt", "nz", "nrt"))
_CHINESE_NAME = 1.6
_CHINESE_SINGLE = 0.6
_UNKNOWN_CHINESE = 17.0  # rarity of unknown words: mostly names and brands
_CHINESE_UNKNOWN = 1.4
# By jieba's tags: adverbs, adjectives, idioms, phrases.
_CHINESE_KINDS = {"d": 0.4, "a": 0.6, "i": 0.6, "l": 0.6, "c": 0.2, "p": 0.3, "r": 0.3, "n": 1.2}
_SAME_SCALE = 0.8  # jieba's rarities run higher than the English ones


@dataclass(frozen=True, slots=True)
class Word:
    """A word at [start, end) of its text; one of ``weight`` 0 can be left out without loss."""

    text: str
    start: int
    end: int
    weight: float
    negation: bool = False

    @property
    def key(self) -> str:
        """The same for all occurrences of a word."""
        return self.text.lower()


def is_specific(word: Word) -> bool:
    """Return True if a word is a name or a number, and so is informative alone."""
    if any(character.isdigit() for character in word.text):
        return True
    if _HAN.search(word.text):
        named = (
            chinese_words.tag(word.text) in _CHINESE_NAME_TAGS
            and word.text not in word_lists.CHINESE_NO_NAMES
        )
        return len(word.text) > 1 and (named or chinese_words.is_nickname(word.text))
    first_name = word.key in word_lists.ENGLISH_FIRST_NAMES
    return word.text[0].isupper() and (word.start > 0 or first_name or word.weight >= _RARE)


def weigh(text: str, language: Language) -> list[Word]:
    """Return the words of ``text`` with their weights, in order."""
    return _weigh_chinese(text) if language is Language.CHINESE else _weigh_english(text)


def _weigh_english(text: str) -> list[Word]:
    words = [
        _english_word(match[0], match.start(), opens=match.start() == 0)
        for match in _WORD.finditer(text)
    ]
    today = [match.span() for match in _TODAY.finditer(text)]
    return [_scaled_inside(word, today, _SAME_DAY) for word in words] if today else words


def _scaled_inside(word: Word, spans: Sequence[tuple[int, int]], factor: float) -> Word:
    inside = any(start <= word.start < end for start, end in spans)
    return replace(word, weight=word.weight * factor) if inside else word


def _weigh_chinese(text: str) -> list[Word]:
    latin = [(match.start(), match[0]) for match in _LATIN_WORD.finditer(text)]
    found = [_english_word(word, start, opens=False) for start, word in latin]
    inside = {start + offset for start, word in latin for offset in range(len(word))}
    at = 0
    for word in chinese_words.words(text):
        if at in inside:
            pass
        elif _HAN.search(word):
            found.append(Word(word, at, at + len(word), *_chinese_weight(word)))
        elif any(character.isalnum() for character in word):
            found.append(_english_word(word, at, opens=False))
        at += len(word)
    titles = [match.span() for match in _TITLE.finditer(text)]
    if titles:
        found = [_weigh_in_titles(word, titles) for word in found]
    return sorted(found, key=lambda word: word.start)


def _weigh_in_titles(word: Word, titles: Sequence[tuple[int, int]]) -> Word:
    """Weigh a word inside 《》 as part of a name."""
    named = any(start < word.start < end for start, end in titles)
    least = _LEAST_IN_TITLE * len(word.text)
    return replace(word, weight=max(word.weight, least) * _NAME_FACTOR) if named else word


@functools.lru_cache(maxsize=1 << 15)
def _chinese_weight(word: str) -> tuple[float, bool]:
    """Return the weight of a word, and True if it is a negation."""
    if word not in word_lists.CHINESE_NO_NEGATIONS and any(
        each in word for each in word_lists.CHINESE_NEGATIONS
    ):
        return _NEGATION, True
    if word in word_lists.CHINESE_FUNCTION_WORDS or _INDEFINITE.fullmatch(word):
        return 0.0, False
    weight = (
        max(0.0, min(chinese_words.rarity(word), _RAREST_CHINESE) - _CHINESE_FLOOR) * _SAME_SCALE
    )
    return weight * _chinese_kind_factor(word), False


def _chinese_kind_factor(word: str) -> float:
    """Return the factor for the kind of a word: high for names, low for adverbs."""
    if chinese_words.is_nickname(word):
        return _NAME_FACTOR
    tag = chinese_words.tag(word)
    if tag == "n" and chinese_words.rarity(word) > _UNKNOWN_CHINESE:
        return _CHINESE_UNKNOWN
    if tag in _CHINESE_NAME_TAGS and len(word) > 1 and word not in word_lists.CHINESE_NO_NAMES:
        return _CHINESE_NAME
    if len(word) == 1:
        return _CHINESE_SINGLE
    return _CHINESE_KINDS.get(tag[:1], 1.0)


def _english_word(word: str, start: int, *, opens: bool) -> Word:
    return Word(word, start, start + len(word), *_english_weight(word, opens=opens))


@functools.lru_cache(maxsize=1 << 15)
def _english_weight(word: str, *, opens: bool) -> tuple[float, bool]:
    """Return the weight of a word, and True if it is a negation."""
    lower = word.lower().replace("’", "'")
    if lower in word_lists.ENGLISH_NEGATIONS or lower.endswith("n't"):
        return _NEGATION, True
    if any(character.isdigit() for character in word):
        return _NUMBER, False
    if lower in word_lists.ENGLISH_TIMES and not (lower == "may" and word == "may"):
        return _TIME, False
    stem = lower.split("'")[0]
    if lower in word_lists.ENGLISH_FUNCTION_WORDS or stem in word_lists.ENGLISH_FUNCTION_WORDS:
        return 0.0, False
    weight = max(0.0, min(rarity(part) for part in re.split(r"[-.]", stem)) - _ENGLISH_FLOOR)
    # At the beginning of a sentence only first names and rare words count as names.
    known = not opens or lower in word_lists.ENGLISH_FIRST_NAMES or weight >= _RARE
    named = word[0].isupper() and known
    return weight * (_NAME_FACTOR if named else 1.0), False
