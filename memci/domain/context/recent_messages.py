"""The recent interactions of a context, whole or as a digest (R13, R15).

A provider's prompt cache reuses the beginning of a list, so the first interaction changes rarely.
Interactions are added after the last list's first one until many of them are dropped at once.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

from memci.domain.context.materials import Materials
from memci.domain.context.message_list import Item, Part, Section, part_tokens
from memci.domain.context.rendering import Days, heads_of, join_heads
from memci.domain.search.candidate import Candidate, message_candidate
from memci.domain.session.interaction import Interaction
from memci.domain.token_counts import Count, Utterance, message_tokens
from memci.message import JsonObject, Message, Role

# Characters. The beginning and the end of a result matter most.
_LONGEST_OUTCOME = 240
_OUTCOME_END = 80
_LONGEST_ARGUMENT = 160
_CUT = " … "  # replaces the omitted text
# The characters of words and numbers, except Chinese; longer runs are neither.
_RUN = r"(?:[^\W\u2e80-\u9fff\uff00-\uff0f\uff1a-\uffef]|[.,'’-])"
_DIGIT = re.compile(r"\d")
_RUN_BEGINS = re.compile(_RUN)
_RUN_AT_END = re.compile(rf"(?<!{_RUN}){_RUN}{{1,24}}\Z")
_RUN_AT_BEGIN = re.compile(rf"\A{_RUN}{{1,24}}(?!{_RUN})")


def digest_of_interaction(interaction: Interaction) -> Interaction:
    """Return an interaction with shortened tool calls and results; other messages are unchanged.

    Tool names, argument names and call ids stay, as chat APIs require. Short texts stay byte for
    byte.
    """
    return Interaction(
        tuple(
            tuple(map(digest_of_message, unit)) if unit[0].tool_calls else unit
            for unit in interaction.units
        )
    )


def digest_of_message(message: Message) -> Message:
    """Return one message as ``digest_of_interaction`` does."""
    if message.role is Role.TOOL:
        content = message.content or ""
        if len(content) <= _LONGEST_OUTCOME and "\n" not in content:
            return message
        return replace(message, content=one_line(content))
    if not message.tool_calls:
        return message
    return replace(message, tool_calls=tuple(map(_digest_of_call, message.tool_calls)))


def one_line(text: str, longest: int = _LONGEST_OUTCOME, end: int = _OUTCOME_END) -> str:
    """Return the beginning and the end of a text on one line of at most ``longest`` characters."""
    return without_middle(" ".join(text.split()), longest, end)


def without_middle(text: str, longest: int, end: int) -> str:
    """Return a text of at most ``longest`` characters, ``end`` of them from its end."""
    if len(text) <= longest:
        return text
    return f"{head(text, longest - end - len(_CUT))}{_CUT}{tail(text, end)}"


def head(text: str, most: int) -> str:
    """Return the first ``most`` characters of a text at most, without a cut number."""
    cut = text[:most]
    if _RUN_BEGINS.match(text, most):
        cut = _without_part(cut, _RUN_AT_END.sub("", cut))
    return cut.rstrip()


def tail(text: str, most: int) -> str:
    """Return the end of a text, as ``head`` returns the beginning."""
    start = max(0, len(text) - most)
    cut = text[start:]
    if start and _RUN_BEGINS.match(text, start - 1):
        cut = _without_part(cut, _RUN_AT_BEGIN.sub("", cut))
    return cut.lstrip()


def _without_part(cut: str, without: str) -> str:
    """Return ``without``, or the whole text if nothing else is left and it has no digit."""
    return without if without or _DIGIT.search(cut) else cut


def _digest_of_call(call: JsonObject) -> JsonObject:
    function = call.get("function") or {}
    arguments = function.get("arguments")
    if not isinstance(arguments, str) or len(arguments) <= _LONGEST_ARGUMENT:
        return call
    try:
        read = json.loads(arguments)
    except ValueError:
        read = arguments
    # It stays JSON, which chat APIs check.
    short = json.dumps(_cut(read), ensure_ascii=False, separators=(",", ":"))
    return {**call, "function": {**function, "arguments": short}}


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(inner) for name, inner in value.items()}
    if isinstance(value, str):
        return one_line(value, _LONGEST_ARGUMENT, 0) if len(value) > _LONGEST_ARGUMENT else value
    if isinstance(value, list):
        written = json.dumps(value, ensure_ascii=False)
        return value if len(written) <= _LONGEST_ARGUMENT else [one_line(written, 80, 0)]
    return value


# The share of the room that is filled when the interactions since ``began`` no longer fit. The
# rest lets the list grow before the next cut.
_REFILL = 0.5
# A continued list fills at least this fraction (1/n) of the room.
_LEAST_PART = 3
# Interactions are cut before they reach this multiple of their number.
GROWTH = 3

_Counted: TypeAlias = tuple[Interaction, int]  # with its tokens


@dataclass(frozen=True, slots=True)
class Recent:
    """The recent interactions of a list, in their form, and the excluded ones; oldest first."""

    taken: tuple[Interaction, ...]
    older: tuple[Interaction, ...]  # beyond the largest number
    no_room: tuple[Interaction, ...]  # they did not fit
    tokens: int
    note: tuple[Part, ...]  # on the days, if the reader cannot know them and there is room
    shortened: frozenset[int] = frozenset()  # seqs of messages of which a part is shown
    lacks_tools: bool = False  # calls and results had no room

    @property
    def left_out(self) -> tuple[Interaction, ...]:
        """All excluded interactions."""
        return *self.older, *self.no_room

    @property
    def messages(self) -> list[Candidate]:
        """The included messages."""
        return [message_candidate(each) for one in self.taken for each in one.messages]

    @property
    def whole(self) -> list[Candidate]:
        """The messages that are shown in full."""
        return [each for each in self.messages if each.key not in self.shortened]

    @property
    def begins(self) -> int | None:
        """The seq of the first included message."""
        return self.taken[0].messages[0].seq if self.taken else None

    def parts(self, count: Count) -> tuple[Part, ...]:
        """Return the interactions as messages of the list, after the note of their days."""
        parts = list(self.note)
        for each in (message for one in self.taken for message in one.messages):
            said, shortened = Utterance.of(each), each.seq in self.shortened
            tokens = said.tokens(count)
            item = Item(Section.RECENT, said.text, tokens, (each.seq,), shortened=shortened)
            parts.append(Part(said, (item,)))
        return tuple(parts)


class Latest:
    """The newest interactions of a window, without a gap."""

    def __init__(self, materials: Materials, days: Days, count: Count) -> None:
        """Take the window without the query, and the largest number of interactions."""
        window = materials.window
        self._count = count
        self._days = days
        self._began = materials.began
        self._preserve = materials.preserve
        self._newest = _newest(window, materials)
        self._older = tuple(window[: len(window) - len(self._newest)])

    def within(self, room: int, share: int) -> Recent:
        """Return the interactions that fit.

        The current interaction, which still waits for its answer, may take all the ``room``, and
        loses its day if that does not fit. Earlier ones have their ``share``.
        """
        waits = bool(self._newest) and not self._newest[-1].answered
        current = self._current(room) if waits else []
        if waits and not current:
            return self._recent([])
        free = room - sum(map(self._tokens, current)) - self._days.more(current, ())
        if free < 0:
            return self._recent(current, dated=False)
        earlier = self._digests[: len(self._digests) - len(current)]
        return self._recent([*self._fitting(earlier, current, min(share, free)), *current])

    @cached_property
    def _digests(self) -> list[_Counted]:
        digests = map(digest_of_interaction, self._newest)
        return [(each, self._tokens(each)) for each in digests]

    def _current(self, room: int) -> list[Interaction]:
        last = self._newest[-1]
        forms = (last, digest_of_interaction(last), last.without_tools())
        return next(([each] for each in forms if each.units and self._tokens(each) <= room), [])

    def _tokens(self, interaction: Interaction) -> int:
        return message_tokens(interaction.messages, self._count)

    def _fitting(
        self, earlier: Sequence[_Counted], current: Sequence[Interaction], room: int
    ) -> list[Interaction]:
        """Return the newest interactions that fit; all since ``began`` if they do."""
        taken = self._select_earlier(earlier, current, room)
        # Tokens of the note are not quite the sum of its lines'.
        while taken and self._tokens_before(taken, current) > room:
            taken = taken[1:]
        return [form for form, _ in taken]

    def _select_earlier(
        self, earlier: Sequence[_Counted], current: Sequence[Interaction], room: int
    ) -> Sequence[_Counted]:
        starts = [each.messages[0].seq for each, _ in earlier]
        since = earlier[starts.index(self._began) :] if self._began in starts else ()
        tokens = self._tokens_before(since, current)
        if tokens <= room <= _LEAST_PART * tokens:
            return since
        most = self._newest_within(earlier, current, room)
        if len(most) == len(earlier):
            return most
        kept = min(len(most), self._preserve)
        refilled = self._newest_within(earlier, current, int(_REFILL * room))
        return max(most[len(most) - kept :], refilled, key=len)

    def _newest_within(
        self, earlier: Sequence[_Counted], current: Sequence[Interaction], room: int
    ) -> list[_Counted]:
        """Return about as many interactions as fit; the note is counted by its lines."""
        taken: list[_Counted] = []
        heads = heads_of(current)
        free = room + self._days.about(heads)
        for each in reversed(earlier):
            for form, tokens in self._forms(each):
                joined = join_heads(heads_of([form]), heads)
                if tokens + self._days.about(joined) <= free:
                    taken.insert(0, (form, tokens))
                    heads, free = joined, free - tokens
                    break
            else:
                break
        return taken

    def _forms(self, counted: _Counted) -> Iterator[_Counted]:
        """Yield an interaction whole, then without tools."""
        yield counted
        bare = counted[0].without_tools()
        if bare.units and bare != counted[0]:
            yield bare, self._tokens(bare)

    def _tokens_before(self, earlier: Sequence[_Counted], current: Sequence[Interaction]) -> int:
        """Return the tokens of earlier interactions and of their lines in the note."""
        forms = [form for form, _ in earlier]
        return sum(tokens for _, tokens in earlier) + self._days.more(forms, current)

    def _recent(self, forms: Sequence[Interaction], *, dated: bool = True) -> Recent:
        dropped = len(self._newest) - len(forms)
        note = self._days.note(forms) if dated else ()
        whole = {each.seq: each for one in self._newest[dropped:] for each in one.messages}
        shown = {each.seq: each for one in forms for each in one.messages}
        return Recent(
            taken=tuple(forms),
            older=self._older,
            no_room=tuple(self._newest[:dropped]),
            tokens=sum(map(self._tokens, forms)) + part_tokens(note),
            note=note,
            shortened=frozenset(seq for seq, each in shown.items() if each != whole[seq]),
            lacks_tools=len(shown) < len(whole),
        )


def _newest(window: Sequence[Interaction], materials: Materials) -> Sequence[Interaction]:
    """Return the interactions since the last list's first one, or else the newest."""
    number = min(materials.recent, len(window))
    if materials.grows:
        starts = [each.messages[0].seq for each in window]
        since = len(window) - starts.index(materials.began) if materials.began in starts else 0
        if number <= since < GROWTH * materials.recent:
            number = since
    return window[len(window) - number :]
