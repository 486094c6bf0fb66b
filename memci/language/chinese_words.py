"""Chinese words and their kinds, from jieba's dictionary (``data/chinese_words.*``)."""

import logging
import math
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from memci.language.loading import LoadOnce
from memci.language.word_lists import CHINESE_NICKNAMES, CHINESE_SURNAMES

if TYPE_CHECKING:
    import marisa_trie

# The words, and of each its frequency and tag: ``training.chinese_dictionary`` wrote them.
TRIE, NUMBERS = "chinese_words.marisa", "chinese_words.npz"
# jieba's time is quadratic in a run of unknown characters; words do not contain these marks.
_MARKS = r"\s，。！？；：,!?;"
_RUN = re.compile(rf"[^{_MARKS}]{{0,200}}[{_MARKS}]+|[^{_MARKS}]{{1,200}}")
_LATIN = re.compile(r"[0-9A-Za-z]")
# The names of children and adults today, without those that are words beside a noun: 超, 明, 文.
_GIVEN = frozenset(
    "子涵轩梓萱宇浩晨泽睿博豪嘉琪瑶琳婷佳颖敏磊洋艳杰娟涛欣怡诺依悦妍彤琦萌俊熙辰铭皓航昊琛玥淇菲雯倩"
    "璐莹薇蕾芸芳丽娜燕霞慧鑫鹏峰伟斌凯翔毅恒旭晓馨瑾瑜煜烨桐沐妮娅茜"
)
_OF_A_PERSON = frozenset("很挺不真太特非好在也都就还又对")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_LONGEST_PERSON = 3
_PLACE_ENDINGS = frozenset("路街区镇村乡站桥港")
_PLACE_TAGS = frozenset(("ns", "nz", "nr"))
_NICKNAME = 2  # characters
_BEFORE_SURNAMES = frozenset("小老阿")
# Pronouns, particles and the most usual verbs are never part of an unknown word.
_NO_PART_BEFORE = re.compile("[我你您他她它这那叫是在了的和与跟也很就都又再去被把从对给让改换]")
_NO_PART_AFTER = re.compile("[我你您他她它了的吗呢吧啊是在去说们过着]$")


@dataclass(frozen=True, slots=True)
class TaggedWord:
    """A word and jieba's tag: n noun, nr person, ns place, nt organisation, r pronoun.

    The tag of a word outside the dictionary is ``eng`` for a Latin word, ``nr`` for one that looks
    like a person's name, ``n`` for other words of several characters, and else ``x``.
    """

    text: str
    tag: str


@dataclass(frozen=True, slots=True)
class _Dictionary:
    """jieba's words in a trie: a dict of them and of their beginnings would take 140 MB."""

    trie: "marisa_trie.Trie"
    frequencies: memoryview
    tags: memoryview  # places in ``names``
    names: list[str]

    def get(self, word: str) -> int:
        """Return the frequency of a word, 0 for an unknown one."""
        number = self.trie.get(word)
        return 0 if number is None else self.frequencies[number]

    def tag(self, word: str) -> str | None:
        """Return jieba's tag of a word, None for an unknown one."""
        number = self.trie.get(word)
        return None if number is None else self.names[self.tags[number]]

    def graph(self, run: str) -> dict[int, list[int]]:
        """Return where the words that begin at each place end, as jieba's ``get_DAG``."""
        return {
            start: [start + len(word) - 1 for word in self.trie.prefixes(run[start:])] or [start]
            for start in range(len(run))
        }


def words(text: str) -> list[str]:
    """Cut ``text`` into words; joined, they give the text."""
    cutter = _cutter.get()
    return _correct_cuts(
        [word for run in _RUN.findall(text) for word in cutter.cut(run)], _dictionary.get()
    )


def is_nickname(word: str) -> bool:
    """Return True for a nickname such as 小李, 老张, 阿陈."""
    if len(word) != _NICKNAME or word[0] not in _BEFORE_SURNAMES:
        return False
    return word[1] in CHINESE_NICKNAMES or (word[1] in _GIVEN and not _is_known(word))


def is_given_name(word: str) -> bool:
    """Return True for two characters of names that are no word, such as 子涵."""
    return len(word) == _NICKNAME and _GIVEN.issuperset(word) and not _is_known(word)


def _is_known(word: str) -> bool:
    return bool(_dictionary.get().get(word))


def _correct_cuts(cut: Iterable[str], known: _Dictionary) -> list[str]:
    """Correct jieba's wrong guesses at unknown words.

    小|李去 becomes 小李|去, 我养 becomes 我|养, 王子|涵 becomes 王子涵, 赵敏人 becomes 赵敏|人.
    """
    found: list[str] = []
    for each in cut:
        word = each
        if found and _is_whole_name(found[-1], word):
            found[-1] += word
            continue
        if found and word[:1] in _OF_A_PERSON and _is_name_with_ren(found[-1], known):
            found[-1:] = [found[-1][:-1], found[-1][-1]]
        if found and word in _PLACE_ENDINGS and tag(found[-1]) in _PLACE_TAGS:
            found[-1] += word
            continue
        if found and is_nickname(found[-1] + word[:1]) and not known.get(word if word[1:] else ""):
            found[-1] += word[0]
            word = word[1:]
        guessed = len(word) > 1 and not known.get(word) and _HAN.fullmatch(word)
        if guessed and _NO_PART_BEFORE.match(word):
            found.append(word[0])
            word = word[1:]
        if guessed and len(word) > 1 and _NO_PART_AFTER.search(word):
            found.append(word[:-1])
            word = word[-1]
        if word:
            found.append(word)
    return found


def _is_whole_name(word: str, after: str) -> bool:
    """Return True if the words are a surname with half of a given name, and the other half."""
    half = len(word) == _LONGEST_PERSON - 1 and word[0] in CHINESE_SURNAMES and word[1] in _GIVEN
    return half and len(after) == 1 and after in _GIVEN


def _is_name_with_ren(word: str, known: _Dictionary) -> bool:
    """Return True for an unknown word that is a name followed by 人: 赵敏人."""
    whole = len(word) == _LONGEST_PERSON and word[0] in CHINESE_SURNAMES and word[-1] == "人"
    return whole and not known.get(word)


def tagged_words(text: str) -> list[TaggedWord]:
    """Cut ``text`` into words with their tags.

    ``jieba.posseg`` is not used: its model of unknown words takes milliseconds for each character.
    """
    return [TaggedWord(word, tag(word)) for word in words(text)]


def tag(word: str) -> str:
    """Return the tag of a word, as in ``TaggedWord``."""
    return _dictionary.get().tag(word) or _tag_of_unknown(word)


def rarity(word: str) -> float:
    """Return the rarity of a word: about 3 for 的, 11 for a usual noun, 17 for an unknown word."""
    return math.log(_cutter.get().total / max(_dictionary.get().get(word), 2))


def _tag_of_unknown(word: str) -> str:
    if _LATIN.match(word):
        return "eng"
    if is_nickname(word) or is_given_name(word):
        return "nr"
    if word[-1] in _PLACE_ENDINGS and len(word) > _NICKNAME and _HAN.fullmatch(word):
        return "ns"
    if len(word) == 1 or not _HAN.fullmatch(word):
        return "x"
    return "nr" if word[0] in CHINESE_SURNAMES and len(word) <= _LONGEST_PERSON else "n"


def _load() -> _Dictionary:
    # Only where Chinese is cut; the client lacks both.
    import marisa_trie  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    data = resources.files(__package__) / "data"
    with resources.as_file(data / TRIE) as path, (data / NUMBERS).open("rb") as numbers:
        trie = marisa_trie.Trie().mmap(str(path))
        read = np.load(numbers)
        # Single numbers are read faster from a memoryview than from an array.
        return _Dictionary(
            trie, read["frequencies"].data, read["tags"].data, read["names"].tolist()
        )


def _load_cutter() -> Any:
    with warnings.catch_warnings():
        # jieba's sources have escapes that newer Pythons warn of, and it looks for pkg_resources.
        warnings.simplefilter("ignore")
        import jieba  # noqa: PLC0415 - only where Chinese is cut

    jieba.setLogLevel(logging.ERROR)  # it prints to stderr
    cutter, dictionary = jieba.Tokenizer(), _dictionary.get()
    # What jieba would read itself, and cache in the shared temporary folder.
    cutter.FREQ, cutter.get_DAG = dictionary, dictionary.graph
    cutter.total = float(sum(dictionary.frequencies))
    cutter.initialized = True
    return cutter


def load_dictionary() -> None:
    """Map the dictionary, and load what cuts unknown words."""
    _cutter.get()


_dictionary = LoadOnce(_load)
_cutter = LoadOnce(_load_cutter)
