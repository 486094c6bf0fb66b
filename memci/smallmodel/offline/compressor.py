"""Offline compressor: shortens a text to its most valuable clauses, then to keywords (M12).

Clauses are chosen greedily by their value per character; a repeated word counts less. They are
never cut, so that a shortened text reads as sentences; where no clause has room, keywords remain.
"""

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from memci.language.clause_values import (
    Candidate,
    candidates,
    capitalized,
    with_closing_mark,
)
from memci.language.clauses import Clause, has_negation, without_conjunction
from memci.language.detection import Language, language_of
from memci.language.keywords import MOST_KEYWORDS, keywords_of

# The least target, as a share of the text, with room for courtesies.
_POLITE = 0.4
# If a label ("Ann: ") takes more than this share of the target, its line is left out: without the
# label it would seem to be another speaker's.
_LABEL_SHARE = 0.6
_IN_NUMBER = frozenset("0123456789–~:/月日")
_SETS_OFF = (",", ";", ":", "，", "；", "：", "—", "–", "-", ".", "!", "?", "。", "！", "？", "…")


class OfflineCompressor:
    """Extractive, for English and Chinese; other languages by English's rules."""

    at_once = 32

    def compress(self, text: str, target: int) -> str:
        """Return at most ``target`` characters; empty only when ``text`` or ``target`` is."""
        text = text.strip()
        if len(text) <= target or target <= 0:
            return text[: max(target, 0)]
        language = language_of(text)
        found = candidates(text, language)
        choice = _Choice(found, target, language)
        choice.choose(with_courtesies=target >= _POLITE * len(text))
        return choice.written() or _listed(found, target, language) or "…"


def _listed(found: Sequence[Candidate], target: int, language: Language) -> str:
    """Return the keywords of clauses, as many as fit, or else a word of one.

    What is denied is left out: "allergic" is no keyword of "not allergic".
    """
    separator = "、" if language is Language.CHINESE else ", "
    told = [each.clause.text for each in found if not has_negation(each.clause.text, language)]
    text = "\n".join(told)
    if len(found) == 1 and not found[0].clause.end and separator in text:
        words = text.split(separator)  # keywords already
    else:
        words = [
            word for word in keywords_of(text, language, MOST_KEYWORDS)[0] if _stands_in(text, word)
        ]
    listed = ""
    for word in words:
        longer = listed + separator + word if listed else word
        is_new = not any(each in word or word in each for each in listed.split(separator) if each)
        if is_new and len(longer) <= target:
            listed = longer
    parts = [part for word in words for part in reversed(word.split()) if part.isalpha()]
    return listed or next((part for part in parts if len(part) <= target), "")


def _stands_in(text: str, word: str) -> bool:
    """Return True if a word is in a text, and neither a number nor a part of one (点 of 8点)."""
    at = text.find(word)
    around = text[max(0, at - 1) : at] + text[at + len(word) : at + len(word) + 1]
    return at >= 0 and not word.isdigit() and _IN_NUMBER.isdisjoint(around)


@dataclass
class _Choice:
    candidates: Sequence[Candidate]
    target: int
    language: Language
    chosen: dict[int, Clause] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    labelled: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.room = self.target + 1  # the first clause needs no gap before it

    def choose(self, *, with_courtesies: bool) -> None:
        """Choose the clauses with most value per character, each after the one it depends on.

        Courtesies only ``with_courtesies``. Gains only fall while words are added, so a clause
        whose gain is still the heap's best is the best.
        """
        heap = [(-each.density(self.seen), at) for at, each in enumerate(self.candidates)]
        waiting: dict[int, list[int]] = {}
        heapq.heapify(heap)
        while heap:
            _, at = heapq.heappop(heap)
            candidate = self.candidates[at]
            needs = candidate.clause.needs
            if (self.chosen and candidate.bare) or (candidate.social and not with_courtesies):
                continue
            if self._has_lost_label(candidate.clause):
                continue
            if candidate.cost + self._label_cost(candidate.clause) > self.room:
                continue
            if needs is not None and needs not in self.chosen:
                waiting.setdefault(needs, []).append(at)
                continue
            density = candidate.density(self.seen)
            if density <= 0:
                break
            if heap and density < -heap[0][0]:
                heapq.heappush(heap, (-density, at))
                continue
            self._add(at, candidate.clause, candidate.cost)
            for each in waiting.pop(at, ()):
                heapq.heappush(heap, (-self.candidates[each].density(self.seen), each))

    def written(self) -> str:
        """Return the clauses in order; a shortened sentence still ends with its mark."""
        ordered = sorted(self.chosen)
        parts: list[str] = []
        for place, at in enumerate(ordered):
            clause = self.chosen[at]
            before = self.chosen[ordered[place - 1]] if place else None
            after = ordered[place + 1] if place + 1 < len(ordered) else None
            text = clause.text
            if before is None or at != ordered[place - 1] + 1:
                text = without_conjunction(clause).text
            if before is None or before.sentence != clause.sentence:
                text = capitalized(without_conjunction(clause).text, self.language)
            if after is None or self.chosen[after].sentence != clause.sentence:
                text = with_closing_mark(text, clause.end)
            if after is not None:
                text = self._with_separator(text, at, after)
            if before is not None:
                parts.append(_gap(before, clause, self.language, parts[-1]))
            if clause.turn in self.labelled and (before is None or before.turn != clause.turn):
                parts.append(clause.label)
            parts.append(text)
        return "".join(parts).strip()

    def _with_separator(self, text: str, at: int, after: int) -> str:
        """End with a mark if the next text in the line is no direct continuation."""
        if after == at + 1 or self.chosen[at].line != self.chosen[after].line:
            return text
        chinese = self.language is Language.CHINESE
        if text.rstrip("\"'”’」』》)）").endswith(_SETS_OFF):
            return text
        return text + ("；" if chinese else ";")

    def _add(self, at: int, clause: Clause, cost: int) -> None:
        self.room -= cost + self._label_cost(clause)
        if self._shows_label(clause):
            self.labelled.add(clause.turn)
        self.chosen[at] = clause
        self.seen.update(word.key for word in self.candidates[at].words)

    def _has_lost_label(self, clause: Clause) -> bool:
        return bool(clause.label) and not self._shows_label(clause)

    def _label_cost(self, clause: Clause) -> int:
        shown = self._shows_label(clause) and clause.turn not in self.labelled
        return len(clause.label) if shown else 0

    def _shows_label(self, clause: Clause) -> bool:
        return 0 < len(clause.label) <= _LABEL_SHARE * self.target


def _gap(before: Clause, after: Clause, language: Language, written: str) -> str:
    """Return the text between two clauses; ``written`` is the first with its mark."""
    if before.line != after.line:
        return "\n"
    if language is not Language.CHINESE:
        return " "
    return " " if written[-1:].isascii() and after.text[:1].isascii() else ""
