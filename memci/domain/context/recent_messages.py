"""The recent interactions of a context, whole or as a digest (R13, R15).

A provider's prompt cache reuses what a list begins with, so the first of them changes rarely: from
where the last list began more and more go in, until it is time to cut many of them off at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

from memci.domain.context.materials import Materials
from memci.domain.context.message_list import Item, Part, Section, part_tokens
from memci.domain.context.rendering import Days, heads_of, joined
from memci.domain.context.token_budget import Count, Utterance, message_tokens
from memci.domain.search.candidate import Candidate, message_candidate
from memci.domain.session.interaction import Interaction, Unit
from memci.message import JsonObject, Message, Role

# Characters. A result's beginning says what it is, its end what came of it.
_LONGEST_OUTCOME = 240
_OUTCOME_END = 80
_LONGEST_ARGUMENT = 160
CUT = " … "  # stands for what is cut out
# What words and figures are made of, but for Chinese; what is much longer is neither.
_RUN = r"(?:[^\W\u2e80-\u9fff\uff00-\uff0f\uff1a-\uffef]|[.,'’-])"
_DIGIT = re.compile(r"\d")
_RUN_BEGINS = re.compile(_RUN)
_RUN_AT_END = re.compile(rf"(?<!{_RUN}){_RUN}{{1,24}}\Z")
_RUN_AT_BEGIN = re.compile(rf"\A{_RUN}{{1,24}}(?!{_RUN})")


def digest_of_interaction(interaction: Interaction) -> Interaction:
    """Return it with each tool call and its result in brief; all other messages as they are.

    The tools, their arguments' names and which result answers which call stay, as chat APIs want
    them; raw texts are in the store. What is short stays as it is, byte for byte.
    """
    if not any(unit[0].tool_calls for unit in interaction.units):
        return interaction
    return Interaction(tuple(map(_brief, interaction.units)))


def digest_of_message(message: Message) -> Message:
    """Return one message as ``in_brief`` leaves it, with or without its calls or results."""
    if message.role is Role.TOOL:
        return _result(message)
    if not message.tool_calls:
        return message
    return replace(message, tool_calls=tuple(map(_call, message.tool_calls)))


def one_line(text: str, longest: int = _LONGEST_OUTCOME, end: int = _OUTCOME_END) -> str:
    """Return a text on one line, of at most ``longest`` characters: its beginning and its end."""
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    return f"{head(line, longest - end - len(CUT))}{CUT}{tail(line, end)}"


def head(text: str, most: int) -> str:
    """Return the beginning of a text, at most so many characters: half a figure is another one."""
    cut = text[:most]
    if _RUN_BEGINS.match(text, most):
        cut = _unless_figure(cut, _RUN_AT_END.sub("", cut))
    return cut.rstrip()


def tail(text: str, most: int) -> str:
    """Return the end of a text, as ``head`` does."""
    start = max(0, len(text) - most)
    cut = text[start:]
    if start and _RUN_BEGINS.match(text, start - 1):
        cut = _unless_figure(cut, _RUN_AT_BEGIN.sub("", cut))
    return cut.lstrip()


def _unless_figure(cut: str, without: str) -> str:
    """Return what was cut without its half word, or the half word where that is all."""
    return without if without or _DIGIT.search(cut) else cut


def _brief(unit: Unit) -> Unit:
    return tuple(map(digest_of_message, unit)) if unit[0].tool_calls else unit


def _result(message: Message) -> Message:
    content = message.content or ""
    if len(content) <= _LONGEST_OUTCOME and "\n" not in content:
        return message
    return replace(message, content=one_line(content))


def _call(call: JsonObject) -> JsonObject:
    function = call.get("function") or {}
    arguments = function.get("arguments")
    if not isinstance(arguments, str) or len(arguments) <= _LONGEST_ARGUMENT:
        return call
    return {**call, "function": {**function, "arguments": _shorter(arguments)}}


def _shorter(arguments: str) -> str:
    """Return arguments with their long values cut; still the JSON that chat APIs check."""
    try:
        read = json.loads(arguments)
    except ValueError:
        read = arguments
    return json.dumps(_cut(read), ensure_ascii=False, separators=(",", ":"))


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(inner) for name, inner in value.items()}
    if isinstance(value, str):
        return one_line(value, _LONGEST_ARGUMENT, 0) if len(value) > _LONGEST_ARGUMENT else value
    if isinstance(value, list):
        written = json.dumps(value, ensure_ascii=False)
        return value if len(written) <= _LONGEST_ARGUMENT else [one_line(written, 80, 0)]
    return value


# When those since ``began`` no longer fit, so much of the room is filled anew: there is time to
# grow again before the next cut.
_REFILL = 0.5
# What goes on from there is to fill one of so many parts of the room, at least.
_LEAST_PART = 3
# Interactions that may go in grow to less than so many times their number before they are cut.
GROWTH = 3

_Counted: TypeAlias = tuple[Interaction, int]  # with its tokens


@dataclass(frozen=True, slots=True)
class Recent:
    """What goes in, in the form in which it does, and what does not; oldest first.

    ``older`` are more than may go in; of what may, ``no_room`` is left out. ``shortened`` are the
    seqs of messages of which a part stands there, ``lacks_tools`` tells whether calls and results
    had no room. ``note`` says when it was said, where the reader cannot know it and there is room
    for that.
    """

    taken: tuple[Interaction, ...]
    older: tuple[Interaction, ...]
    no_room: tuple[Interaction, ...]
    tokens: int
    note: tuple[Part, ...]
    shortened: frozenset[int] = frozenset()
    lacks_tools: bool = False

    @property
    def left_out(self) -> tuple[Interaction, ...]:
        """All that does not go in."""
        return *self.older, *self.no_room

    @property
    def messages(self) -> list[Candidate]:
        """The messages that are taken."""
        return [message_candidate(each) for one in self.taken for each in one.messages]

    @property
    def whole(self) -> list[Candidate]:
        """The messages of which all stands there."""
        return [each for each in self.messages if each.key not in self.shortened]

    @property
    def begins(self) -> int | None:
        """The seq of the first message that is taken."""
        return self.taken[0].messages[0].seq if self.taken else None

    def parts(self, count: Count) -> tuple[Part, ...]:
        """Return what is taken as messages of the list, in order, behind the note of its days."""
        said = [(each.seq, Utterance.of(each)) for one in self.taken for each in one.messages]
        parts = (Part(each, (self._item(seq, each, count),)) for seq, each in said)
        return *self.note, *parts

    def _item(self, seq: int, said: Utterance, count: Count) -> Item:
        shortened = seq in self.shortened
        return Item(Section.RECENT, said.text, said.tokens(count), (seq,), shortened=shortened)


class Latest:
    """The interactions of a window of which the newest go in, without a gap."""

    def __init__(self, materials: Materials, days: Days, count: Count) -> None:
        """Take the window without the query, and how many of it may go in."""
        window = materials.window
        self._count = count
        self._days = days
        self._began = materials.began
        self._preserve = materials.preserve
        self._wanted = _settled(window, materials)
        self._older = tuple(window[: len(window) - len(self._wanted)])

    def within(self, room: int, share: int) -> Recent:
        """Return what of it fits.

        The current interaction, which still waits for its answer, goes first: it may have all the
        ``room``, and goes without its day where that does not fit; those that are over have their
        ``share``.
        """
        current = self._current(room)
        if self._waits and not current:
            return self._recent([])
        free = room - self._costs(current)
        if free < 0:
            return self._recent(current, dated=False)
        earlier = self._brief[: len(self._brief) - len(current)]
        return self._recent([*self._fitting(earlier, current, min(share, free)), *current])

    @property
    def _waits(self) -> bool:
        return bool(self._wanted) and not self._wanted[-1].answered

    @cached_property
    def _brief(self) -> list[_Counted]:
        forms = map(digest_of_interaction, self._wanted)
        return [(each, self._tokens(each)) for each in forms]

    def _current(self, room: int) -> list[Interaction]:
        if not self._waits:
            return []
        last = self._wanted[-1]
        forms = (last, digest_of_interaction(last), last.without_tools())
        return next(([each] for each in forms if each.units and self._tokens(each) <= room), [])

    def _tokens(self, interaction: Interaction) -> int:
        return message_tokens(interaction.messages, self._count)

    def _costs(self, forms: Sequence[Interaction]) -> int:
        """Tokens of interactions and of the note of their days."""
        return sum(map(self._tokens, forms)) + self._days.more(forms, ())

    def _fitting(
        self, earlier: Sequence[_Counted], current: Sequence[Interaction], room: int
    ) -> list[Interaction]:
        """Return the newest that fit, all of those since ``began`` if they do."""
        taken = self._chosen(earlier, current, room)
        # Tokens of the note are not quite the sum of its lines'.
        while taken and self._more(taken, current) > room:
            taken = taken[1:]
        return _forms(taken)

    def _chosen(
        self, earlier: Sequence[_Counted], current: Sequence[Interaction], room: int
    ) -> Sequence[_Counted]:
        since = _since(earlier, self._began)
        tokens = self._more(since, current)
        if tokens <= room <= _LEAST_PART * tokens:
            return since
        most = self._newest(earlier, current, room)
        if len(most) == len(earlier):
            return most
        kept = min(len(most), self._preserve)
        refilled = self._newest(earlier, current, int(_REFILL * room))
        return max(most[len(most) - kept :], refilled, key=len)

    def _newest(
        self, earlier: Sequence[_Counted], current: Sequence[Interaction], room: int
    ) -> list[_Counted]:
        """Return about as many as fit: of the note its lines are counted."""
        taken: list[_Counted] = []
        heads = heads_of(current)
        free = room + self._days.about(heads)
        for each in reversed(earlier):
            for form, tokens in self._smaller(each):
                told = joined(heads_of([form]), heads)
                if tokens + self._days.about(told) <= free:
                    taken.insert(0, (form, tokens))
                    heads, free = told, free - tokens
                    break
            else:
                break
        return taken

    def _smaller(self, counted: _Counted) -> Iterator[_Counted]:
        """Yield it as it is, then what is left of it without tools."""
        yield counted
        bare = counted[0].without_tools()
        if bare.units and bare != counted[0]:
            yield bare, self._tokens(bare)

    def _more(self, earlier: Sequence[_Counted], current: Sequence[Interaction]) -> int:
        """Tokens of earlier interactions, and by how many the note is longer for them."""
        return sum(tokens for _, tokens in earlier) + self._days.more(_forms(earlier), current)

    def _recent(self, forms: Sequence[Interaction], *, dated: bool = True) -> Recent:
        gone = len(self._wanted) - len(forms)
        note = self._days.note(forms) if dated else ()
        whole = {each.seq: each for one in self._wanted[gone:] for each in one.messages}
        shown = {each.seq: each for one in forms for each in one.messages}
        return Recent(
            taken=tuple(forms),
            older=self._older,
            no_room=tuple(self._wanted[:gone]),
            tokens=sum(map(self._tokens, forms)) + part_tokens(note),
            note=note,
            shortened=frozenset(seq for seq, each in shown.items() if each != whole[seq]),
            lacks_tools=len(shown) < len(whole),
        )


def _forms(counted: Sequence[_Counted]) -> list[Interaction]:
    return [form for form, _ in counted]


def _settled(window: Sequence[Interaction], materials: Materials) -> Sequence[Interaction]:
    """Return those that may go in: since where the last list began, or else the newest."""
    number = min(materials.recent, len(window))
    if materials.grows:
        starts = [each.messages[0].seq for each in window]
        since = len(window) - starts.index(materials.began) if materials.began in starts else 0
        if number <= since < GROWTH * materials.recent:
            number = since
    return window[len(window) - number :]


def _since(earlier: Sequence[_Counted], began: int | None) -> Sequence[_Counted]:
    starts = [each.messages[0].seq for each, _ in earlier]
    return earlier[starts.index(began) :] if began in starts else ()
