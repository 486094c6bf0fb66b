"""What Chinese sentences assert, clause by clause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memci.domain.memory.claim import Claim
from memci.smallmodel.offline.claims.chinese_grammar import (
    CLAUSE,
    ELLIPTIC,
    IDENTITY,
    LEAD,
    LONGEST,
    NOT_ASSERTED,
    SENTENCE,
    SINCE,
)
from memci.smallmodel.offline.claims.chinese_names import FIRM
from memci.smallmodel.offline.claims.chinese_patterns import CORRECTIONS, PATTERNS

# Who says so goes on about himself: "I changed jobs, and now at …".
_TURN = re.compile(
    rf"我们?{SINCE}(?:(?P<home>搬家|搬走)|换了?(?:一?个)?新?工作|跳槽|辞职|离职|离开)"
)
_GOES_ON = re.compile(r"(?:现在|目前|如今)+(?=[住在搬]|定居)")
_AT_FIRM = re.compile(rf"在{FIRM}$")


def claims_of(text: str, speaker: str) -> list[Claim]:
    """Return the claims of a text, in its order."""
    return [
        claim
        for sentence in SENTENCE.findall(text)
        if len(sentence) <= LONGEST
        and sentence.strip()[-1:] not in {"?", "？"}
        and not NOT_ASSERTED.search(sentence)
        for claim in _told(_clauses(sentence), speaker)
    ]


def _clauses(sentence: str) -> Iterator[str]:
    """Cut a sentence into clauses; the two halves of a correction stay together."""
    whole = sentence.strip().strip("。！!；;").strip()
    if any(each.match(_led(whole)) for each in CORRECTIONS):
        yield whole
        return
    yield from filter(None, (part.strip() for part in CLAUSE.split(whole)))


def _told(clauses: Iterable[str], speaker: str) -> Iterator[Claim]:
    """Yield the claims of clauses in a row; one without a subject has that of the one before."""
    before, of_speaker = "", False
    for clause in clauses:
        told = _led(clause)
        turn = _TURN.match(before)
        if turn and _GOES_ON.match(clause):
            told = "我" + clause
            if not turn["home"] and _AT_FIRM.search(told):
                told += "工作"
        elif of_speaker and ELLIPTIC.match(clause):
            told = "我" + clause
        claim = _claim(clause, told, speaker)
        if claim is not None:
            yield claim
        # Of anybody else it is not sure who the next clause is about.
        mine = claim is not None and claim.subject == speaker
        before, of_speaker = told, mine or IDENTITY.match(told) is not None


def _led(clause: str) -> str:
    lead = LEAD.match(clause)
    return clause[lead.end() :] if lead and lead.end() < len(clause) else clause


def _claim(clause: str, told: str, speaker: str) -> Claim | None:
    for pattern, read in PATTERNS:
        found = pattern.match(told)
        claim = read(found, speaker, clause) if found else None
        if claim is not None:
            return claim
    return None
