"""The information value of each clause of a text, without fillers."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memci.language.clauses import Clause, clauses, without_conjunction
from memci.language.cue_phrases import is_social
from memci.language.detection import Language, language_of
from memci.language.loading import TaskData
from memci.language.word_lists import CHINESE_NEGATIONS
from memci.language.word_weights import UNKNOWN, Word, rarity, weigh

_DATA = TaskData("shortening")
OPEN_MARKS = ",;:，；：、—–-( "
_ENGLISH_FILLERS = re.compile(
    rf"(?<![\w'’-])(?:{_DATA.source('fillers', Language.ENGLISH)})(?![\w'’-])[,，]?\s*",
    re.IGNORECASE,
)
_CHINESE_FILLERS = _DATA.pattern("fillers", Language.CHINESE)
_PARTICLES = _DATA.pattern("particles")
_INTERJECTIONS = _DATA.pattern("interjections")
_ASKS_CHINESE = _DATA.pattern("asks")
_OWN_CHINESE = _DATA.pattern("own")
_VALUES_CHINESE = _DATA.pattern("values")
_DENIED = re.compile(
    r"(?:\b(?:not|no|never|nor|hardly|cannot)|n['’]t|" + "|".join(CHINESE_NEGATIONS) + r")\s*.?$",
    re.IGNORECASE,
)


def remove_fillers(clause: str) -> str:
    """Return the clause without fillers, or unchanged if it consists of fillers.

    A word after a negation stays: "not just tea" is not "not tea".
    """
    text = _INTERJECTIONS.sub("", clause, count=1) if _INTERJECTIONS.match(clause) else clause
    for fillers in (_ENGLISH_FILLERS, _CHINESE_FILLERS):
        text = fillers.sub(lambda match: match[0] if _denied(match) else "", text)
    text = _PARTICLES.sub("", text).lstrip(OPEN_MARKS).strip()
    return text if any(character.isalnum() for character in text) else clause


def _denied(match: re.Match[str]) -> bool:
    return bool(_DENIED.search(match.string, max(0, match.start() - 8), match.start()))


_CLOSERS = ('"', "”", "’", "」", "』", "》", ")", "）")

# The factor of a word for each repetition.
AGAIN = 0.4
# A question has less value than an answer.
_QUESTION = 0.5
# A courtesy has almost no value.
_SOCIAL = 0.3
_FEWEST_TELLING_WORDS = 2
_EXCLAIMS = re.compile(r"(?:[^\W\d_]|['’-])+[!！,.。，]")
# In Chinese mostly the first clause names the topic, and the others omit it.
_OPENS_CHINESE = 1.15
# Actions, possessions and wishes of the speaker have more value than general statements …
_OWN = 1.4
# … and evaluations have less.
_VALUES = 0.6
# Additional cost of each choice in characters, so that one-word clauses do not win: about a word.
_OVERHEAD, _OVERHEAD_CHINESE = 6, 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """A clause without its fillers."""

    clause: Clause
    words: tuple[Word, ...]
    factor: float
    social: bool  # it is only polite
    bare: bool  # it only addresses somebody, or exclaims
    overhead: int  # characters

    @property
    def cost(self) -> int:
        """Characters that it takes at most, with its closing mark and the gap before it."""
        text = self.clause.text
        with_mark = len(text) + text.endswith(_CLOSERS)  # ";" may set off what ends with a quote
        return max(with_mark, len(with_closing_mark(text, self.clause.end or ";"))) + 1

    def gain(self, seen: Counter[str]) -> float:
        """Return its value beyond the words in ``seen``."""
        total = 0.0
        here: Counter[str] = Counter()
        for word in self.words:
            if word.weight <= 0:
                continue
            key = word.key
            total += word.weight * AGAIN ** (seen[key] + here[key])
            here[key] += 1
        return total * self.factor

    def density(self, seen: Counter[str]) -> float:
        """Return its gain per character."""
        return self.gain(seen) / (len(self.clause.text) + self.overhead)


def candidates(text: str, language: Language) -> list[Candidate]:
    """Return the clauses of ``text``, in order."""
    found: list[Candidate] = []
    sentence = -1
    overhead = _OVERHEAD_CHINESE if language is Language.CHINESE else _OVERHEAD
    for clause in clauses(text, language):
        opens, sentence = clause.sentence != sentence, clause.sentence
        shorter = replace(clause, text=remove_fillers(clause.text))
        if clause.end == "？" and not _is_question(clause):
            shorter = replace(shorter, end="。")  # a statement before a question
        words = tuple(weigh(shorter.text, language))
        # A single name or word ("John!") is an address or an exclamation.
        alone = sum(word.weight > 0 for word in words) < _FEWEST_TELLING_WORDS
        kind = is_social(clause.text) or is_social(shorter.text)
        values = language is Language.CHINESE and _only_evaluates(clause.text)
        factor = _factor(clause, language, opens=opens) * (_SOCIAL if alone or kind else 1.0)
        bare = alone and (kind or _EXCLAIMS.fullmatch(shorter.text) is not None)
        social = alone or kind or values
        found.append(Candidate(shorter, words, factor, social, bare, overhead))
    return found


def clause_values(text: str) -> Iterator[tuple[str, float]]:
    """Yield each clause of ``text`` that can stand alone, with its value."""
    language = language_of(text)
    for candidate in candidates(text, language):
        if candidate.clause.needs is None:
            shown = capitalized(without_conjunction(candidate.clause).text, language)
            yield " ".join(shown.rstrip(OPEN_MARKS).split()), candidate.gain(Counter())


def capitalized(text: str, language: Language) -> str:
    """Capitalise the first word, if it is an ordinary one: not ``npm`` or ``iPhone``."""
    word = text.split(" ", 1)[0]
    usual = language is not Language.CHINESE and word.isascii() and rarity(word) < UNKNOWN
    return text[0].upper() + text[1:] if usual else text


def with_closing_mark(text: str, mark: str) -> str:
    """End the text with the sentence's own mark, not with a comma."""
    if text.endswith((*_CLOSERS, mark or "\n")):
        return text
    return text.rstrip(OPEN_MARKS) + mark


def _factor(clause: Clause, language: Language, *, opens: bool) -> float:
    chinese = language is Language.CHINESE
    factor = 1.0
    if clause.end in {"?", "？"} and (not chinese or _is_question(clause)):
        factor = _QUESTION
    if not chinese:
        return factor
    if _OWN_CHINESE.search(clause.text):
        factor *= _OWN
    elif _only_evaluates(clause.text):
        factor *= _VALUES
    return factor * _OPENS_CHINESE if opens else factor


def _only_evaluates(text: str) -> bool:
    return bool(_VALUES_CHINESE.search(text)) and not _OWN_CHINESE.search(text)


def _is_question(clause: Clause) -> bool:
    """Return True if a clause of a question asks: Chinese commas join statements to questions."""
    return bool(_ASKS_CHINESE.search(clause.text)) or not clause.text.endswith(("，", ","))
