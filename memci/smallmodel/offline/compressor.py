"""Says the same in fewer characters (M12), in the text's own words and order.

Clauses are chosen greedily by what they tell per character; a word that is said already counts
less. What room is left then, or a target below any clause, is filled with the telling words of
the next clauses.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from memci.domain.language import Language, language_of
from memci.smallmodel.offline.clauses import Clause, clauses, without_conjunction
from memci.smallmodel.offline.fillers import without_fillers
from memci.smallmodel.offline.weights import Word, weigh

# A word's worth when it was said once already, twice, …
_AGAIN = 0.4
# A question tells less than an answer.
_QUESTION = 0.5
# Characters of room that are worth filling with words alone.
_FEWEST_FILLED = 12
# Characters that any choice costs beside its own: keeps one-word clauses from winning.
_OVERHEAD = 6
_OPEN_MARKS = ",;:，；：、—–-( "


@dataclass(frozen=True, slots=True)
class _Candidate:
    clause: Clause
    words: tuple[Word, ...]

    def gain(self, said: Counter[str]) -> float:
        """What it tells beyond what is ``said``."""
        total = 0.0
        here: Counter[str] = Counter()
        for word in self.words:
            total += word.weight * _AGAIN ** (said[word.key] + here[word.key])
            here[word.key] += 1
        return total * (_QUESTION if self.clause.end in {"?", "？"} else 1.0)


class OfflineCompressor:
    """Extractive, for English and Chinese; other languages by English's rules."""

    def compress(self, text: str, target: int) -> str:
        """Return at most ``target`` characters; empty only when ``text`` or ``target`` is."""
        text = text.strip()
        if len(text) <= target or target <= 0:
            return text[: max(target, 0)]
        language = language_of(text)
        candidates = _candidates(text, language)
        chosen = _choose(candidates, target)
        room = target - sum(len(clause.text) + 1 for clause in chosen.values()) + 1
        if room >= _FEWEST_FILLED or not chosen:
            chosen |= _fill(candidates, chosen, room, language)
        return _join(chosen, language) or _first_word(candidates, text)[:target]


def _candidates(text: str, language: Language) -> list[_Candidate]:
    found: list[_Candidate] = []
    for clause in clauses(text, language):
        shorter = replace(clause, text=without_fillers(clause.text))
        found.append(_Candidate(shorter, tuple(weigh(shorter.text, language))))
    return found


def _choose(candidates: list[_Candidate], target: int) -> dict[int, Clause]:
    """Take the clauses that tell most per character, each after the one it needs.

    Gains only fall as more is said, so a clause whose gain is still the heap's best is the best.
    """
    said: Counter[str] = Counter()
    chosen: dict[int, Clause] = {}
    room = target + 1
    heap = [(-_density(each, said), index) for index, each in enumerate(candidates)]
    waiting: dict[int, list[int]] = {}
    heapq.heapify(heap)
    while heap:
        _, index = heapq.heappop(heap)
        candidate = candidates[index]
        needs, cost = candidate.clause.needs, len(candidate.clause.text) + 1
        if cost > room or not candidate.words:
            continue
        if needs is not None and needs not in chosen:
            waiting.setdefault(needs, []).append(index)
            continue
        density = _density(candidate, said)
        if heap and density < -heap[0][0]:
            heapq.heappush(heap, (-density, index))
            continue
        chosen[index] = candidate.clause
        room -= cost
        said.update(word.key for word in candidate.words)
        for each in waiting.pop(index, ()):
            heapq.heappush(heap, (-_density(candidates[each], said), each))
    return chosen


def _density(candidate: _Candidate, said: Counter[str]) -> float:
    return candidate.gain(said) / (len(candidate.clause.text) + _OVERHEAD)


def _fill(
    candidates: list[_Candidate], chosen: dict[int, Clause], room: int, language: Language
) -> dict[int, Clause]:
    """Shorten clauses that were not chosen to their telling words, the most telling first."""
    said = Counter(word.key for index in chosen for word in candidates[index].words)
    left = [index for index in range(len(candidates)) if index not in chosen]
    left.sort(key=lambda index: (-candidates[index].gain(said), index))
    added: dict[int, Clause] = {}
    for index in left:
        if added and room < _FEWEST_FILLED:
            break
        text = _telling_words(candidates[index], room, language)
        if text:
            added[index] = replace(candidates[index].clause, text=text)
            room -= len(text) + 1
    return added


def _telling_words(candidate: _Candidate, room: int, language: Language) -> str:
    """The words that tell most, in their order, within ``room``; negations before all others."""
    ranked = sorted(candidate.words, key=lambda word: (not word.negation, -word.weight, word.start))
    space = 0 if language is Language.CHINESE else 1
    kept: list[Word] = []
    for word in ranked:
        cost = len(word.text) + (space if kept else 0)
        if word.weight > 0 and cost <= room:
            kept.append(word)
            room -= cost
        elif word.negation:
            return ""
    if all(word.negation for word in kept):
        return ""
    kept.sort(key=lambda word: word.start)
    return (" " if space else "").join(word.text for word in kept)


def _join(chosen: dict[int, Clause], language: Language) -> str:
    """Write the clauses in order: lines stay lines, a sentence cut short still ends with its mark."""
    ordered = [chosen[index] for index in sorted(chosen)]
    written: list[str] = []
    for at, clause in enumerate(ordered):
        before = ordered[at - 1] if at else None
        after = ordered[at + 1] if at + 1 < len(ordered) else None
        shown = clause
        if before is None or before.sentence != clause.sentence:
            shown = without_conjunction(clause)
        text = shown.text
        if after is None or after.sentence != clause.sentence:
            text = _closed(text, clause.end)
        if before is not None:
            written.append(_gap(before, clause, language))
        written.append(text)
    return "".join(written).strip()


def _closed(text: str, mark: str) -> str:
    open_end = text.rstrip(_OPEN_MARKS)
    return open_end + mark if len(open_end) < len(text) else text


def _gap(before: Clause, after: Clause, language: Language) -> str:
    if before.line != after.line:
        return "\n"
    return "" if language is Language.CHINESE else " "


def _first_word(candidates: Iterable[_Candidate], text: str) -> str:
    words = [word for each in candidates for word in each.words]
    best = max(words, key=lambda word: word.weight, default=None)
    return best.text if best else text
