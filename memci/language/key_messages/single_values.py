"""Finds key messages that set something of which there is one value at a time (R6, R7).

A sentence settles something only if it says nothing else. A sentence that holds in one case only,
that denies, or that has another clause replaces no other one: what goes with it would be lost
from sight. In doubt both stay, the newer one below.
"""

import re
from typing import Any, NamedTuple

from memci.language.detection import Language
from memci.language.loading import TaskData

_DATA = TaskData("single_values")
_RULES = [
    (re.compile(_DATA.expand(row["pattern"], language), re.IGNORECASE), row)
    for language in Language
    for row in _DATA.rows("rules", language)
]
_MINE = frozenset(("my", "我的", "我"))


class SingleValue(NamedTuple):
    """What a sentence settles."""

    matter: str  # a key
    value: str  # a key
    anywhere: bool = False  # it is about the speaker, and not about what one session is about
    changed: bool = False  # the sentence says that it was otherwise before


def single_value_of(sentence: str) -> SingleValue | None:
    """Return what a sentence settles, if it says no more than that; None: nothing."""
    text = sentence.strip().replace("’", "'")
    for pattern, row in _RULES:
        if found := pattern.fullmatch(text):
            return _settled(found, row)
    return None


def _settled(found: re.Match[str], row: dict[str, Any]) -> SingleValue:
    parts = {name: (part or "").casefold() for name, part in found.groupdict().items()}
    value = parts["value"]
    if "matter" in row:
        return SingleValue(row["matter"], row.get("values", {}).get(value, value), anywhere=True)
    owner = "of the speaker" if parts.get("owner") in _MINE else "of all"
    matter = " ".join(f"{parts['noun']} {owner} {parts.get('thing', '')}".split())
    changed = any(parts.get(name) for name in ("changed", "new", "now"))
    return SingleValue(matter, "".join(value.split()), changed=changed)
