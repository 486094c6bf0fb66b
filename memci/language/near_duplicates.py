"""Near duplicates (R5): two texts have the same content if their reduced words are the same.

The comparison is strict, because a text that is merged by mistake is lost, and a text that is not
merged only costs room. A word that only one text has may change the whole meaning ("a former
doctor", "假药", "New York", "a phone case"), and no list of such words is complete. So the rules
list the words without meaning: articles, greetings, hesitation, politeness, particles of mood, and
stress (but not after a negation: "not really"). All other words count. The comparison is an
equivalence, so it holds for whole groups.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memci.language.detection import Language
from memci.language.loading import TaskData

_DATA = TaskData("near_duplicates")
_ARTICLES, _SOUNDS, _OPENINGS, _GREETINGS = map(
    _DATA.words, ("articles", "sounds", "openings", "greetings")
)
_STRESS, _NEGATIONS, _ANSWERS, _PRONOUNS = map(
    _DATA.words, ("stress", "negations", "answers", "pronouns")
)
_BE = frozenset(("am", "are", "is"))
_SAME_SIGNS = str.maketrans(
    {**dict.fromkeys("’‘＇", "'"), **dict.fromkeys("“”„«»「」", '"'), "−": "-"}
)
_WORDINGS = tuple(
    (re.compile(row["pattern"], re.IGNORECASE), row["by"])
    for language in Language
    for row in _DATA.rows("wordings", language)
)
_HAN_RANGES = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LETTERS = rf"[^\W\d_{_HAN_RANGES}]+"
# Marks that only separate. Others count as words: "?", "€", quotation marks, faces.
_DIVIDING = r".,;:!()\[\]{}…—–、。·•\-"
_TOKEN = re.compile(
    rf"{_DATA.source('whole_words')}"
    r"|(?:(?<!\w)-)?\d+(?:[.,:/-]\d+)*%?"
    rf"|[{_HAN_RANGES}]|{_LETTERS}(?:'{_LETTERS})*|(?P<mark>[{_DIVIDING}])|[^\w\s'*~《》『』【】]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ReducedText:
    """The tokens of a text that carry meaning, in order, and its number of stress words."""

    tokens: tuple[str, ...]
    stresses: int

    @property
    def content_size(self) -> int:
        """Return the size for choosing among equal texts: the one with most stress is preferred."""
        return len(self.tokens) + self.stresses


def same_reduced_content(one: ReducedText, other: ReducedText) -> bool:
    """Return True if two reduced texts have the same content; texts without words never have."""
    return bool(one.tokens) and one.tokens == other.tokens


def content_size(text: str) -> int:
    """Return the number of tokens of a text, with stress but without other empty words."""
    return reduce_text(text).content_size


def reduce_text(text: str) -> ReducedText:
    """Return the reduced form of a text, for comparisons."""
    plain = unicodedata.normalize("NFKC", text.translate(_SAME_SIGNS)).translate(_SAME_SIGNS)
    plain = " ".join(plain.split())
    for pattern, whole in _WORDINGS:
        plain = pattern.sub(whole, plain)
    reducer = _Reducer(list(_TOKEN.finditer(plain)), shouted=plain.isupper())
    for match, ends in reducer.ends():
        reducer.take(match, ends=ends)
    return ReducedText(tuple(reducer.tokens), reducer.stresses)


class _Reducer:
    """Collects the tokens of a text, and leaves out those without meaning."""

    def __init__(self, found: Sequence[re.Match[str]], *, shouted: bool) -> None:
        self.found = found
        self.shouted = shouted
        self.tokens: list[str] = []
        self.stresses = 0
        self.opening = True  # no token of this clause yet
        self.negated = False

    def ends(self) -> Iterator[tuple[re.Match[str], bool]]:
        """Yield the matches, and whether a clause ends after each, particles aside."""
        found, ends = list[tuple[re.Match[str], bool]](), True
        for match in reversed(self.found):
            found.append((match, ends))
            if match[0] not in _SOUNDS:
                ends = bool(match["mark"]) or match[0] == "?"
        yield from reversed(found)

    def take(self, match: re.Match[str], *, ends: bool) -> None:
        word = match[0].casefold()
        if match["mark"]:
            self.opening = True
        elif not self._is_empty_word(word, match[0], ends=ends):
            self._append("be" if word in _BE else word)

    def _append(self, word: str) -> None:
        answered = self.opening and self.tokens
        if answered and (self.tokens[-1] in _ANSWERS or self.tokens[-2:] == ["没", "有"]):
            self.tokens.append(",")
        self.opening = word == "?"
        self.negated = self.negated or word in _NEGATIONS
        self.tokens.append(word)

    def _is_empty_word(self, word: str, written: str, *, ends: bool) -> bool:
        if word in _ARTICLES:  # not in "plan A", nor in "Vitamin A is healthy"
            return not ends and (self.opening or self.shouted or written != "A")
        if self.opening and (word in _OPENINGS or (word in _GREETINGS and ends)):
            return True
        if word in _STRESS and not self.negated and not ends:
            self.stresses += 1
            return True
        if word == "的" and ends and self.tokens and self.tokens[-1] in _PRONOUNS:
            return False  # "that is mine" is not "that is me"
        return word in _SOUNDS
