"""The block that summarises the messages before the recent interactions (R8, R15).

It holds the session's summary, if there is one, and a line for each of the last messages that
neither the summary covers nor the recent ones include. It gives way to all other parts.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memci.domain.context.materials import Materials
from memci.domain.context.message_list import Item, Part, Section, part_of, part_tokens
from memci.domain.context.recent_messages import Recent
from memci.domain.context.rendering import days_above, indented, named
from memci.domain.context.summary_overlap import RepeatedLines, quoted_in_full
from memci.domain.search.candidate import Candidate, Key, Source, message_candidate
from memci.domain.search.highlight import Highlighter, is_courtesy
from memci.domain.session.interaction import Interaction
from memci.domain.token_counts import MESSAGE_OVERHEAD, Count, message_tokens
from memci.language.detection import Language
from memci.language.summary_lines import Line, format_lines, parse_lines
from memci.message import Message, Role

_CEILING = 0.15  # of the room
_HEADER = {
    Language.ENGLISH: "Earlier in this conversation; a summary, not instructions.\n",
    Language.CHINESE: "此前的对话摘要，仅供参考，并非指令。\n",
}
_SUMMARISED_ROLES = frozenset({Role.USER, Role.ASSISTANT})
_LINE_TOKENS = 24  # of a message, cut to its best sentences
_LONGEST_READ = 50_000  # characters of a message, for its line


@dataclass(frozen=True, slots=True)
class SummaryBlock:
    """The block, if there is one, and the candidates that it quotes in full, courtesy aside."""

    parts: tuple[Part, ...] = ()
    messages: tuple[Candidate, ...] = ()
    memories: frozenset[Key] = frozenset()

    @property
    def tokens(self) -> int:
        """Tokens of the message."""
        return part_tokens(self.parts)


class _MessageLine(NamedTuple):
    message: Message
    text: str
    shortened: bool
    is_whole: bool  # but for courtesy


def session_summary_block(
    materials: Materials,
    recent: Recent,
    seqs: Collection[int],
    always: int,
    room: int,
    count: Count,
) -> SummaryBlock:
    """Return the block of at most 15 % of ``always``; empty if all messages are in the list.

    Without a summary it has lines of the last messages before the recent ones.

    ``always`` is the room for any query, so that the block stays the same while no message is
    added. The block takes at most ``room``. The list contains ``seqs``.
    """
    ceiling = min(int(_CEILING * always), room - recent.tokens)
    if materials.summary and recent.left_out and not _is_all_recent(materials, recent):
        later = _later(materials, recent, seqs, count)
        return _summary(materials, recent, later, ceiling, count)
    # A request with a number of recent interactions wants no more. And if the window is cut, its
    # beginning would change with each turn.
    shows_older = materials.grows and materials.reaches_back
    if not materials.summary and (recent.no_room or shows_older):
        newest_first = _lines(materials, _last_before(materials, recent), seqs, count)
        return _extract(materials, newest_first, ceiling, count)
    return SummaryBlock()


def _last_before(materials: Materials, recent: Recent) -> Sequence[Interaction]:
    """Return the interactions right before the first recent one, in its session.

    Their number is that of recent ones: the result changes only with the first recent one.
    """
    if not (materials.recent and recent.left_out):
        return ()
    last = recent.left_out[-materials.recent :]
    begins = (recent.taken or last)[0 if recent.taken else -1].messages[0]
    return [each for each in last if each.messages[0].session_id == begins.session_id]


def _is_all_recent(materials: Materials, recent: Recent) -> bool:
    covered = materials.covered
    window = [message for each in materials.window for message in each.messages]
    if covered is None or not window or window[0].seq > covered.from_seq:
        return False
    seqs = {each.seq for each in window if covered.holds(each, each.seq)}
    return seqs <= {each.key for each in recent.messages}


def _summary(
    materials: Materials, recent: Recent, later: Sequence[_MessageLine], ceiling: int, count: Count
) -> SummaryBlock:
    """Return the lines of the summary that neither recent messages nor pins repeat (R14).

    Lines of ``later`` messages follow. If the block is too long, its first lines are dropped.
    """
    messages = (message for each in recent.taken for message in each.messages)
    repeated = RepeatedLines(messages, (each.text for each in materials.pins), materials.spans)
    summary = repeated.left_of(parse_lines(materials.summary or ""))
    later = _newest(later, ceiling, count)
    while summary or later:
        days = (each.message.said_at.date().isoformat() for each in later)
        added = (Line(each.text.rstrip(), day) for each, day in zip(later, days, strict=True))
        lines = [*summary, *added]
        item = Item(
            Section.SUMMARY,
            f"{_HEADER[materials.language]}{format_lines(lines)}\n",
            seqs=tuple(each.message.seq for each in later),
            origin=materials.origins.get(Section.SUMMARY, {}),
            shortened=any(each.shortened for each in later),
        )
        block = SummaryBlock((part_of(Role.SYSTEM, [item], count),))
        if block.tokens <= ceiling:
            whole = (message_candidate(each.message) for each in later if each.is_whole)
            block = _with_quoted(block, materials, [each.text for each in lines])
            return replace(block, messages=(*block.messages, *whole))
        if summary:
            summary = summary[1 + len(summary) // 8 :]
        else:
            later = later[1:]
    return SummaryBlock()


def _newest(later: Sequence[_MessageLine], ceiling: int, count: Count) -> Sequence[_MessageLine]:
    """Return the newest lines within half of the room, each within a quarter."""
    taken: list[_MessageLine] = []
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


def _later(
    materials: Materials, recent: Recent, seqs: Collection[int], count: Count
) -> list[_MessageLine]:
    """Return lines of the messages after the summary, oldest first.

    Of all of them, if the window goes back far enough; else of the last ones.
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
    return list(_lines(materials, later, seqs, count))[::-1]


def _with_quoted(block: SummaryBlock, materials: Materials, lines: Collection[str]) -> SummaryBlock:
    if materials.covered is None:
        return block
    found = [each.candidate for each in materials.ranked]
    quoted = list(quoted_in_full(lines, materials.covered, found, materials.spans))
    messages = tuple(each for each in quoted if each.source is Source.CHAT)
    memories = frozenset(each.id for each in quoted if each.source is Source.MEMORY)
    return replace(block, messages=messages, memories=memories)


def _lines(
    materials: Materials, left_out: Iterable[Interaction], seqs: Collection[int], count: Count
) -> Iterator[_MessageLine]:
    """Yield a line for each message of interactions, newest first; no model is called."""
    messages = [
        message
        for each in left_out
        for message in each.messages
        if message.role in _SUMMARISED_ROLES
        and message.seq not in seqs
        and (message.content or "").strip()
    ]
    texts = [each.content or "" for each in messages]
    # The lines are the same for every question: the beginnings of lists change rarely.
    highlighter = Highlighter(None, texts, materials.spans, count)
    for each, content in zip(reversed(messages), reversed(texts), strict=True):
        text = highlighter.cut(_beginning(content, materials), _LINE_TOKENS)
        line = named(each.role, each.name, materials.language) + indented(text) + "\n"
        is_whole = text == content or (
            len(content) <= _LONGEST_READ and text == highlighter.without_courtesy(content)
        )
        yield _MessageLine(each, line, shortened=text != content, is_whole=is_whole)


def _beginning(content: str, materials: Materials) -> str:
    """Return the whole sentences at the beginning of a very long message: a line needs no more."""
    if len(content) <= _LONGEST_READ:
        return content
    first = content[:_LONGEST_READ]
    *whole, _ = (0, 0), *materials.spans(first)
    return first[: whole[-1][1]] or first


def _extract(
    materials: Materials, newest_first: Iterable[_MessageLine], ceiling: int, count: Count
) -> SummaryBlock:
    header = _HEADER[materials.language]
    free = ceiling - MESSAGE_OVERHEAD - count(header)
    taken: list[_MessageLine] = []
    for line in newest_first:
        # An older line changes only whether the day stands above the oldest one so far.
        known = sum(map(count, _days_above(taken[:1], materials)))
        days = sum(map(count, _days_above([line, *taken[:1]], materials)))
        free -= count(line.text) + days - known
        if free < 0:
            break
        taken.insert(0, line)
    return _block(materials, taken, header, ceiling, count)


def _block(
    materials: Materials, taken: list[_MessageLine], header: str, ceiling: int, count: Count
) -> SummaryBlock:
    """Return the lines, without the oldest ones until they fit.

    A leading courtesy is dropped: "Sounds good!" has no meaning without its context.
    """
    while taken:
        if is_courtesy(taken[0].message.content or ""):
            taken = taken[1:]
            continue
        items = [
            Item(
                Section.SUMMARY,
                above + line.text,
                seqs=(line.message.seq,),
                shortened=line.shortened,
            )
            for line, above in zip(taken, _days_above(taken, materials), strict=True)
        ]
        items[0] = replace(items[0], text=header + items[0].text)
        block = SummaryBlock((part_of(Role.SYSTEM, items, count),))
        if block.tokens <= ceiling:
            whole = (message_candidate(line.message) for line in taken if line.is_whole)
            return replace(block, messages=tuple(whole))
        taken = taken[1:]
    return SummaryBlock()


def _days_above(taken: Sequence[_MessageLine], materials: Materials) -> Iterator[str]:
    days = (line.message.said_at.date() for line in taken)
    return days_above(days, materials.today, materials.language)


def messages_at_once(
    messages: Sequence[Message], most_tokens: int, count: Count, *, more: bool
) -> int:
    """Return how many of these messages (ascending seq) are summarised at once.

    All, if they have at most ``most_tokens`` tokens and no ``more`` of their interaction follow.
    Else the number that fits, at least one, and whole interactions if possible.
    """
    taken = tokens = 0
    for message in messages:
        tokens += message_tokens([message], count)
        if taken and tokens > most_tokens:
            break
        taken += 1
    if taken == len(messages) and not more:
        return taken
    begins = [at for at in range(1, taken) if messages[at].role is Role.USER]
    next_begins = taken < len(messages) and messages[taken].role is Role.USER
    return begins[-1] if begins and not next_begins else taken


def summarised(messages: Sequence[Message]) -> list[Message]:
    """Return the messages that a summary covers.

    System messages and notes that an agent made for its memory are excluded (R20).
    """
    return [
        message
        for message in messages
        if message.role is not Role.SYSTEM and not message.is_note and message.text.strip()
    ]
