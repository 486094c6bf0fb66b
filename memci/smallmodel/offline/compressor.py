"""Offline compressor: shortens a text to its most valuable clauses (M12).

Clauses are chosen greedily by their value per character; a repeated word counts less. The rest of
the room, or a target below any clause, is filled with the most valuable parts of other clauses.
"""

import heapq
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from memci.language.clauses import Clause, lacks_subject, without_conjunction
from memci.language.detection import Language, language_of
from memci.language.shortening.clause_values import (
    AGAIN,
    OPEN_MARKS,
    Candidate,
    candidates,
    capitalized,
    with_closing_mark,
)
from memci.language.shortening.phrases import HAN, JOINS, Part, excerpt, units_of
from memci.language.shortening.protected_spans import balanced
from memci.language.times.mentions import has_only_times
from memci.language.word_weights import Word, is_specific

_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
# Numbers and addresses: a part of one is meaningless.
_UNDIVIDED = re.compile(r"[\d/\\@]")


class _Kind(IntEnum):
    """The kinds of words for a tiny target, best first."""

    NAMED = 0
    JOINED = 1  # one of several subjects
    INSIDE = 2  # a part of a name
    VERB = 3
    DENIAL = 4
    WHEN = 5  # a date, "yesterday" without one, or a number without its thing


def shortest(candidates: Sequence[Candidate], text: str, target: int) -> str:
    """Return the most valuable atom or word that fits whole, with its label if that fits too.

    Of a negative clause it is a word before the negation, or else the negation alone. If none fits,
    it is the first word, cut, but "…" for a number, because a part is another number.
    """
    fitting = [
        (kind, each.clause.label, word)
        for each in candidates
        for kind, word in _words_of(each)
        if len(word.text) <= target
    ]
    labelled = [
        (kind, label, word)
        for kind, label, word in fitting
        if label and kind is _Kind.NAMED and len(label) + len(word.text) <= target
    ]
    if labelled:
        _, label, word = max(labelled, key=lambda each: _sort_key(each[2]))
        return label + word.text
    if fitting:
        best = min(kind for kind, _, _ in fitting)
        return max((word for kind, _, word in fitting if kind is best), key=_sort_key).text
    match = _WORD.search(text)
    start, end = match.span() if match else (0, len(text))
    # With the two characters behind it, which show an address: "https:/", "ada@".
    return "…" if match and _UNDIVIDED.search(text, start, end + 2) else text[start:end][:target]


def _words_of(candidate: Candidate) -> Iterator[tuple[_Kind, Word]]:
    units = units_of(candidate.clause.text, candidate.words)
    first = next((at for at, word in enumerate(units) if word.negation), len(units))
    for at, unit in enumerate(units[:first]):
        if has_only_times(unit.text):
            yield _Kind.WHEN, unit
        elif lacks_subject(units, at):
            yield _Kind.VERB, unit
        else:
            yield (_Kind.JOINED if _is_conjoined(units, at) else _Kind.NAMED), unit
    for unit in units[first : first + 1]:
        yield _Kind.DENIAL, unit
    named = [unit for unit in units[:first] if not _UNDIVIDED.search(unit.text)]
    for word in candidate.words:
        if any(unit.start <= word.start < unit.end for unit in named):
            yield (_Kind.WHEN if has_only_times(word.text) else _Kind.INSIDE), word


def _is_conjoined(units: Sequence[Word], at: int) -> bool:
    """Return True if a conjunction joins the word to another one."""
    return any(each.key in JOINS for each in (*units[max(0, at - 1) : at], *units[at + 1 : at + 2]))


def _sort_key(word: Word) -> tuple[bool, float, int]:
    """Return a sort key; a Chinese word of one character comes last."""
    whole = len(word.text) > 1 or not HAN.search(word.text)
    return whole, word.weight, len(word.text)


# The least target, as a share of the text, with room for courtesies.
_POLITE = 0.4
# Characters that set a part of a clause off from what stands before and after it.
_SET_OFF = 3
_END = 2  # its closing mark, and the gap that the first clause lacks
# Characters of room that are worth filling with parts of clauses.
_FEWEST_FILLED = 16
# If a label ("Ann: ") takes more than this share of the target, its line is left out: without the
# label it would seem to be another speaker's.
_LABEL_SHARE = 0.6
_RELATIVE_CLAUSE = re.compile(r"(?:who|which|whose|where)\b", re.IGNORECASE)
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
        choice.fill()
        if not choice.chosen:
            choice.fill(only_informative=False)
        if not choice.chosen:
            choice.choose(with_courtesies=True)
        return balanced(choice.written(), text) or shortest(found, text, target)


@dataclass
class _Choice:
    candidates: Sequence[Candidate]
    target: int
    language: Language
    chosen: dict[int, Clause] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    labelled: set[int] = field(default_factory=set)
    parts: set[int] = field(default_factory=set)  # those of ``chosen`` that are cut short

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

    def fill(self, *, only_informative: bool = True) -> None:
        """Add valuable parts of other clauses, the best clauses first.

        ``only_informative``: no part that means nothing alone, such as a single common noun.
        """
        left = [
            at
            for at, candidate in enumerate(self.candidates)
            if at not in self.chosen
            and not (candidate.bare and self.chosen)
            and not self._has_lost_label(candidate.clause)
        ]
        left.sort(key=lambda at: (-self.candidates[at].gain(self.seen), at))
        for at in left:
            if self.chosen and self.room < _FEWEST_FILLED:
                break
            clause = self.candidates[at].clause
            # The first clause needs no mark before it.
            room = self.room - (_SET_OFF if self.chosen else _END) - self._label_cost(clause)
            if self._misses_clause(at):
                continue
            part = excerpt(
                clause.text, self._reweighted_words(at), room, from_start=self.candidates[at].vital
            )
            if not part.text or has_only_times(part.text):
                continue
            if not only_informative or self._is_informative(at, part):
                self._add(at, replace(clause, text=part.text), len(part.text) + _SET_OFF)
                self.parts.add(at)

    def _misses_clause(self, at: int) -> bool:
        """Return True if a clause would mislead without the whole clause that it depends on."""
        clause = self.candidates[at].clause
        whole = clause.needs in self.chosen and clause.needs not in self.parts
        hangs = self.candidates[at].vital or _RELATIVE_CLAUSE.match(clause.text)
        return clause.needs is not None and not whole and bool(hangs)

    def _reweighted_words(self, at: int) -> list[Word]:
        """Return a clause's words, with repeated ones weighing less."""
        return [
            replace(word, weight=word.weight * AGAIN ** self.seen[word.key])
            if self.seen[word.key]
            else word
            for word in self.candidates[at].words
        ]

    def _is_informative(self, at: int, part: Part) -> bool:
        """Return True if a part is informative: not "job", "yesterday" or a repetition."""
        contained = [
            word
            for word in self.candidates[at].words
            if word.weight > 0 and any(unit.start <= word.start < unit.end for unit in part.words)
        ]
        new = [
            word for word in contained if not self.seen[word.key] and not has_only_times(word.text)
        ]
        return bool(new) and (len(contained) > 1 or is_specific(new[0]) or "《" in part.text)

    def written(self) -> str:
        """Return the clauses in order; a shortened sentence still ends with its mark."""
        ordered = sorted(self.chosen)
        parts: list[str] = []
        for place, at in enumerate(ordered):
            clause = self.chosen[at]
            before = self.chosen[ordered[place - 1]] if place else None
            after = ordered[place + 1] if place + 1 < len(ordered) else None
            text = clause.text
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
        apart = after != at + 1 or at in self.parts or after in self.parts
        if not apart or self.chosen[at].line != self.chosen[after].line:
            return text
        cut = at in self.parts or after in self.parts
        if self.chosen[at].sentence == self.chosen[after].sentence and cut:
            text = text.rstrip(OPEN_MARKS)
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
