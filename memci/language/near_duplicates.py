"""Near duplicates (R5): two texts have the same content if their reduced words are the same.

The comparison is strict, because a text that is merged by mistake is lost, and a text that is not
merged only costs room. A word that one text has and the other lacks may change the meaning of all
the rest ("a former doctor", "假药", "New York", "a phone case"), and no list of such words is
complete. So the rules list the words that change nothing: articles, greetings, hesitation,
politeness, particles of mood, and stress (but not behind a negation: "not really"). All other words
count. The comparison is an equivalence, so it holds for whole groups.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from memci.language.detection import Language
from memci.language.loading import TaskData

_DATA = TaskData("near_duplicates")
_ARTICLES, _SOUNDS, _OPENINGS, _GREETINGS, _STRESS, _NEGATIONS, _ANSWERS, _PRONOUNS, _TWOFOLD = (
    _DATA.words(name)
    for name in (
        *("articles", "sounds", "openings", "greetings", "stress"),
        *("negations", "answers", "pronouns", "twofold"),
    )
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
# Marks that only divide. All others count, as words do: "?", "€", quotation marks, faces.
_DIVIDING = r".,;:!()\[\]{}…—–、。·•\-"
_TOKEN = re.compile(
    rf"(?P<when>{_DATA.source('when')})|{_DATA.source('whole_words')}"
    r"|(?:(?<!\w)-)?\d+(?:[.,:/-]\d+)*%?"
    rf"|[{_HAN_RANGES}]|{_LETTERS}(?:'{_LETTERS})*|(?P<mark>[{_DIVIDING}])|[^\w\s'*~《》『』【】]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ReducedText:
    """What a text says, as tokens in order, and how often it stresses it."""

    tokens: tuple[str, ...]
    stresses: int

    @property
    def content_size(self) -> int:
        """How much it says: of texts that say the same, that which stresses it says most."""
        return len(self.tokens) + self.stresses


def same_content(one: str, other: str) -> bool:
    """Return True if two texts say the same; a text without any word says nothing."""
    return same_reduced_content(reduce_text(one), reduce_text(other))


def same_reduced_content(one: ReducedText, other: ReducedText) -> bool:
    """Do the same for texts that were reduced before."""
    return bool(one.tokens) and one.tokens == other.tokens


def content_size(text: str) -> int:
    """Return how much a text says: its tokens, with stress, but not what changes nothing."""
    return reduce_text(text).content_size


def reduce_text(text: str) -> ReducedText:
    """Read a text, to compare it with others."""
    plain = unicodedata.normalize("NFKC", text.translate(_SAME_SIGNS)).translate(_SAME_SIGNS)
    plain = " ".join(plain.split())
    for pattern, whole in _WORDINGS:
        plain = pattern.sub(whole, plain)
    reader = _Reader(list(_TOKEN.finditer(plain)), shouted=plain.isupper())
    for place in range(len(reader.found)):
        reader.take(place)
    return reader.finished()


class _Reader:
    """Takes the tokens of a text one by one, and leaves out what changes nothing where it is."""

    def __init__(self, found: Sequence[re.Match[str]], *, shouted: bool) -> None:
        self.found = found
        self.shouted = shouted
        self.tokens: list[str] = []
        self.whens: list[int] = []
        self.divided: set[int] = set()  # the tokens in front of which a clause ends
        self.stresses = 0
        self.opening = True  # nothing of this clause was taken yet
        self.first = ""  # the clause's first token
        self.negated = False

    def take(self, place: int) -> None:
        match = self.found[place]
        word = match[0].casefold()
        if match["mark"]:
            self._divide()
        elif not self._changes_nothing(word, match[0], ends=self._ends_behind(place)):
            self._keep("be" if word in _BE else word, is_when=bool(match["when"]))

    def finished(self) -> ReducedText:
        if self._may_move():
            when = self.tokens.pop(self.whens[0])
            self.tokens.insert(0, when)
        return ReducedText(tuple(self.tokens), self.stresses)

    def _ends_behind(self, place: int) -> bool:
        """Return True if a clause ends behind this one of those found, but for particles."""
        behind = (each for each in self.found[place + 1 :] if each[0] not in _SOUNDS)
        following = next(behind, None)
        return following is None or bool(following["mark"]) or following[0] == "?"

    def _divide(self) -> None:
        if self.tokens:
            self.divided.add(len(self.tokens))
        self.opening = True

    def _keep(self, word: str, *, is_when: bool) -> None:
        answered = self.tokens and len(self.tokens) in self.divided
        if answered and (self.tokens[-1] in _ANSWERS or self.tokens[-2:] == ["没", "有"]):
            self.tokens.append(",")
        if self.opening:
            self.first = word
        self.opening = word == "?"
        self.negated = self.negated or word in _NEGATIONS
        if is_when:
            self.whens.append(len(self.tokens))
        self.tokens.append(word)

    def _changes_nothing(self, word: str, written: str, *, ends: bool) -> bool:
        if word in _ARTICLES:  # not in "plan A", nor in "Vitamin A is healthy"
            return not ends and (self.opening or self.shouted or written != "A")
        if self.opening and (word in _OPENINGS or (word in _GREETINGS and ends)):
            return True
        if word in _STRESS and not self.negated and not ends:
            self.stresses += 1
            return True
        if word == "的" and ends and self.tokens and self.tokens[-1] in _PRONOUNS:
            return False  # "that is mine" is not "that is me"
        if word == "吧":  # polite at the end of what is asked for, else a guess or a proposal
            return ends and self.first in {"把", "帮", "给"} and "了" not in self.tokens
        return word in _SOUNDS

    def _may_move(self) -> bool:
        """Return True if the time that the text names says the same at its beginning."""
        if len(self.whens) != 1 or _TWOFOLD.intersection(self.tokens):
            return False
        (when,) = self.whens
        inside = self.divided - {when, when + 1, len(self.tokens)}
        before = self.tokens[:when]
        at_an_end = when == len(self.tokens) - 1 or all(each in _PRONOUNS for each in before)
        return at_an_end and not inside
