"""Claims read off a text by patterns, English and Chinese: few, but sure (R6)."""

from __future__ import annotations

from memci.language.claims import chinese, english
from memci.language.claims.claim import Claim
from memci.language.detection import Language, language_of


def claims_in(text: str, speaker: str) -> list[Claim]:
    """Return what a speaker asserts of things that have one value at a time.

    ``speaker`` is the key that "I" stands for. Questions, wishes, guesses, plans, hearsay, tales
    of the past and denials assert nothing; attributes that may have several values at once (likes,
    owns, has visited) are left out.
    """
    of = chinese.claims_of if language_of(text) is Language.CHINESE else english.claims_of
    return of(text, " ".join(speaker.casefold().split()))
