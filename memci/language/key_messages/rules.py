"""Rules of key messages (R7), read from ``data/key_messages.*.toml``."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memci.language.detection import Language
from memci.language.loading import TaskData


class PinKind(StrEnum):
    """The kind of a pin."""

    TASK = "task"
    CONSTRAINT = "constraint"
    PREFERENCE = "preference"
    DECISION = "decision"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class KeyMessageRule:
    """Matches a sentence with ``cue`` and all of ``required``, and without ``unless``."""

    kind: PinKind
    cue: re.Pattern[str]
    required: tuple[re.Pattern[str], ...]
    unless: re.Pattern[str] | None
    ignored_if_named: bool  # a statement of plans, which asks for nothing

    def fits(self, sentence: str) -> bool:
        """Return True if the rule matches a sentence."""
        if not self.cue.search(sentence) or (self.unless and self.unless.search(sentence)):
            return False
        return all(each.search(sentence) for each in self.required)


_DATA = TaskData("key_messages")


def _rule(row: dict[str, Any], language: Language) -> KeyMessageRule:
    return KeyMessageRule(
        kind=PinKind(row["kind"]),
        cue=_DATA.compile(row["cue"], language),
        required=tuple(_DATA.compile(each, language) for each in row.get("required", ())),
        unless=_DATA.compile(row["unless"], language) if "unless" in row else None,
        ignored_if_named=row.get("ignored_if_named", False),
    )


NO_KEY_MESSAGE = {language: _DATA.pattern("no_keys", language) for language in Language}
RULES = {
    language: tuple(_rule(row, language) for row in _DATA.rows("rules", language))
    for language in Language
}
