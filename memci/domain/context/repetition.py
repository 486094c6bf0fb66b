"""What was said before in the same words (R14)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from typing import TypeAlias

from memci.domain.context.candidate import Candidate, Source
from memci.domain.message import Role

# Who said something, and on which day.
_Saying: TypeAlias = tuple[date, Role | None, str | None]

_AROUND = " \t\n.,!?…。，！？"


class Sayings:
    """The question and the messages of a list, so that none is heard twice.

    Said again on another day, or by somebody else, it is something else that happened.
    """

    def __init__(self, asked: str | None, held: Iterable[Candidate]) -> None:
        """Begin with the question and the messages that are in the list already."""
        self._asked = plain(asked or "")
        self._heard: defaultdict[str, set[_Saying]] = defaultdict(set)
        for each in held:
            self._note(each)

    def repeated_by(self, candidate: Candidate) -> bool:
        """Tell whether it asks the question again, or says what its speaker said that day."""
        words = plain(candidate.text)
        if not words:
            return False
        if words == self._asked:
            return True
        heard = self._heard.get(words)
        return heard is not None and candidate.source is Source.CHAT and _saying(candidate) in heard

    def hear(self, candidate: Candidate) -> None:
        """Note that it is in the list."""
        if candidate.source is Source.CHAT:
            self._note(candidate)

    def _note(self, message: Candidate) -> None:
        self._heard[plain(message.text)].add(_saying(message))


def _saying(message: Candidate) -> _Saying:
    return message.at.date(), message.role, message.name


def plain(text: str) -> str:
    """Return a text as it is compared: in small letters, without marks around it."""
    return text.casefold().strip(_AROUND)
