"""How deep a search looks: candidates of each channel (R11b)."""

from __future__ import annotations

DEEPEST = 200
# Hits are chosen from so many times their number; and an entry takes about so many tokens.
_TIMES = 8
_ENTRY_TOKENS = 20
_SHALLOWEST = 40  # for a few hits
_SHALLOWEST_BUDGET = 80  # for a budget, which short entries fill

# Of the best messages by words, each third is good enough for its neighbours to be looked at:
# measured, more of them change nothing that is found.
_LEND = 3


def lenders(best: int) -> int:
    """Return how many messages lend their words to those beside them, where so many are found."""
    return best // _LEND


def depth(k: int | None, budget_tokens: int | None) -> int:
    """Return how many candidates each channel offers, for ``k`` hits or a budget; 40 to 200."""
    if budget_tokens is not None:
        wanted = max(budget_tokens // _ENTRY_TOKENS, _SHALLOWEST_BUDGET)
    elif k is not None:
        wanted = max(k * _TIMES, _SHALLOWEST)
    else:
        wanted = DEEPEST
    return min(wanted, DEEPEST)
