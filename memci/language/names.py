"""Find names of people, places, products and works in a text (M5).

A Latin name has a capital that is not due to the beginning of a sentence. Pronouns are never names.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

from memci.language import chinese_words, word_lists
from memci.language.chinese_words import TaggedWord
from memci.language.clauses import label_of
from memci.language.loading import TaskData
from memci.language.redaction import is_placeholder
from memci.language.sentences import sentence_spans
from memci.language.word_weights import UNKNOWN, rarity

_DATA = TaskData("names")
# A Latin letter or digit: \w would join a name to the Han characters beside it.
_L = r"[0-9A-Za-z_À-ɏ]"
_PART = rf"[A-ZÀ-ÖØ-Þ]{_L}*(?:[-'’.&+#/][A-Za-z0-9]{_L}*)*[+#]*"
_LINK = "(?:of the|of|de|van|von|the|and the) "
_NAME = re.compile(
    rf"(?<!{_L})(?<!['’-])(?:St\. )?{_PART}(?: (?:{_LINK})?(?:{_PART}|\d[0-9A-Za-z.]*))*"
)
# iPhone, npm2, o200k_base: a capital or a digit inside a word marks a product or an identifier.
_IDENTIFIER = re.compile(
    rf"(?<!{_L})(?<!['’/.-])(?:[a-z]+[A-Z]{_L}*|[A-Za-z]+-?\d+{_L}*)(?!{_L})(?!/)"
)
_SAINT = re.compile(r"^St\.? (?=\w)")  # a church or hospital: its name ends in 's
_POSSESSIVE = re.compile(r"['’]s?$")
NOT_NAMES = word_lists.ENGLISH_NO_NAMES | word_lists.ENGLISH_NOT_NOUNS
# A capitalised word at the beginning of a sentence is a name only if it is a first name, an unknown
# word that is addressed (“Priya, …”) or has a verb, or a rare word with a verb of people
# (“Dana owns …”). “Progress is slow” and “Exams, again” contain no names.
_RARE = 7.4
_CALLED_OR_DOING = _DATA.pattern("called_or_doing", flags=0)
_DOING = _DATA.pattern("doing", flags=0)
_ABSTRACT = _DATA.pattern("abstract", flags=0)
_INTERJECTION = re.compile(r"(.)\1\1|^(?:[ah]+|[oh]+|[hm]+|[aw]+)$", re.IGNORECASE)
_OPENS_NAMES = _DATA.words("opens_names")
_OPENS_TITLES = _DATA.words("opens_titles")
# Of adjectives, "New York", "Great Ormond Street", "Big Ben" begin with others.
_NEVER_IN_NAMES = word_lists.ENGLISH_OPENING_ADJECTIVES - {"new", "great", "little", "big", "old"}
_TITLE_WORDS = 3  # "My Friend called" is no title
_USUAL_ADVERB = 9.0  # rarity below which the stem of a word in -ly shows that it is an adverb


def latin_names(text: str, is_certain: Callable[[str, str], bool]) -> Iterator[tuple[int, str]]:
    """Yield the position and name of each mention.

    A single word that opens a sentence is a name if ``is_certain(name, rest of the sentence)``, or
    if it is a name elsewhere in the text.
    """
    inside: set[str] = set()
    opening: list[tuple[int, str]] = []
    for begin, end in sentence_spans(text):
        sentence = text[begin:end]
        label = len(label_of(sentence, 0, len(sentence)))
        for match in _NAME.finditer(sentence):
            opens = _is_at_sentence_start(sentence, label, match.start())
            name = _trim_name(match[0], opens=opens)
            if not name:
                continue
            start = match.start() + max(match[0].find(name), 0)
            opens = _is_at_sentence_start(sentence, label, start)
            rest = sentence[start + len(name) :]
            is_whole_line = (
                0 < label <= start and not rest.strip(" .!") and rarity(name.lower()) > _RARE
            )
            if opens and not is_whole_line and not is_certain(name, rest):
                opening.append((begin + start, name))
            else:
                inside.add(name)
                yield begin + start, name
        for match in _IDENTIFIER.finditer(sentence):
            yield begin + match.start(), match[0]
    yield from ((start, name) for start, name in opening if name in inside)


def _is_at_sentence_start(sentence: str, label: int, start: int) -> bool:
    """Return True if only the sentence's label stands before ``start``."""
    before = sentence[label if start >= label else 0 : start]
    return not any(character.isalnum() for character in before)


def _trim_name(name: str, *, opens: bool) -> str:
    """Remove possessives, and capitalised words at both ends that are no names."""
    saint = _SAINT.match(name)
    bare = name.rstrip(".")
    words = (_SAINT.sub("St ", bare) if saint else _POSSESSIVE.sub("", bare)).split(" ")
    while opens and len(words) > 1 and _only_describes(words[0]):
        words.pop(0)
    while words and _is_no_name(words[0]) and not _begins_a_name(words, opens=opens):
        owner = words.pop(0).lower() in _OPENS_TITLES
        if owner and len(words) > 1 and words[0].lower() in word_lists.ENGLISH_KIN:
            words.pop(0)
        opens = False
    while words and _is_no_name(words[-1]):
        words.pop()
    return " ".join(words) if words and not words[0][0].isdigit() else ""


def _begins_a_name(words: list[str], *, opens: bool) -> bool:
    """Return True if a capitalised function word is part of the name after it."""
    first = words[0].lower()
    named = len(words) > 1 and words[1][0].isupper() and not _is_no_name(words[1])
    if named and first in _OPENS_TITLES:
        # "My Uncle Bob called": the capital of "My" is due to the sentence.
        if words[1].lower() in word_lists.ENGLISH_KIN:
            return False
        return not opens or (len(words) >= _TITLE_WORDS and not any(map(_is_person, words[1:])))
    return named and first in _OPENS_NAMES and (not opens or first == "new")


def _is_person(word: str) -> bool:
    lower = word.lower()
    return lower in word_lists.ENGLISH_FIRST_NAMES or rarity(lower) >= UNKNOWN


def _only_describes(word: str) -> bool:
    """Return True for a usual adjective, adverb or participle before a name."""
    lower = word.lower()
    return lower in _NEVER_IN_NAMES or _is_participle(word) or _is_adverb(lower)


def _is_adverb(lower: str) -> bool:
    if (
        not lower.endswith("ly")
        or lower in word_lists.ENGLISH_FIRST_NAMES
        or rarity(lower) >= UNKNOWN
    ):
        return False
    stem = lower.removesuffix("ly")
    return any(rarity(each) < _USUAL_ADVERB for each in (stem, f"{stem}l", f"{stem}le"))


def _is_participle(word: str) -> bool:
    """Return True for a verb in -ing: "Learning German", but not "Beijing University"."""
    lower = word.lower()
    stem = lower.removesuffix("ing")
    verbs = (stem, f"{stem}e", stem[:-1])
    return lower != stem and len(stem) > 1 and any(rarity(verb) < UNKNOWN for verb in verbs)


def _is_no_name(word: str) -> bool:
    bare = re.split(r"['’]", word.lower())[0]
    if bare in NOT_NAMES or bare.removesuffix("s") in NOT_NAMES:
        return True
    return len(word) == 1 and not word.isdigit()


def _is_certain_name(name: str, rest: str) -> bool:
    if "-" in name and all(rarity(part) < UNKNOWN for part in name.lower().split("-")):
        return False
    if " " in name or not name[1:].islower() or name.lower() in word_lists.ENGLISH_FIRST_NAMES:
        return True
    if _ABSTRACT.search(name) or is_interjection(name) or is_plural(name.lower()):
        return False
    known = rarity(name.lower())
    if known >= UNKNOWN:
        return bool(_CALLED_OR_DOING.match(rest)) or (
            not name.endswith("s") and _next_word(rest) in word_lists.ENGLISH_FINITE_VERBS
        )
    return known >= _RARE and bool(_DOING.match(rest))


def _next_word(rest: str) -> str:
    return rest[1:].partition(" ")[0].rstrip(".,!") if rest.startswith(" ") else ""


def is_interjection(word: str) -> bool:
    """Return True if a word is only a sound: "oooh", "hmm"."""
    return bool(_INTERJECTION.search(word))


def is_plural(word: str) -> bool:
    """Return True if a lower-case word is a usual word in the plural."""
    return word.endswith("s") and rarity(word[:-1]) < UNKNOWN


MOST_ENTITIES = 4
LONGEST_NAME = 64

_TITLE = re.compile(r"《([^《》\n]{1,40})》|[“\"]([A-Z][^“”\"\n]{2,40})[”\"]|「([^「」\n]{2,40})」")
_CHINESE_NAMES = ("nr", "ns", "nt")
# jieba's dictionary has thousands of usual words among its names of two characters; those above
# this rarity seldom are.
_SELDOM = 14.2
_WHOLE_NAME = 3
_SHORTEST_IN_TITLE = 4  # letters of a word that is capitalised in titles
_PLACE_ENDINGS = ("省", "市", "县", "镇", "州", "岛", "屿", "湖", "湾")
_PLACE_KINDS = ("城市", "小镇", "岛屿", "超市", "夜市", "海岛")
_PLACE = _DATA.pattern("place", flags=0)
_UNNAMED = _DATA.pattern("unnamed", flags=0)
_ONLY_KIND_OF_PLACE = _DATA.pattern("only_kind_of_place", flags=0)
_LATIN = re.compile(r"[A-Za-z]")


def find_entities(text: str, tagged: Iterable[TaggedWord]) -> list[str]:
    """Return the names in ``text``, best first; ``tagged``: the words of its Chinese sentences."""
    found: Counter[str] = Counter()
    for name, weight in _weighted_names(text, tagged):
        if 0 < len(name) <= LONGEST_NAME and name.lower() not in word_lists.ENGLISH_PRONOUNS:
            found[name] += weight
    names: list[str] = []
    # Counter keeps the order of first mention among equals.
    for name, _ in found.most_common():
        if len(names) == MOST_ENTITIES:
            break
        if not any(name != kept and name.lower() in kept.lower() for kept in names):
            names.append(name)
    return names


def _weighted_names(text: str, tagged: Iterable[TaggedWord]) -> Iterator[tuple[str, int]]:
    for match in _TITLE.finditer(text):
        title = next(group for group in match.groups() if group).strip()
        if not match[2]:
            yield title, 3
        elif _is_title(title):
            yield title.removeprefix("The "), 3
    if tagged:
        for match in _PLACE.finditer(text):
            place = _UNNAMED.sub("", match[0])
            if not _ONLY_KIND_OF_PLACE.fullmatch(place):
                yield place, 3
        for word in tagged:
            if _names_something(word):
                yield (
                    word.text,
                    3 if word.tag == "nr" or chinese_words.is_nickname(word.text) else 2,
                )
    for _, name in latin_names(text, _is_certain_name):
        yield name, 2 + name.count(" ")


def _names_something(word: TaggedWord) -> bool:
    text, tag = word.text, word.tag
    if tag.startswith("n") and len(text) >= _WHOLE_NAME and text.endswith(_PLACE_ENDINGS):
        return not text.endswith(_PLACE_KINDS)
    if chinese_words.is_nickname(text) or chinese_words.is_given_name(text):
        return True
    if not tag.startswith(_CHINESE_NAMES) or len(text) == 1 or text in word_lists.CHINESE_NO_NAMES:
        return False
    if _LATIN.search(text):
        return False
    if tag in {"nr", "nrfg"}:
        whole = len(text) >= _WHOLE_NAME or chinese_words.rarity(text) > _SELDOM
        return text[0] in word_lists.CHINESE_SURNAMES and whole
    return tag in {"ns", "nt"} or len(text) >= _WHOLE_NAME


def _is_title(quoted: str) -> bool:
    """Return True if most words of a quotation have a capital."""
    words = [word for word in quoted.split() if len(word) >= _SHORTEST_IN_TITLE]
    return 2 * sum(not word[0].islower() for word in words) >= len(words)


_SHORTEST_NICKNAME = 3
_UNRESOLVED = _DATA.words("unresolved")


def is_pronoun(word: str) -> bool:
    """Return True if a word is an unresolved pronoun, which is never an entity."""
    return _folded(word) in _UNRESOLVED


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing. Spellings that differ in case, width or blanks are the same entity."""

    key: str
    name: str = field(compare=False)

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the entity of that name."""
        return cls(_folded(name), " ".join(name.split()))


def key_entities(
    entities: Sequence[str], keywords: Sequence[str], speakers: Collection[str] = ()
) -> tuple[Entity, ...]:
    """Return the key entities of a text, else its best keyword that is no pronoun.

    Arguments and result are ordered best first. The result is empty when neither names a thing.
    Speakers are no key entities: every memory would be linked to them, and nothing would ever fade.
    """
    named = [word for word in entities if _names_a_thing(word, speakers)]
    if not named:
        named = [word for word in keywords if _names_a_thing(word, speakers)][:1]
    return tuple(dict.fromkeys(map(Entity.named, named)))


def is_speaker(word: str, speakers: Iterable[str]) -> bool:
    """Return True if a word is a speaker's name, a part of it or a short form ("Mel", Melanie)."""
    called = _folded(word)
    return any(called == name or _is_short_for(called, name) for name in map(_folded, speakers))


def _is_short_for(called: str, name: str) -> bool:
    parts = name.split()
    if called in parts:
        return True
    if called.isascii():
        return len(called) >= _SHORTEST_NICKNAME and any(part.startswith(called) for part in parts)
    return len(called) > 1 and name.endswith(called)  # a Chinese name without the surname


def _names_a_thing(word: str, speakers: Collection[str]) -> bool:
    is_unknown = is_pronoun(word) or is_placeholder(word)
    return bool(word.strip()) and not is_unknown and not is_speaker(word, speakers)


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


# In scripts without blanks a name begins and ends anywhere.
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_IN_WORD = rf"[^\W{_UNSPACED}]"


def names_entity(text: str, key: str) -> bool:
    """Return True if a text contains the name of ``Entity.key`` as a word."""
    return bool(entities_named(text, (key,)))


def entities_named(text: str, keys: Collection[str]) -> frozenset[str]:
    """Return the keys (``Entity.key``) whose names a text contains as words."""
    folded = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    if any(" " in key for key in keys):
        folded = " ".join(folded.split())
    return frozenset(key for key in keys if key in folded and _pattern(key).search(folded))


@lru_cache(1_024)
def _pattern(key: str) -> re.Pattern[str]:
    begin = rf"(?<!{_IN_WORD})" if re.match(_IN_WORD, key) else ""
    end = rf"(?!{_IN_WORD})" if re.search(rf"{_IN_WORD}\Z", key) else ""
    return re.compile(begin + re.escape(key) + end)
