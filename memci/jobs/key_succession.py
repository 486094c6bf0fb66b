"""When a key message takes the place of an older one: both cannot hold at once (R6, R7)."""

from __future__ import annotations

import re

from memci.domain.context.cues.choices import choice_of
from memci.domain.context.cues.rule import any_of
from memci.domain.memory.claim import Claim, contradicts
from memci.domain.pages.pin import Pin
from memci.smallmodel.offline.claims import claims_in

# Both are of one speaker.
_SPEAKER = "speaker"
# "Deadline: 30 June", "预算：5000元".
_LABEL = re.compile(r"^\W*(?:([A-Za-z]+(?: [A-Za-z]+)?)|([\u4e00-\u9fff]{2,6}))\s*[:：]\s*(?=\S)")
# What is otherwise than it was. Else another session may be about another budget.
_CHANGED = any_of(
    r"\b(?:now|instead|no longer|new|has been|was|got|from .{1,40} to)\b|\bto \S*\d|"
    r"\b(?:switch|chang|mov|rais|lower|extend|postpon)(?:e|es|ed|ing)?\b",
    "现在|目前|已|不再|新的|改|换|调整|推迟|延[后期到]|提前|增加|提高|减少?到|降",
)


def says_otherwise(newer: Pin, older: Pin) -> bool:
    """Tell whether what is said now leaves no room for what the same speaker said before.

    The sentences themselves are compared: what else is so around an older one does not end it.
    """
    choice = choice_of(newer.text)
    if choice is not None and choice == choice_of(older.text):
        return True
    if newer.said_in != older.said_in and not _CHANGED.search(newer.text):
        return False
    before = _claims(older)
    return any(contradicts(now, old) for now in _claims(newer) for old in before)


def _claims(pin: Pin) -> list[Claim]:
    """Return what a sentence asserts; a label names what its value is."""
    told = _LABEL.sub(
        lambda found: f"The {found[1]} is " if found[1] else f"{found[2]}是", pin.text
    )
    return [claim for claim in claims_in(told, _SPEAKER) if not claim.corrects]
