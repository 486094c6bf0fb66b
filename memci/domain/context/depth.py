"""How deep a search looks: candidates of each channel (R11b)."""

from __future__ import annotations

DEEPEST = 200
_SHALLOWEST = 80
# Hits are chosen from so many times their number; and an entry takes about so many tokens.
_TIMES = 5
_ENTRY_TOKENS = 20


# Of the best messages by words, each third is good enough for its neighbours to be looked at:
# measured, more of them change nothing that is found.
_LEND = 3


def lenders(best: int) -> int:
    """Return how many messages lend their words to those beside them, where so many are found."""
    return best // _LEND


def depth(k: int | None, budget_tokens: int | None) -> int:
    """Return how many candidates each channel offers, for ``k`` hits or a budget; 80 to 200."""
    if budget_tokens is not None:
        wanted = budget_tokens // _ENTRY_TOKENS
    elif k is not None:
        wanted = k * _TIMES
    else:
        wanted = DEEPEST
    return min(max(wanted, _SHALLOWEST), DEEPEST)
