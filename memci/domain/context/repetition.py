"""What was said before in the same words (R14)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import TypeAlias

from memci.domain.context.candidate import Candidate, Source
from memci.domain.message import Role

_Saying: TypeAlias = tuple[date, Role | None, str | None, str]

_AROUND = " \t\n.,!?…。，！？"


class Sayings:
    """The question and the messages of a list, so that none is heard twice.

    Said again on another day, or by somebody else, it is something else that happened.
    """

    def __init__(self, asked: str | None, held: Iterable[Candidate]) -> None:
        """Begin with the question and the messages that are in the list already."""
        self._asked = plain(asked or "")
        self._heard = {_saying(each) for each in held}

    def repeated_by(self, candidate: Candidate) -> bool:
        """Tell whether it asks the question again, or says what its speaker said that day."""
        words = plain(candidate.text)
        if not words:
            return False
        again = candidate.source is Source.CHAT and _saying(candidate) in self._heard
        return again or words == self._asked

    def hear(self, candidate: Candidate) -> None:
        """Note that it is in the list."""
        if candidate.source is Source.CHAT:
            self._heard.add(_saying(candidate))


def _saying(message: Candidate) -> _Saying:
    return message.at.date(), message.role, message.name, plain(message.text)


def plain(text: str) -> str:
    """Return a text as it is compared: in small letters, without marks around it."""
    return text.casefold().strip(_AROUND)
