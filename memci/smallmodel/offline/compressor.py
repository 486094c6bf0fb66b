"""Says the same in fewer characters (M12), in the text's own words and order.

Clauses are chosen greedily by what they tell per character; a word that is said already counts
less. What room is left then, or a target below any clause, is filled with the telling words of
the next clauses.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from memci.domain.language import Language, language_of
from memci.smallmodel.offline.clauses import Clause, clauses, without_conjunction
from memci.smallmodel.offline.cues import Cue, is_social
from memci.smallmodel.offline.fillers import without_fillers
from memci.smallmodel.offline.rarity import UNKNOWN, rarity
from memci.smallmodel.offline.weights import Word, weigh

# A word's worth when it was said once already, twice, …
_AGAIN = 0.4
# A question tells less than an answer.
_QUESTION = 0.5
# A greeting, thanks or praise tells next to nothing; a decision, a rule or a date's plan more.
_SOCIAL = 0.3
_TELLING = 1.2
# Share of the text from which on there is room for greetings.
_POLITE = 0.3
_FEWEST_TELLING_WORDS = 2
# In Chinese the first clause mostly names what the sentence is about, and the others leave it out.
_OPENS_CHINESE = 1.15
# A clause that denies something is cut to words only if this share of what it tells is kept.
_DENIAL_KEPT = 0.75
# Characters of room that are worth filling with words alone.
_FEWEST_FILLED = 24
# Characters that any choice costs beside its own: keeps one-word clauses from winning.
_OVERHEAD = 6
_OPEN_MARKS = ",;:，；：、—–-( "


@dataclass(frozen=True, slots=True)
class _Candidate:
    clause: Clause
    words: tuple[Word, ...]
    factor: float
    social: bool

    @property
    def cost(self) -> int:
        """Characters that it takes at most, with its closing mark and the gap before it."""
        text = self.clause.text
        return max(len(text), len(_closed(text, self.clause.end))) + 1

    def gain(self, said: Counter[str]) -> float:
        """What it tells beyond what is ``said``."""
        total = 0.0
        here: Counter[str] = Counter()
        for word in self.words:
            total += word.weight * _AGAIN ** (said[word.key] + here[word.key])
            here[word.key] += 1
        return total * self.factor


class OfflineCompressor:
    """Extractive, for English and Chinese; other languages by English's rules."""

    def compress(self, text: str, target: int) -> str:
        """Return at most ``target`` characters; empty only when ``text`` or ``target`` is."""
        text = text.strip()
        if len(text) <= target or target <= 0:
            return text[: max(target, 0)]
        language = language_of(text)
        candidates = _candidates(text, language)
        chosen = _choose(candidates, target, politely=target >= _POLITE * len(text))
        room = target - sum(candidates[index].cost for index in chosen)
        if room >= _FEWEST_FILLED or not chosen:
            chosen |= _fill(candidates, chosen, room, language)
        return _join(chosen, language) or _first_word(candidates, text)[:target]


def clause_values(text: str) -> Iterator[tuple[str, float]]:
    """Yield each clause of ``text`` that can stand alone, and what it tells."""
    language = language_of(text)
    for candidate in _candidates(text, language):
        if candidate.clause.needs is None:
            shown = _opened(without_conjunction(candidate.clause).text, language)
            yield " ".join(shown.rstrip(_OPEN_MARKS).split()), candidate.gain(Counter())


def _candidates(text: str, language: Language) -> list[_Candidate]:
    found: list[_Candidate] = []
    sentence = -1
    for clause in clauses(text, language):
        opens, sentence = clause.sentence != sentence, clause.sentence
        shorter = replace(clause, text=without_fillers(clause.text))
        words = tuple(weigh(shorter.text, language))
        # A name or a word alone ("John!") calls or exclaims.
        alone = sum(word.weight > 0 for word in words) < _FEWEST_TELLING_WORDS
        factor = _factor(clause, language, opens=opens)
        social = alone or is_social(clause.text) or is_social(shorter.text)
        found.append(_Candidate(shorter, words, factor * (_SOCIAL if social else 1.0), social))
    return found


def _factor(clause: Clause, language: Language, *, opens: bool) -> float:
    factor = _QUESTION if clause.end in {"?", "？"} else 1.0
    if any(cue.value.search(clause.text) for cue in Cue):
        factor *= _TELLING
    return factor * _OPENS_CHINESE if opens and language is Language.CHINESE else factor


def _choose(candidates: list[_Candidate], target: int, *, politely: bool) -> dict[int, Clause]:
    """Take the clauses that tell most per character, each after the one it needs.

    What is only said to be kind fills room if ``politely``.

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
        needs, cost = candidate.clause.needs, candidate.cost
        if cost > room or (candidate.social and chosen and not politely):
            continue
        if needs is not None and needs not in chosen:
            waiting.setdefault(needs, []).append(index)
            continue
        density = _density(candidate, said)
        if density <= 0:
            break
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
        clause = candidates[index].clause
        text = _telling_words(candidates[index].words, room - len(clause.end), language)
        if text:
            added[index] = replace(clause, text=text)
            room -= len(text) + len(clause.end) + 1
    return added


def _telling_words(words: Iterable[Word], room: int, language: Language) -> str:
    """The words that tell most, in their order, within ``room``; negations before all others."""
    ranked = sorted(words, key=lambda word: (not word.negation, -word.weight, word.start))
    space = 0 if language is Language.CHINESE else 1
    kept: list[Word] = []
    for word in ranked:
        cost = len(word.text) + (space if kept else 0)
        if word.weight > 0 and cost <= room:
            kept.append(word)
            room -= cost
    if any(word.negation for word in ranked):
        telling = sum(word.weight for word in ranked)
        if sum(word.weight for word in kept) < _DENIAL_KEPT * telling:
            return ""
    kept.sort(key=lambda word: word.start)
    return (" " if space else "").join(word.text for word in kept)


def _join(chosen: dict[int, Clause], language: Language) -> str:
    """Write the clauses in order; a sentence that is cut short still ends with its mark."""
    ordered = [chosen[index] for index in sorted(chosen)]
    written: list[str] = []
    for at, clause in enumerate(ordered):
        before = ordered[at - 1] if at else None
        after = ordered[at + 1] if at + 1 < len(ordered) else None
        text = clause.text
        if before is None or before.sentence != clause.sentence:
            text = _opened(without_conjunction(clause).text, language)
        if after is None or after.sentence != clause.sentence:
            text = _closed(text, clause.end)
        if before is not None:
            written.append(_gap(before, clause, language))
        written.append(text)
    return "".join(written).strip()


def _opened(text: str, language: Language) -> str:
    """Begin with a capital, if the first word is an ordinary one: not ``npm`` or ``iPhone``."""
    word = text.split(" ", 1)[0]
    usual = language is not Language.CHINESE and word.isascii() and rarity(word) < UNKNOWN
    return text[0].upper() + text[1:] if usual else text


def _closed(text: str, mark: str) -> str:
    """End with the sentence's own mark, not with a comma."""
    if text.endswith(('"', "”", "’", "」", "』", "》", ")", "）", mark or "\n")):
        return text
    return text.rstrip(_OPEN_MARKS) + mark


def _gap(before: Clause, after: Clause, language: Language) -> str:
    if before.line != after.line:
        return "\n"
    return "" if language is Language.CHINESE else " "


def _first_word(candidates: Iterable[_Candidate], text: str) -> str:
    words = [word for each in candidates for word in each.words]
    best = max(words, key=lambda word: word.weight, default=None)
    return best.text if best else text
