"""Parts of clauses, for when a whole clause has no room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memci.smallmodel.offline.candidates import Candidate
from memci.smallmodel.offline.weights import Word

# Words looked at in one clause: longer ones are lists or code.
_MOST_WORDS = 120
# A clause that denies something is cut only if this share of what it tells is kept.
_DENIAL_KEPT = 0.75


def excerpt(text: str, words: Sequence[Word], room: int) -> str:
    """Return the part of ``text`` of at most ``room`` characters whose words tell most.

    It begins and ends with a telling word. It holds every negation of the clause and nearly all
    that is denied, or is empty: "allergic" is never cut from "not allergic".
    """
    words = words[:_MOST_WORDS]
    negations = [at for at, word in enumerate(words) if word.negation]
    best, best_value = "", 0.0
    for first, opening in enumerate(words):
        if negations and first > negations[0]:
            break
        if opening.weight <= 0:
            continue
        value = 0.0
        for last in range(first, len(words)):
            word = words[last]
            if word.end - opening.start > room:
                break
            value += word.weight
            whole = not negations or last > negations[-1]
            if word.weight > 0 and whole and value > best_value:
                best, best_value = text[opening.start : word.end], value
    enough = _DENIAL_KEPT * sum(word.weight for word in words) if negations else 0.0
    return best if best_value >= enough else ""


def shortest(candidates: Iterable[Candidate], text: str, target: int) -> str:
    """Return what tells most in a word: of a clause that denies, its negation."""
    words = [
        word
        for each in candidates
        for word in each.words
        if word.negation or not any(other.negation for other in each.words)
    ]
    best = max(words, key=lambda word: word.weight * (len(word.text) <= target), default=None)
    return (best.text if best else text)[:target]
