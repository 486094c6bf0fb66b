"""What a match of a pattern claims; None: after all nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from re import Match

from memci.domain.memory.claim import Claim
from memci.smallmodel.offline.claims.english_attributes import ATTRIBUTES, SHORT
from memci.smallmodel.offline.claims.english_grammar import NOBODY, TAIL
from memci.smallmodel.offline.claims.english_names import is_no_place
from memci.smallmodel.offline.claims.places import is_known, level

Read = Callable[[Match[str], str, str], Claim | None]

_LONGEST_PURPOSE = 4  # words
# Where people also start who do not work there.
_TAUGHT = re.compile(
    r"\b(?:Uni(?:versity)?|Colleges?|School|Academy|Institute|Kindergarten|Nursery|Poly\w*|MIT|UCLA|UCL|"
    r"LSE|Stanford|Harvard|Yale|Princeton|Cornell|Oxford|Cambridge|Berkeley|Eton|Gym|PureGym|Fitness|"
    r"CrossFit|Yoga|Pilates|Club|Class|Course|Dance|Ballet|Swim\w*|Level|Stage|Step|Chapter|Page|Day)\b"
)


def subject_of(found: Match[str], speaker: str) -> str | None:
    """Return the key of whom a clause is about; None when it names nobody."""
    who = " ".join(found["who"].split())
    folded = re.sub(r"['’]s$", "", who).casefold()
    if folded in {"i", "my"}:
        return speaker
    if folded in {"our", "the"}:
        return "*"
    if folded.startswith("my "):
        return f"{speaker}/{folded[3:]}"
    return None if folded.split()[0] in NOBODY else folded


def value_of(found: Match[str]) -> str:
    """Return the value without what goes on behind it."""
    return TAIL.sub("", " " + found["value"].strip()).strip(" ,.'’!")


def place(attribute: str) -> Read:
    """Read where somebody lives, works or studies; group ``ends``: no longer."""

    def read(found: Match[str], speaker: str, clause: str) -> Claim | None:
        subject, value = subject_of(found, speaker), found["value"].strip(" .'’")
        if subject is None or (attribute == "lives in" and is_no_place(value)):
            return None
        key = f"{attribute}/{level(value)}" if attribute == "lives in" else attribute
        ends = bool(found.groupdict().get("ends"))
        return Claim(subject, key, None if ends else value, value if ends else None, clause)

    return read


def shared(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Return where "we" live: whoever says so lives there."""
    value = found["value"].strip(" .'’")
    if is_no_place(value):
        return None
    return Claim(speaker, f"lives in/{level(value)}", value, None, clause)


def shared_move(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Return where "we" moved; teams move as well, to tools: only towns and homes are sure."""
    home = found["home"] or is_known(found["value"].strip(" .'’"))
    return shared(found, speaker, clause) if home else None


def began(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Return where somebody has started, unless it may be to learn or to train."""
    return None if _TAUGHT.search(found["value"]) else place("works at")(found, speaker, clause)


def owned(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read what an attribute of somebody or something is: "my rent is …"."""
    subject, noun, value = subject_of(found, speaker), found["noun"].casefold(), value_of(found)
    name, fits = next(
        rule for words, rule in ATTRIBUTES.items() if re.fullmatch(words, noun, re.IGNORECASE)
    )
    denied = re.match(r"(?:no longer|not)\b", value, re.IGNORECASE)
    if subject is None or denied or not fits(value):
        return None
    thing = " ".join((found["thing"] or "").casefold().split())
    if name == "price" and subject in {speaker, "*"}:
        name = noun
    if name == "favourite":
        name = noun.replace("favorite", "favourite")
        if subject == "*":
            return None
    if subject == "*" and name in {"age", "name", "phone", "email", "birthday"} and not thing:
        return None
    return Claim(subject, " of ".join(filter(None, (name, thing))), value, None, clause)


def state(attribute: str) -> Read:
    """Read what somebody is: 34 years old, married, vegan."""

    def read(found: Match[str], speaker: str, clause: str) -> Claim | None:
        subject, value = subject_of(found, speaker), found["value"].casefold()
        if subject is None:
            return None
        if found.groupdict().get("ends"):
            return Claim(subject, attribute, None, value, clause)
        return Claim(subject, attribute, value, None, clause)

    return read


def job(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read as what somebody works."""
    subject, value = subject_of(found, speaker), value_of(found)
    if subject is None or not SHORT.match(value):
        return None
    return Claim(subject, "job", value, None, clause)


def use(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read what "we" use for something."""
    del speaker
    purpose = " ".join(re.sub(r"\b(?:the|our|my|a)\b", "", found["thing"].casefold()).split())
    purpose = TAIL.sub("", f" {purpose}").strip()
    value = found["value"].strip()
    if not purpose or not SHORT.match(value) or len(purpose.split()) > _LONGEST_PURPOSE:
        return None
    return Claim("*", f"use for {purpose}", value, None, clause)


def version(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read to which version something was brought."""
    del speaker
    return Claim("*", f"version of {found['thing'].casefold()}", found["value"], None, clause)


def correction(found: Match[str], speaker: str, clause: str) -> Claim | None:
    """Read "it's Y, not Z"."""
    del speaker
    return Claim("", "", found["value"].strip(), found["wrong"].strip(" .!"), clause)
