"""When recent interactions were said, where a reader cannot know it (R13).

One note in front of them all: many chat APIs refuse system text between turns. It has a line for
each day and session, by the words that its turns begin with. A line depends on the turns alone, so
that the next list says the same: of the day on which a question is asked as well, for then the
question is one of the turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from memci.domain.context.budget import MESSAGE_OVERHEAD, Count
from memci.domain.context.excerpt import Group, day_words
from memci.domain.context.interaction import Interaction, Unit
from memci.domain.context.materials import Materials
from memci.domain.context.parts import Item, Part, Section, part_of, part_tokens
from memci.domain.language import Language
from memci.domain.message import Message, Role

_HEADER = {
    Language.ENGLISH: "When the turns below were said:\n",
    Language.CHINESE: "以下对话的时间：\n",
}
_LINE = {Language.ENGLISH: "- {}: {}", Language.CHINESE: "- {}：{}"}
_BARE = "- {}"
_ANOTHER_SESSION = {Language.ENGLISH: "{}, another session", Language.CHINESE: "{}，另一会话"}
_OPENING = 32  # characters


class Head(NamedTuple):
    """Turns of one day and session that follow each other, and what the first begins with."""

    group: Group
    opening: str


def heads_of(taken: Iterable[Interaction]) -> list[Head]:
    """Return what interactions are told by, in order."""
    heads: list[Head] = []
    for unit in (unit for each in taken for unit in each.units):
        group = _group(unit[0])
        if not heads or heads[-1].group != group:
            heads.append(Head(group, _opening(_begins(unit))))
    return heads


def joined(heads: Sequence[Head], following: Sequence[Head]) -> list[Head]:
    """Return what interactions are told by together with those behind them."""
    same = [each.group for each in heads[-1:]] == [each.group for each in following[:1]]
    return [*heads, *(following[1:] if same else following)]


class Days:
    """Says of messages that follow each other what a reader cannot know of their times."""

    def __init__(self, materials: Materials, asked: Message | None, count: Count) -> None:
        """Take which day it is, and the query; ``asked``: the message that it is, if stored."""
        self._today = materials.today
        self._asked = asked
        self._query = materials.query
        self._language = materials.language
        self._count = count
        self._tokens: dict[str, int] = {}

    def note(self, taken: Iterable[Interaction]) -> tuple[Part, ...]:
        """Return what stands in front of interactions, if there is anything to say."""
        heads = heads_of(taken)
        text = self._text(heads)
        if not text:
            return ()
        days = [each.group.day for each in self._with_question(heads)]
        origin = {"from_day": min(days).isoformat(), "through_day": max(days).isoformat()}
        item = Item(Section.RECENT, text, 0, origin=origin)
        return (part_of(Role.SYSTEM, [item], self._count),)

    def more(self, forms: Sequence[Interaction], following: Sequence[Interaction]) -> int:
        """Tokens by which the note is longer when interactions stand before others."""
        return part_tokens(self.note([*forms, *following])) - part_tokens(self.note(following))

    def about(self, heads: Sequence[Head]) -> int:
        """Tokens of a note, as the sum of its lines: quickly, and near enough to choose by."""
        lines = self._text(heads).splitlines(keepends=True)
        return sum(map(self._of, lines)) + (MESSAGE_OVERHEAD if lines else 0)

    def _text(self, heads: Sequence[Head]) -> str:
        told = self._with_question(heads)
        if not told:
            return ""
        first = told[0].group
        known = first._replace(day=self._today or first.day)
        if all(each.group == known for each in told):
            return ""
        lines = (
            self._line(each, is_another=each.group.session_id != before.group.session_id)
            for before, each in pairwise([told[0], *told])
        )
        return _HEADER[self._language] + "".join(f"{each}\n" for each in lines)

    def _with_question(self, heads: Sequence[Head]) -> list[Head]:
        if self._query is None or not heads:
            return [*heads]
        last = heads[-1].group
        group = _group(self._asked) if self._asked else last._replace(day=self._today or last.day)
        return joined(heads, [Head(group, _opening(self._query))])

    def _line(self, head: Head, *, is_another: bool) -> str:
        day = day_words(head.group.day, self._language)
        if is_another:
            day = _ANOTHER_SESSION[self._language].format(day)
        if not head.opening:
            return _BARE.format(day)
        return _LINE[self._language].format(day, head.opening)

    def _of(self, line: str) -> int:
        if line not in self._tokens:
            self._tokens[line] = self._count(line)
        return self._tokens[line]


def _group(message: Message) -> Group:
    return Group(message.said_at.date(), message.session_id)


def _begins(unit: Unit) -> str:
    """Return what a turn says, or else which tools it calls."""
    first = unit[0]
    if first.content and first.content.strip():
        return first.content
    named = (call.get("function") or {} for call in first.tool_calls)
    return ", ".join(str(each.get("name", "")) for each in named)


def _opening(text: str) -> str:
    # So many words are longer than an opening: of a long text the rest is not looked at.
    line = " ".join(text.split(maxsplit=_OPENING))
    return line if len(line) <= _OPENING else f"{line[:_OPENING].rstrip()}…"
