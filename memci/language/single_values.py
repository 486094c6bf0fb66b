"""Find key messages that set something that has one value at a time (R6, R7).

A sentence sets a value only if it says nothing else. A sentence that is conditional, negative or
has another clause replaces no other one, because that part would be lost. In doubt both stay, the
newer one below.
"""

import re
from typing import Any, NamedTuple

from memci.language.detection import Language
from memci.language.loading import TaskData

_DATA = TaskData("single_values")
_RULES = [
    (_DATA.compile(row["pattern"], language), row)
    for language in Language
    for row in _DATA.rows("rules", language)
]
_MINE = frozenset(("my", "我的", "我"))


class SingleValue(NamedTuple):
    """The value that a sentence sets."""

    matter: str  # a key
    value: str  # a key
    anywhere: bool = False  # it is about the speaker, not about the topic of one session
    changed: bool = False  # the sentence mentions an earlier value


def single_value_of(sentence: str) -> SingleValue | None:
    """Return the value that a sentence sets, if it says nothing else, or None."""
    text = sentence.strip().replace("’", "'")
    for pattern, row in _RULES:
        if found := pattern.fullmatch(text):
            return _to_single_value(found, row)
    return None


def _to_single_value(found: re.Match[str], row: dict[str, Any]) -> SingleValue:
    parts = {name: (part or "").casefold() for name, part in found.groupdict().items()}
    value = parts["value"]
    if "matter" in row:
        return SingleValue(row["matter"], row.get("values", {}).get(value, value), anywhere=True)
    owner = "of the speaker" if parts.get("owner") in _MINE else "of all"
    matter = " ".join(f"{parts['noun']} {owner} {parts.get('thing', '')}".split())
    changed = any(parts.get(name) for name in ("changed", "new", "now"))
    return SingleValue(matter, "".join(value.split()), changed=changed)
