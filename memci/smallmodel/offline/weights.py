"""How much each word of a text tells: rare words, names, numbers and negations most."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memci.domain.language import Language
from memci.smallmodel.offline import chinese, rarity
from memci.smallmodel.offline.words import (
    CHINESE_NEGATIONS,
    ENGLISH_FUNCTION_WORDS,
    ENGLISH_NEGATIONS,
)

_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
_HAN = re.compile(r"[\u3400-\u9fff]")
_CHINESE_FUNCTION_WORDS = frozenset(
    "的 了 着 过 是 在 和 与 也 都 就 还 又 很 把 被 给 让 对 从 到 我 你 您 他 她 它 我们 你们 他们 她们 "
    "这 那 这个 那个 这些 那些 一个 一些 什么 怎么 吗 呢 吧 啊 呀 哦 嗯 呵呵 哈哈 会 能 可以 要 想 说 去 来 "
    "有 上 下 里 中 做 自己 觉得 一下 一点 非常 真的 还是 或者 因为 所以 但是 然后 而且 如果 不过 就是 "
    "知道 看 好 最 更 太 得 地 之 其 比较 已经 还有 时候 这样 那么 这么 可能 应该 需要".split()
)
_NUMBER = 8.0
_NEGATION = 4.0
_NAME_FACTOR = 1.25
# Rarity of the most usual words, which is worth nothing.
_ENGLISH_FLOOR = 2.0
_CHINESE_FLOOR = 4.0
_SAME_SCALE = 0.8  # jieba's rarities run higher than the English ones


@dataclass(frozen=True, slots=True)
class Word:
    """A word at [start, end) of its text; ``weight`` 0 means that it can go without loss."""

    text: str
    start: int
    end: int
    weight: float
    negation: bool = False

    @property
    def key(self) -> str:
        """What makes two occurrences the same word."""
        return self.text.lower()


def weigh(text: str, language: Language) -> list[Word]:
    """Return the words of ``text`` with their weights, in order."""
    if language is Language.CHINESE:
        return _weigh_chinese(text)
    return [_english(match[0], match.start(), match.start() == 0) for match in _WORD.finditer(text)]


def _weigh_chinese(text: str) -> list[Word]:
    found: list[Word] = []
    at = 0
    for word in chinese.words(text):
        if _HAN.search(word):
            found.append(_chinese(word, at))
        elif any(character.isalnum() for character in word):
            found.append(_english(word, at, opens=False))
        at += len(word)
    return found


def _chinese(word: str, start: int) -> Word:
    end = start + len(word)
    if word.startswith(CHINESE_NEGATIONS):
        return Word(word, start, end, _NEGATION, negation=True)
    if word in _CHINESE_FUNCTION_WORDS:
        return Word(word, start, end, 0.0)
    weight = max(0.0, chinese.rarity(word) - _CHINESE_FLOOR) * _SAME_SCALE
    return Word(word, start, end, weight * (0.6 if len(word) == 1 else 1.0))


def _english(word: str, start: int, opens: bool) -> Word:
    lower = word.lower().replace("’", "'")
    end = start + len(word)
    if lower in ENGLISH_NEGATIONS or lower.endswith("n't"):
        return Word(word, start, end, _NEGATION, negation=True)
    if any(character.isdigit() for character in word):
        return Word(word, start, end, _NUMBER)
    stem = lower.split("'")[0]
    if lower in ENGLISH_FUNCTION_WORDS or stem in ENGLISH_FUNCTION_WORDS:
        return Word(word, start, end, 0.0)
    weight = max(0.0, min(rarity.rarity(part) for part in re.split(r"[-.]", stem)) - _ENGLISH_FLOOR)
    named = word[0].isupper() and not opens
    return Word(word, start, end, weight * (_NAME_FACTOR if named else 1.0))
