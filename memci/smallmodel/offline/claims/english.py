"""What English sentences assert, clause by clause."""

from __future__ import annotations

from collections.abc import Iterator

from memci.domain.memory.claim import Claim
from memci.smallmodel.offline.claims.english_grammar import (
    CLAUSE,
    LEAD,
    LONGEST,
    NOT_ASSERTED,
    SENTENCE,
)
from memci.smallmodel.offline.claims.english_patterns import CORRECTION, PATTERNS


def claims_of(text: str, speaker: str) -> list[Claim]:
    """Return the claims of a text, in its order."""
    return [
        claim
        for sentence in SENTENCE.findall(text)
        if len(sentence) <= LONGEST
        and not sentence.rstrip().endswith("?")
        and not NOT_ASSERTED.search(sentence)
        for clause in _clauses(sentence)
        for claim in _claims(clause, speaker)
    ]


def _clauses(sentence: str) -> Iterator[str]:
    """Cut a sentence into clauses; what stands before "not" in a correction stays with it."""
    whole = sentence.strip().rstrip(".!;").strip()
    if CORRECTION.match(_led(whole)):
        yield whole
        return
    yield from filter(None, (part.strip() for part in CLAUSE.split(whole)))


def _led(clause: str) -> str:
    lead = LEAD.match(clause)
    return clause[lead.end() :].strip() if lead else clause


def _claims(clause: str, speaker: str) -> Iterator[Claim]:
    told = _led(clause)
    for pattern, read in PATTERNS:
        found = pattern.match(told)
        if found is None:
            continue
        claim = read(found, speaker, clause)
        if claim is not None:
            yield claim
            return
