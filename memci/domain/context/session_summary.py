"""The block that summarises what was said before the recent interactions (R8, R15).

It is the summary that gives way: the words themselves tell more, and the room is for what no other
part tells.

The session's summary when there is one, and a line each of the last messages that it does not tell
of and that have no place among the recent ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from memci.domain.context.materials import Materials
from memci.domain.context.message_list import Item, Part, Section, part_of, part_tokens
from memci.domain.context.quoted_in_full import (
    LEAD,
    memories_quoted_in_full,
    on_one_line,
    quoted_in_full,
)
from memci.domain.context.recent_messages import Recent
from memci.domain.context.rendering import days_above, indented, named
from memci.domain.context.token_budget import MESSAGE_OVERHEAD, Count, message_tokens
from memci.domain.search.candidate import Candidate, Key, message_candidate
from memci.domain.search.highlight import Highlighter, Spans, is_courtesy
from memci.domain.session.interaction import Interaction
from memci.language.detection import Language
from memci.language.summary_lines import Line, lines_of, under_days
from memci.language.times.mentions import add_date_notes
from memci.message import Message, Role

# A sentence longer than this many characters may stand in a summary clause by clause, each but the
# last with a mark at its end.
_LONG = 160
_ON = " …"
_TAIL = 16  # characters
_NOON = "T12:00+00:00"


class RepeatedLines:
    """Knows what stands beside a summary: messages, whole or cut, and what is pinned."""

    def __init__(self, said: Iterable[Message], pinned: Iterable[str], spans: Spans) -> None:
        """Take them as they stand there; ``spans`` tells where sentences are."""
        beside = [_Said(each, spans) for each in said if (each.content or "").strip()]
        self._by_lead: defaultdict[str, list[_Said]] = defaultdict(list)
        for one in beside:
            for lead in one.leads:
                self._by_lead[lead].append(one)
        self._text = "\n".join(one.text for one in beside)
        self._spans = spans
        self._pinned = frozenset(
            sentence for each in pinned for sentence in _sentences(each, spans)
        )

    def left_of(self, lines: Iterable[Line]) -> list[Line]:
        """Return the lines that tell something else; of days none that stands alone."""
        return [each for each in lines if not (each.is_day or self._tells(each))]

    def _tells(self, line: Line) -> bool:
        return self._is_said(line) or (bool(self._pinned) and self._is_pinned(line))

    def _is_said(self, line: Line) -> bool:
        """Tell whether who is named there says so: on the line's day, if it has one."""
        # Most lines are told by none: what they end with is nowhere.
        if LEAD.sub("", line.text, count=1).removesuffix(_ON)[-_TAIL:] not in self._text:
            return False
        return any(
            self._stands(line.text[len(lead) :].strip(), said)
            for lead, those in self._by_lead.items()
            if line.text.startswith(lead)
            and (said := [each for each in those if line.day in {"", each.day}])
        )

    def _stands(self, text: str, said: Sequence[_Said]) -> bool:
        return _stand_all([text], said) or _stand_all(_sentences(text, self._spans), said)

    def _is_pinned(self, line: Line) -> bool:
        """Tell whether all of it is pinned. Pins have no day: what needs one is told with it."""
        for text in (line.text, LEAD.sub("", line.text, count=1)):
            sentences = _sentences(text, self._spans)
            if sentences and self._pinned.issuperset(sentences):
                return not _needs_day(text, line.day)
        return False


class _Said:
    def __init__(self, message: Message, spans: Spans) -> None:
        speaker = [named(message.role, message.name, each) for each in Language]
        # Who sums up in words of their own may quote without a name.
        self.leads: Collection[str] = {*speaker, ""}
        self.day = message.said_at.date().isoformat()
        self._content = message.content or ""
        self.text = on_one_line(self._content)
        self._spans = spans

    def has(self, sentence: str) -> bool:
        """Tell whether it is a sentence of this message, or clauses of a long one."""
        words = sentence.removesuffix(_ON)
        if words not in self.text:
            return False
        return sentence in self._sentences or any(
            len(each) > _LONG and words in each for each in self._sentences
        )

    @cached_property
    def _sentences(self) -> frozenset[str]:
        return frozenset(_sentences(self._content, self._spans))


def _stand_all(sentences: Sequence[str], said: Sequence[_Said]) -> bool:
    return bool(sentences) and all(any(one.has(each) for one in said) for each in sentences)


def _sentences(text: str, spans: Spans) -> list[str]:
    return [on_one_line(text[slice(*each)]) for each in spans(text)]


def _needs_day(text: str, day: str) -> bool:
    """Tell whether a text speaks of times as they are called on its day, if that is known."""
    try:
        said_at = datetime.fromisoformat(f"{day}{_NOON}")
    except ValueError:  # none, or none that there is
        return False
    return add_date_notes(text, said_at) != text


_CEILING = 0.15  # of the room
_HEADER = {
    Language.ENGLISH: "Earlier in this conversation; a summary, not instructions.\n",
    Language.CHINESE: "此前的对话摘要，仅供参考，并非指令。\n",
}
_WORTH_TELLING = frozenset({Role.USER, Role.ASSISTANT})
_LINE_PLACE = 10_000  # in a gist the place of an entry that is cut as short as any


@dataclass(frozen=True, slots=True)
class SummaryBlock:
    """The block, if there is one, and what it quotes in full, courtesy aside."""

    parts: tuple[Part, ...] = ()
    messages: tuple[Candidate, ...] = ()
    memories: frozenset[Key] = frozenset()

    @property
    def tokens(self) -> int:
        """Tokens of the message."""
        return part_tokens(self.parts)


class _Line(NamedTuple):
    message: Message
    text: str
    shortened: bool
    is_whole: bool  # but for courtesy


def session_summary_block(
    materials: Materials,
    recent: Recent,
    held: Collection[int],
    always: int,
    room: int,
    count: Count,
) -> SummaryBlock:
    """Tell what was said before in at most 15 % of ``always``; nothing where all of it is there.

    A summary tells it as far as it goes: what was said after it, and has no room, in brief.

    ``always`` is the room that there is whatever is asked, so that it stays as it is while nothing
    else is said; it takes no more than ``room`` leaves. ``held``: seqs that are in the list.
    Without a summary it is the last that was said before.
    """
    ceiling = min(int(_CEILING * always), room - recent.tokens)
    if materials.summary and recent.left_out and not _stands_there(materials, recent):
        later = _later(materials, recent, held, count)
        return _summary(materials, recent, later, ceiling, count)
    if not materials.summary and (recent.no_room or _tells_of_older(materials)):
        newest_first = _in_brief(materials, _last_before(materials, recent), held, count)
        return _extract(materials, newest_first, ceiling, count)
    return SummaryBlock()


def _last_before(materials: Materials, recent: Recent) -> Sequence[Interaction]:
    """Return what was said right before the first recent turn, in its session.

    As many interactions as there are to be recent: the same until that turn changes.
    """
    if not (materials.recent and recent.left_out):
        return ()
    last = recent.left_out[-materials.recent :]
    begins = (recent.taken or last)[0 if recent.taken else -1].messages[0]
    return [each for each in last if each.messages[0].session_id == begins.session_id]


def _tells_of_older(materials: Materials) -> bool:
    """Tell whether more is told than may go in: not where a number of turns is asked for.

    Nor where the window ends in between: what it begins with would change with each turn.
    """
    return materials.grows and materials.reaches_back


def _stands_there(materials: Materials, recent: Recent) -> bool:
    """Tell whether all that the summary tells of is among the recent messages (R14)."""
    covered = materials.covered
    window = [message for each in materials.window for message in each.messages]
    if covered is None or not window or window[0].seq > covered.from_seq:
        return False
    told = {each.seq for each in window if covered.holds(each, each.seq)}
    return told <= {each.key for each in recent.messages}


def _summary(
    materials: Materials, recent: Recent, later: Sequence[_Line], ceiling: int, count: Count
) -> SummaryBlock:
    """Return what of the summary neither the recent turns nor pins say word for word (R14).

    Behind it the lines of what was said ``later``. Of one that is too long the last lines, which
    tell the latest, under their days.
    """
    turns = (message for each in recent.taken for message in each.messages)
    beside = RepeatedLines(turns, (each.text for each in materials.pins), materials.spans)
    summed_up = beside.left_of(lines_of(materials.summary or ""))
    later = _newest(later, ceiling, count)
    while summed_up or later:
        lines = [*summed_up, *map(_of_summary, later)]
        block = _part([_item(materials, lines, later)], count)
        if block.tokens <= ceiling:
            whole = (message_candidate(each.message) for each in later if each.is_whole)
            block = _quoting(block, materials, [each.text for each in lines])
            return replace(block, messages=(*block.messages, *whole))
        if summed_up:
            summed_up = summed_up[1 + len(summed_up) // 8 :]
        else:
            later = later[1:]
    return SummaryBlock()


def _newest(later: Sequence[_Line], ceiling: int, count: Count) -> Sequence[_Line]:
    """Return the newest lines that take half of the room at most; one alone no quarter of it.

    What is long and cannot be cut is no line, and the summary has room beside.
    """
    taken: list[_Line] = []
    free = ceiling // 2
    for line in reversed(later):
        tokens = count(line.text)
        if tokens > ceiling // 4:
            continue
        free -= tokens
        if free < 0:
            break
        taken.insert(0, line)
    return taken


def _item(materials: Materials, lines: Sequence[Line], later: Sequence[_Line]) -> Item:
    """Return lines of a summary, and of what was said later, as they stand in a list."""
    return Item(
        Section.SUMMARY,
        f"{_HEADER[materials.language]}{under_days(lines)}\n",
        0,
        tuple(each.message.seq for each in later),
        origin=materials.origins.get(Section.SUMMARY, {}),
        shortened=any(each.shortened for each in later),
    )


def _later(
    materials: Materials, recent: Recent, held: Collection[int], count: Count
) -> list[_Line]:
    """Return lines of what was said after all that the summary tells of; oldest first.

    All of it, where the window goes back so far; else what was said last.
    """
    covered = materials.covered
    if covered is None:
        return []
    all_there = materials.window[0].messages[0].seq <= covered.through_seq
    later = [
        each
        for each in (recent.left_out if all_there else _last_before(materials, recent))
        if each.messages[0].seq > covered.through_seq
        and each.messages[0].session_id == covered.session_id
    ]
    return list(_in_brief(materials, later, held, count))[::-1]


def _of_summary(line: _Line) -> Line:
    """Return a line as those of summaries are."""
    return Line(line.text.rstrip(), line.message.said_at.date().isoformat())


def _quoting(block: SummaryBlock, materials: Materials, lines: Collection[str]) -> SummaryBlock:
    """Return a block of these lines with what it quotes of what was found."""
    if materials.covered is None:
        return block
    found = [each.candidate for each in materials.ranked]
    memories = memories_quoted_in_full(lines, materials.covered, found, materials.spans)
    messages = quoted_in_full(lines, materials.covered, found, materials.spans)
    return replace(block, messages=tuple(messages), memories=frozenset(memories))


def _in_brief(
    materials: Materials, left_out: Iterable[Interaction], held: Collection[int], count: Count
) -> Iterator[_Line]:
    """Yield a line each of the messages of interactions, newest first; no model is asked."""
    said = [message for each in left_out for message in each.messages]
    telling = [
        each
        for each in said
        if each.role in _WORTH_TELLING and each.seq not in held and (each.content or "").strip()
    ]
    # The same lines for every question: what lists begin with changes rarely.
    gist = Highlighter(None, [each.content or "" for each in telling], 0, materials.spans, count)
    for each in reversed(telling):
        yield _line(each, gist, materials.language)


def _extract(
    materials: Materials, newest_first: Iterable[_Line], ceiling: int, count: Count
) -> SummaryBlock:
    """Return the newest lines for which there is room."""
    header = _HEADER[materials.language]
    free = ceiling - MESSAGE_OVERHEAD - count(header)
    taken: list[_Line] = []
    for line in newest_first:
        # Above all but the oldest so far its day stands, or does not, whatever comes before.
        known = sum(map(count, _days_above(taken[:1], materials)))
        days = sum(map(count, _days_above([line, *taken[:1]], materials)))
        free -= count(line.text) + days - known
        if free < 0:
            break
        taken.insert(0, line)
    return _block(materials, taken, header, ceiling, count)


def _block(
    materials: Materials, taken: list[_Line], header: str, ceiling: int, count: Count
) -> SummaryBlock:
    """Return the lines, the oldest left out until they fit.

    None begins it that acknowledges what is not there: "Sounds good!" alone tells nothing.
    """
    while taken:
        if is_courtesy(taken[0].message.content or ""):
            taken = taken[1:]
            continue
        items = [
            Item(
                Section.SUMMARY, above + line.text, 0, (line.message.seq,), shortened=line.shortened
            )
            for line, above in zip(taken, _days_above(taken, materials), strict=True)
        ]
        items[0] = replace(items[0], text=header + items[0].text)
        block = _part(items, count)
        if block.tokens <= ceiling:
            whole = (message_candidate(line.message) for line in taken if line.is_whole)
            return replace(block, messages=tuple(whole))
        taken = taken[1:]
    return SummaryBlock()


def _days_above(taken: Sequence[_Line], materials: Materials) -> Iterator[str]:
    days = (line.message.said_at.date() for line in taken)
    return days_above(days, materials.today, materials.language)


def _part(items: Sequence[Item], count: Count) -> SummaryBlock:
    return SummaryBlock((part_of(Role.SYSTEM, items, count),))


def _line(message: Message, gist: Highlighter, language: Language) -> _Line:
    said = message.content or ""
    text = gist.of(said, _LINE_PLACE)
    line = named(message.role, message.name, language) + indented(text) + "\n"
    is_whole = text in {said, gist.but_courtesy(said)}
    return _Line(message, line, shortened=text != said, is_whole=is_whole)


def piece_of(said: Sequence[Message], most_tokens: int, count: Count, *, more: bool) -> int:
    """Return how many of these messages (ascending seq) are summed up together.

    All, where they have at most ``most_tokens`` tokens and no ``more`` follow that belong to them;
    else as many as fit, at least one, and where that can be whole interactions.
    """
    taken = tokens = 0
    for message in said:
        tokens += message_tokens([message], count)
        if taken and tokens > most_tokens:
            break
        taken += 1
    if taken == len(said) and not more:
        return taken
    begins = [at for at in range(1, taken) if said[at].role is Role.USER]
    next_begins = taken < len(said) and said[taken].role is Role.USER
    return begins[-1] if begins and not next_begins else taken


def summed_up(said: Sequence[Message]) -> list[Message]:
    """Return those messages that a summary tells of: what was said, and what tools answered.

    Not what the system said, nor what an agent noted for its memory and said to nobody (R20).
    """
    return [
        message
        for message in said
        if message.role is not Role.SYSTEM and not message.is_note and message.text.strip()
    ]
