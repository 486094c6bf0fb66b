"""Key messages that settle what has one value at a time: a newer one takes their place (R6, R7).

A sentence settles something only if it says nothing else. What holds in one case, denies, or has
another clause leaves all others standing, and no other ends it: what goes with it would be lost
from sight. In doubt two stand side by side, the newer one below.
"""

from __future__ import annotations

from memci.domain.context.cues import chinese_settled, english_settled
from memci.domain.context.cues.settlement import Settled

_RULES = (*english_settled.RULES, *chinese_settled.RULES)


def settled_by(sentence: str) -> Settled | None:
    """Return what a sentence settles, if it says no more than that; None: nothing."""
    said = sentence.strip().replace("’", "'")
    for rule in _RULES:
        if found := rule.pattern.fullmatch(said):
            return rule.read(found)
    return None
