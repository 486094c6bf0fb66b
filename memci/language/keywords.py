"""Keywords (M4): the important nouns and names of a text."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from memci.language import chinese_words, word_lists
from memci.language.chinese_words import TaggedWord
from memci.language.detection import Language, language_of
from memci.language.loading import TaskData
from memci.language.names import find_entities, is_interjection, is_plural
from memci.language.redaction import without_placeholders
from memci.language.sentences import sentences
from memci.language.word_weights import Word, weigh

MOST_KEYWORDS = 12
LONGEST_KEYWORD = 64

_FEWEST = 3
_CHARACTERS_PER_KEYWORD = {Language.ENGLISH: 40, Language.CHINESE: 12}
_DATA = TaskData("keywords")
_NO_NOUN_ENDING = _DATA.pattern("no_noun_ending", flags=0)
_NOUN_BEFORE = _DATA.pattern("noun_before")
_NO_NOUN_BEFORE = _DATA.pattern("no_noun_before")
_NO_NOUNS = _DATA.words("no_thing", Language.ENGLISH).union(
    word_lists.ENGLISH_TIMES,
    word_lists.ENGLISH_EXCLAMATIONS,
    word_lists.ENGLISH_NOT_NOUNS,
    word_lists.ENGLISH_OPENING_ADJECTIVES,
)
_DESCRIBES = word_lists.ENGLISH_OPENING_ADJECTIVES | word_lists.ENGLISH_KIN
_CUT_WRONGLY = _DATA.pattern("cut_wrongly")
_NO_CHINESE_THING = word_lists.CHINESE_NO_NAMES | _DATA.words("no_thing", Language.CHINESE)
_LONGEST_DETERMINER = 8
_LONGEST_BEFORE = 12
# Factors of a noun with the ending of a verb or an adjective, after words that speak against a
# noun, and in the plural ("rooms" means none of them).
_VERBAL, _UNLIKELY, _OF_MANY = 0.45, 0.4, 0.6
_POSSESSIVE = re.compile(r"['’]s$")
_COMPOUND = 1.15
_PERSON_TAGS = {"nr", "nrfg"}
_NOUN_TAGS = ("n", "vn", "an", "eng", "i", "j", "l")
_LESS_TAGS = {"vn": 0.8, "an": 0.6, "i": 0.6, "l": 0.5}
# A word outside the dictionary may have been cut wrongly.
_UNKNOWN_CHINESE = 16.0
_LESS_UNKNOWN = 0.6
_LONGEST_CHINESE_COMPOUND = 8
_PLAIN = re.compile(r"[\w.+#-]+")
# [photo: a dog], 【语音】: an attachment, with the same label in all messages.
_LABEL = re.compile(r"[\[【]\s*([^\[\]【】:：\n]{1,20}?)\s*[:：\]】]")


# The speaker before a line.
_SPEAKER = re.compile(
    r"^(?:user|assistant|system|用户|助手|系统)\s*[:：]", re.IGNORECASE | re.MULTILINE
)
# A sentence with one of these is also read in the other language.
_HAN = re.compile(r"[\u3400-\u9fff]{2}")
_LATIN_WORDS = re.compile(r"[A-Za-z]{2,}[ ,]+[A-Za-z]{2,}[ ,]+[A-Za-z]{2,}")


def keywords_of(
    text: str, language: Language, fewest: int = _FEWEST
) -> tuple[list[str], list[str]]:
    """Return the keywords of a text, best first, and the entities among them, which lead.

    There are more of a long text; ``fewest``: of a short one, if it has as many. Placeholders of
    redacted values are none.
    """
    text = without_placeholders(text)
    han, english = _by_language(text, language)
    tagged = chinese_words.tagged_words(han) if han else []
    names = find_entities(text, tagged)
    room = min(MOST_KEYWORDS, max(fewest, len(text) // _CHARACTERS_PER_KEYWORD[language]))
    return _keywords(text, tagged, names, english, room), names


def _by_language(text: str, language: Language) -> tuple[str, str]:
    """Return the Chinese part of a text, and the rest; a few words do not switch the language."""
    bare = _SPEAKER.sub("", text)
    parts: dict[Language, list[str]] = {each: [] for each in Language}
    for sentence in sentences(bare):
        foreign = _HAN if language is Language.ENGLISH else _LATIN_WORDS
        parts[language_of(sentence) if foreign.search(sentence) else language].append(sentence)
    return "\n".join(parts[Language.CHINESE]), "\n".join(parts[Language.ENGLISH])


def _keywords(
    text: str, tagged: Sequence[TaggedWord], names: Sequence[str], english: str, room: int
) -> list[str]:
    scores = _chinese_scores(tagged) | _english_scores(english)
    labels = {label.lower() for label in _LABEL.findall(text)}
    ranked = sorted(scores, key=lambda word: -scores[word])  # stable: first mentioned first
    candidates = [word for word in ranked if not _has_label(word, labels)]
    return _best([*names, *candidates], room) or _fallback_keyword(text, tagged)


def _has_label(candidate: str, labels: Iterable[str]) -> bool:
    parts = candidate.split()
    # Chinese compounds are written without a space.
    return any(label in parts or (not label.isascii() and label in candidate) for label in labels)


def _best(candidates: Iterable[str], most: int) -> list[str]:
    chosen: list[str] = []
    for candidate in candidates:
        if len(chosen) == most:
            break
        lower = candidate.lower()
        if len(candidate) <= LONGEST_KEYWORD and not any(lower in each.lower() for each in chosen):
            chosen.append(candidate)
    return chosen


def _english_scores(text: str) -> dict[str, float]:
    words = [word for word in weigh(text, Language.ENGLISH) if not word.negation]
    nouns = [word for word in words if word.weight > 0 and not _is_no_noun(_base(word))]
    counts = Counter(_base(word) for word in nouns)
    scores: dict[str, float] = {}
    for word in nouns:
        if not _NO_NOUN_ENDING.search(word.key) or _follows_determiner(text, word):
            score = (
                _noun_score(word)
                * _noun_likelihood(text, word)
                * (1 + math.log(counts[_base(word)]))
            )
            scores[_base(word)] = max(score, scores.get(_base(word), 0.0))
    for before, after in pairwise(nouns):
        if _only_describes(before.key):
            continue
        if text[before.end : after.start] == " " and not _NO_NOUN_ENDING.search(after.key):
            pair = f"{before.key} {_base(after)}"
            better = max(_noun_score(before), before.weight * 0.8)
            score = _COMPOUND * (better + _noun_score(after)) / 2 + 1
            scores.setdefault(pair, score * _noun_likelihood(text, before, of_many=False))
    return scores


def _base(word: Word) -> str:
    return _POSSESSIVE.sub("", word.key)


def _follows_determiner(text: str, word: Word) -> bool:
    return bool(_NOUN_BEFORE.search(text, max(0, word.start - _LONGEST_DETERMINER), word.start))


def _noun_likelihood(text: str, word: Word, *, of_many: bool = True) -> float:
    """Return the likelihood, by the words before, that a word is a noun for a thing; 1 at most."""
    before = _NO_NOUN_BEFORE.search(text, max(0, word.start - _LONGEST_BEFORE), word.start)
    many = of_many and word.text.islower() and is_plural(word.text)
    return (_UNLIKELY if before else 1.0) * (_OF_MANY if many else 1.0)


def _only_describes(key: str) -> bool:
    return key in _DESCRIBES or key.endswith("ly")


def _is_no_noun(key: str) -> bool:
    """Return True for verbs, adjectives, exclamations and words of time."""
    is_other = key in _NO_NOUNS or key.removesuffix("s") in word_lists.ENGLISH_NOT_NOUNS
    return is_other or is_interjection(key)


def _noun_score(word: Word) -> float:
    if word.key.isdigit():  # a number alone names nothing
        return word.weight * 0.05
    if any(character.isdigit() for character in word.key):
        return word.weight * 0.3
    return word.weight * (_VERBAL if _NO_NOUN_ENDING.search(word.key) else 1.0)


def _chinese_scores(tagged: Sequence[TaggedWord]) -> dict[str, float]:
    scores: dict[str, float] = {}
    counts = Counter(word.text for word in tagged)
    for word, before in zip(tagged, (None, *tagged), strict=False):
        if not _is_noun(word):
            continue
        rarity = chinese_words.rarity(word.text)
        score = rarity * _LESS_TAGS.get(word.tag, 1.0)
        if rarity > _UNKNOWN_CHINESE and word.tag == "n":
            score *= _LESS_UNKNOWN
        score *= 1 + 0.5 * math.log(counts[word.text])
        scores.setdefault(word.text, score)
        if before is None or not _is_noun(before):
            continue
        if {before.tag, word.tag}.isdisjoint(_PERSON_TAGS):  # 老板 and 赵敏 are no compound
            pair = before.text + word.text
            if len(pair) <= _LONGEST_CHINESE_COMPOUND and not pair.isascii():
                scores.setdefault(pair, max(scores.get(before.text, 0), score) * _COMPOUND)
    return scores


def _is_noun(word: TaggedWord) -> bool:
    return (
        len(word.text) > 1
        and word.tag.startswith(_NOUN_TAGS)
        and word.tag != "nrt"
        and not (word.tag == "eng" and _is_no_noun(word.text.lower()))
        and word.text.lower() not in word_lists.ENGLISH_FUNCTION_WORDS
        and not word.text.isdigit()
        and word.text not in word_lists.CHINESE_NO_NAMES
        and not _CUT_WRONGLY.search(word.text)
        and _PLAIN.fullmatch(word.text) is not None
    )


_NAMES_NOTHING = frozenset("tmr")  # times, numbers, pronouns


def _fallback_keyword(text: str, tagged: Sequence[TaggedWord]) -> list[str]:
    """Return a noun of one character, else the longest word, so that every text has a keyword."""
    nouns = [each.text for each in tagged if each.tag == "n" and each.text not in _NO_CHINESE_THING]
    whole = [each for each in nouns if not _CUT_WRONGLY.search(each)]
    if whole:
        return [max(whole, key=chinese_words.rarity)]
    named = (word.text for word in tagged if word.tag not in _NAMES_NOTHING)
    found = [word for word in named if _PLAIN.fullmatch(word)] or _PLAIN.findall(text)
    found = [word for word in found if not _CUT_WRONGLY.search(word)] or found
    words = sorted(found, key=lambda word: -len(word)) or [text.strip()]
    return [words[0][:LONGEST_KEYWORD]] if words[0] else []
