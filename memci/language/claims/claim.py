"""Claims: statements of a memory, and contradictions between newer and older ones (R6)."""

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
# Formats of a day that cannot be compared: "Friday" depends on the day of the message.
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
    """A statement that an attribute of a subject has a value; it has one value at a time.

    A correction ("Y, not Z") names neither subject nor attribute: both are "", and it is about
    the claim whose value is ``ended``.
    """

    subject: str  # a key
    attribute: str  # a key
    value: str | None  # None: it has no value any more
    ended: str | None  # a value that no longer holds
    evidence: str  # the clause of the claim, verbatim

    @property
    def corrects(self) -> bool:
        """True for a correction."""
        return not self.attribute


@dataclass(frozen=True, slots=True)
class StoredClaim:
    """A claim of a living memory; ``seq`` is the message that the memory was made in."""

    claim: Claim
    node_id: int
    seq: int
    said_at: datetime

    @property
    def age(self) -> tuple[datetime, int, int]:
        """Sort key: the time of the statement."""
        return self.said_at, self.seq, self.node_id


@dataclass(frozen=True, slots=True)
class Supersession:
    """A newer claim contradicts an older one."""

    older: StoredClaim
    newer: StoredClaim


def resolve_correction(stored: StoredClaim, known: Iterable[StoredClaim]) -> StoredClaim | None:
    """Return a correction as a claim about the latest subject that had the wrong value.

    None if there is none. Other claims are returned unchanged.
    """
    if not stored.claim.corrects:
        return stored
    wrong = [
        each
        for each in known
        if not each.claim.corrects
        and each.age < stored.age
        and _equal(each.claim.value, stored.claim.ended)
    ]
    if not wrong:
        return None
    about = max(wrong, key=lambda each: each.age).claim
    claim = Claim(
        about.subject, about.attribute, stored.claim.value, about.value, stored.claim.evidence
    )
    return StoredClaim(claim, stored.node_id, stored.seq, stored.said_at)


def find_supersessions(claims: Iterable[StoredClaim]) -> list[Supersession]:
    """Return the supersessions among claims about one attribute of one subject.

    Claims are compared by age, in whatever order they are given. Each supersedes all current ones
    that it contradicts, except those of its own memory.
    """
    found: list[Supersession] = []
    current: list[StoredClaim] = []
    for newer in sorted(claims, key=lambda each: each.age):
        superseded = [each for each in current if contradicts(newer.claim, each.claim)]
        found += [Supersession(old, newer) for old in superseded if old.node_id != newer.node_id]
        current = [each for each in current if each not in superseded]
        current.append(newer)
    return found


def contradicts(newer: Claim, older: Claim) -> bool:
    """Return True if both cannot be true at once; a value may be more exact than the other."""
    if (newer.subject, newer.attribute) != (older.subject, older.attribute):
        return False
    if older.value is None:
        return False
    if newer.value is None:
        return newer.ended is not None and _equal(older.value, newer.ended)
    return not _are_compatible(older.value, newer.value)


def _equal(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and _words(one) == _words(other) != []


def _are_compatible(one: str, other: str) -> bool:
    """Return True if one value equals or contains the other; also in doubt."""
    formats, others = _day_formats(one), _day_formats(other)
    if formats and others and not formats & others:
        return True
    few, many = sorted((_words(one), _words(other)), key=len)
    if any(word[0].isdigit() for word in few) or not few:
        return not Counter(few) - Counter(many)
    return any(few == many[at : at + len(few)] for at in range(len(many)))


def _day_formats(value: str) -> set[int]:
    return {way for way, pattern in enumerate(_DAYS) if pattern.search(value.casefold())}


def _words(value: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", value).casefold()
    return [word for word in _WORD.findall(folded) if word not in _IDLE]
