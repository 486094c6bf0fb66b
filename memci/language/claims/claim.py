"""Claims: what a memory says to be so, and when a newer one contradicts an older one (R6)."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

_WORD = re.compile(r"\d+(?:[.,:/-]\d+)*|[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]+|@")
_IDLE_TEXT = """
    a an the at on by of in per each month about around exactly euro euros dollar dollars pound
    pounds usd eur gbp rmb yuan bucks th st nd rd v version
    了 的 元 块 钱 约 是
"""
_IDLE = frozenset(_IDLE_TEXT.split())
# Ways to name a time that cannot be compared: what day Friday is hangs on when it was said.
_DAYS = (
    re.compile(
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:周|星期|礼拜)[一二三四五六日天末]"
    ),
    re.compile(r"\b(?:today|tomorrow|tonight|next|end of)\b|[今明后]天|月底|月初|年底|年初"),
    re.compile(
        r"\b(?:january|february|march|april|may|june|july|august|september|october|november"
        r"|december)\b|\d{1,2}[./-]\d|[\d一二三四五六七八九十][月号日]"
    ),
)


@dataclass(frozen=True, slots=True)
class Claim:
    """That an attribute of a subject has a value; an attribute has one value at a time.

    ``subject`` and ``attribute`` are keys. ``value`` None: it has none any more. ``ended`` is a
    value that no longer holds. A correction ("Y, not Z") names neither subject nor attribute:
    both are "", and it is about whatever had the value ``ended``. ``evidence`` is the clause that
    says so, word for word.
    """

    subject: str
    attribute: str
    value: str | None
    ended: str | None
    evidence: str

    @property
    def corrects(self) -> bool:
        """Whether it only says which value is wrong, and which is right."""
        return not self.attribute


@dataclass(frozen=True, slots=True)
class StoredClaim:
    """A claim of a living memory; ``seq`` is the message that it was made in."""

    claim: Claim
    node_id: int
    seq: int
    said_at: datetime

    @property
    def age(self) -> tuple[datetime, int, int]:
        """Order claims by when they were made."""
        return self.said_at, self.seq, self.node_id


@dataclass(frozen=True, slots=True)
class Supersession:
    """A newer memory says otherwise than an older one."""

    older: StoredClaim
    newer: StoredClaim


def resolve_correction(held: StoredClaim, known: Iterable[StoredClaim]) -> StoredClaim | None:
    """Return a correction as a claim about what it corrects: the last that had the wrong value.

    None when nothing did. Anything else is returned as it is.
    """
    if not held.claim.corrects:
        return held
    wrong = [
        each
        for each in known
        if not each.claim.corrects
        and each.age < held.age
        and _equal(each.claim.value, held.claim.ended)
    ]
    if not wrong:
        return None
    about = max(wrong, key=lambda each: each.age).claim
    claim = Claim(
        about.subject, about.attribute, held.claim.value, about.value, held.claim.evidence
    )
    return StoredClaim(claim, held.node_id, held.seq, held.said_at)


def find_supersessions(claims: Iterable[StoredClaim]) -> list[Supersession]:
    """Return which memories are superseded by which, of claims about one attribute of one subject.

    In the order of what was said, whatever order they come in: each supersedes all that still hold
    and say otherwise, or whose value it ends. Two of one memory never do.
    """
    found: list[Supersession] = []
    holding: list[StoredClaim] = []
    for newer in sorted(claims, key=lambda each: each.age):
        over = [each for each in holding if contradicts(newer.claim, each.claim)]
        found += [Supersession(old, newer) for old in over if old.node_id != newer.node_id]
        holding = [each for each in holding if each not in over]
        holding.append(newer)
    return found


def contradicts(newer: Claim, older: Claim) -> bool:
    """Return True if both cannot hold at once; a value that only says it more exactly can."""
    if (newer.subject, newer.attribute) != (older.subject, older.attribute):
        return False
    if older.value is None:
        return False
    if newer.value is None:
        return newer.ended is not None and _equal(older.value, newer.ended)
    return not _compatible(older.value, newer.value)


def _equal(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and _words(one) == _words(other) != []


def _compatible(one: str, other: str) -> bool:
    """Return True if one value is the other, or says it in more words; in doubt it is."""
    ways, others = _ways_of_naming(one), _ways_of_naming(other)
    if ways and others and not ways & others:
        return True
    few, many = sorted((_words(one), _words(other)), key=len)
    if any(word[0].isdigit() for word in few) or not few:
        return not Counter(few) - Counter(many)
    return any(few == many[at : at + len(few)] for at in range(len(many)))


def _ways_of_naming(value: str) -> set[int]:
    return {way for way, pattern in enumerate(_DAYS) if pattern.search(value.casefold())}


def _words(value: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", value).casefold()
    return [word for word in _WORD.findall(folded) if word not in _IDLE]
