"""What a match of a pattern claims; None: after all nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from re import Match

from memci.domain.memory.claim import Claim
from memci.smallmodel.offline.claims.chinese_attributes import ATTRIBUTES, SAME, short
from memci.smallmodel.offline.claims.chinese_grammar import TAIL
from memci.smallmodel.offline.claims.chinese_names import (
    PAST,
    is_no_firm,
    is_no_place,
    place_name,
    town_of,
)
from memci.smallmodel.offline.claims.places import level

Read = Callable[[Match[str], str, str], Claim | None]


def subject_of(found: Match[str], speaker: str) -> str:
    """Return the key of whom a clause is about; ``*``: all who talk."""
    who = found["who"]
    if who is None:
        return "*"
    if who.startswith("我们"):
        return "*"
    if who.startswith("我"):
        kin = who[1:].removeprefix("的")
        return f"{speaker}/{kin}" if kin else speaker
    return who.casefold()


_PASSING = re.compile(rf"{PAST}|今[天晚]|昨晚|这[几两]天|出差|旅[游行]|度假")
_OURS = re.compile("我们?(?:全家|一家人?|家)?")


def clean(value: str) -> str:
    """Return a value without the particles behind it."""
    return TAIL.sub("", value.strip()).strip()


def lives(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read where somebody lives, or no longer does (group ``ends``)."""
    if is_no_place(found["value"]):
        return None
    value = place_name(found["value"])
    return _settled(f"lives in/{level(town_of(value))}", value, found, speaker, clause)


def dwells(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read where somebody stays, unless that was so for a day or is over: 昨天我住在上海."""
    return None if _PASSING.search(clause) else lives(found, speaker, clause)


def works(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read for whom somebody works, or no longer does (group ``ends``)."""
    value = found.groupdict().get("called") or found["value"]
    if is_no_firm(value):
        return None
    return _settled("works at", value, found, speaker, clause)


def employed(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read for whom somebody works, unless that was so for a day or is over."""
    return None if _PASSING.search(clause) else works(found, speaker, clause)


def _settled(attribute: str, value: str, found: Match[str], speaker: str, clause: str) -> Claim:
    # Who speaks of a home or a job as "ours" shares it.
    subject = speaker if _OURS.fullmatch(found["who"]) else subject_of(found, speaker)
    if found.groupdict().get("ends"):
        return Claim(subject, attribute, None, value, clause)
    return Claim(subject, attribute, value, None, clause)


def owned(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read what an attribute of somebody or something is."""
    noun, value = found["noun"], clean(found["value"])
    name, fits = next(rule for words, rule in ATTRIBUTES.items() if re.fullmatch(words, noun))
    if not value or value.startswith("不") or not fits(value):
        return None
    subject = subject_of(found, speaker)
    thing = found["thing"] or ""
    if subject == "*" and name in {"age", "name", "phone", "email", "birthday"}:
        return None
    if name == "price":
        name = noun
    return Claim(subject, " of ".join(filter(None, (name, thing))), value, None, clause)


def state(attribute: str) -> Read:
    """Read what somebody is: 三十岁, 已婚, 吃素."""

    def read(found: Match[str], speaker: str, clause: str) -> Claim | None:
        value = SAME.get(found["value"], found["value"])
        subject = subject_of(found, speaker)
        if found.groupdict().get("ends"):
            return Claim(subject, attribute, None, value, clause)
        return Claim(subject, attribute, value, None, clause)

    return read


def favourite(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read what somebody likes best of a kind."""
    value = clean(found["value"])
    if not short(value):
        return None
    return Claim(subject_of(found, speaker), f"favourite {found['thing']}", value, None, clause)


def use(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read what is used for something."""
    del speaker
    value = clean(found["value"])
    return Claim("*", f"use for {found['thing']}", value, None, clause) if value else None


def correction(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read 是甲，不是乙."""
    del speaker
    value, wrong = clean(found["value"]), clean(found["wrong"])
    return Claim("", "", value, wrong, clause) if value and wrong else None
