"""Notes among recent interactions: on which day they were said, and where a session begins (R13).

What stands under no note a reader takes for today's. A note depends on the message below it and the
one above it alone, so that the next list says the same in the same place: that on which day a
question is asked as well, for then the question is one of what was said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import NamedTuple

from memci.domain.context.budget import Count, Utterance
from memci.domain.context.excerpt import Group, day_words
from memci.domain.context.interaction import Interaction, Unit
from memci.domain.context.materials import Materials
from memci.domain.context.parts import Item, Part, Section
from memci.domain.language import Language
from memci.domain.message import Message, Role

_ANOTHER_SESSION = {Language.ENGLISH: "{}, another session", Language.CHINESE: "{}，另一会话"}


class Note(NamedTuple):
    """What is said of the messages below, and the day that it names."""

    text: str
    day: date


class Days:
    """Says of messages that follow each other what a reader cannot know of their times."""

    def __init__(self, materials: Materials, asked: Message | None, count: Count) -> None:
        """Take which day it is, and the query; ``asked``: the message that it is, if stored."""
        self._today = materials.today
        self._asked = asked
        self._is_asked = materials.query is not None
        self._language = materials.language
        self._count = count
        self._tokens: dict[Note, int] = {}

    def listed(self, taken: Iterable[Interaction]) -> Iterator[tuple[Note | None, Unit]]:
        """Yield the units of interactions, each with the note above it, if any.

        Behind them, where the query needs one, that with no unit.
        """
        last = None
        for unit in (unit for each in taken for unit in each.units):
            group = _group(unit[0])
            yield self._between(last, group), unit
            last = group
        if last is not None and self._is_asked:
            asked = last._replace(day=self._today or last.day)
            yield self._between(last, _group(self._asked) if self._asked else asked), ()

    def part(self, note: Note) -> Part:
        """Return a note as a message of the list."""
        item = Item(Section.RECENT, note.text, self._of(note), origin={"day": note.day.isoformat()})
        return Part(Utterance(Role.SYSTEM, note.text), (item,))

    def tokens(self, taken: Iterable[Interaction]) -> int:
        """Tokens of the notes that interactions need."""
        return sum(self._of(note) for note, _ in self.listed(taken) if note is not None)

    def more(self, form: Interaction, following: Interaction | None) -> int:
        """Tokens of the notes that are needed when one stands before another, or behind none."""
        if following is None:
            return self.tokens([form])
        return self.tokens([form, following]) - self.tokens([following])

    def _between(self, last: Group | None, group: Group) -> Note | None:
        if last is None:
            last = group._replace(day=self._today or group.day)
        if last == group:
            return None
        day = day_words(group.day, self._language)
        if last.session_id != group.session_id:
            day = _ANOTHER_SESSION[self._language].format(day)
        return Note(day, group.day)

    def _of(self, note: Note) -> int:
        if note not in self._tokens:
            self._tokens[note] = Utterance(Role.SYSTEM, note.text).tokens(self._count)
        return self._tokens[note]


def _group(message: Message) -> Group:
    return Group(message.said_at.date(), message.session_id)
