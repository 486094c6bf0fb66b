"""Retrieved memories and history as one message of a list, inside its room (R14)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from memci.domain.context import excerpt
from memci.domain.context.budget import MESSAGE_OVERHEAD, Count, Utterance
from memci.domain.context.candidate import Candidate, Source
from memci.domain.context.fusion import Ranked
from memci.domain.context.parts import Item, LeftOut, Part, Section, part_tokens
from memci.domain.context.repetition import Sayings
from memci.domain.context.selection import Selection
from memci.domain.context.succession import stands_alone
from memci.domain.language import Language
from memci.domain.message import Role

# Too little room for any entry with its date; and no natural text has longer tokens than this.
_LEAST_ENTRY_TOKENS = 6
_LONGEST_TOKEN_CHARACTERS = 8


@dataclass(slots=True)
class Packed:
    """The block of retrieved things: one message, or none."""

    parts: tuple[Part, ...] = ()
    left_out: list[tuple[Ranked, LeftOut]] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """Tokens of the message."""
        return part_tokens(self.parts)


def pack(
    ranking: Sequence[Ranked],
    held: Iterable[Candidate],
    room: int,
    language: Language,
    count: Count,
    asked: str | None = None,
) -> Packed:
    """Fill ``room`` with the best of the ranking, best first; what does not fit is passed over.

    So is what no longer holds, where what is so now did not fit (R6).
    ``held`` are the messages that are in the list already; ``asked`` is the question in it.
    """
    packed = Packed()
    held = list(held)
    selection, sayings = Selection(held), Sayings(asked, held)
    tokens: dict[tuple[Source, int], int] = {}
    groups: set[excerpt.Group] = set()
    kept: set[tuple[Source, int]] = set()
    missed: set[tuple[Source, int]] = set()
    free = room - MESSAGE_OVERHEAD - count(excerpt.header(language))
    for each in ranking:
        new = selection.new_in(each.candidate)
        if new is None or sayings.repeated_by(each.candidate):
            packed.left_out.append((each, LeftOut.PRESENT))
            kept.add(each.key)
            continue
        entry = each.candidate._replace(text=new)
        dated, line = _costs(entry, groups, free, language, count)
        if dated + line > free or stands_alone(each.candidate, kept, missed):
            missed.add(each.key)
            packed.left_out.append((each, LeftOut.BUDGET))
            continue
        change = selection.take(each)
        kept.add(each.key)
        sayings.hear(each.candidate)
        tokens[each.key] = line
        groups.add(excerpt.group_of(entry))
        free -= dated + line
        for gone in change.gone:
            free += tokens[gone.key]
            packed.left_out.append((gone, LeftOut.PRESENT))
        for shorter in change.shorter:
            less = count(excerpt.line(selection.entry(shorter).candidate, language))
            free += tokens[shorter.key] - less
            tokens[shorter.key] = less
    return _fit(packed, [selection.entry(each) for each in selection], language, room, count)


def _costs(
    entry: Candidate, groups: set[excerpt.Group], free: int, language: Language, count: Count
) -> tuple[int, int]:
    """Tokens of its date line, if that is new, and of the entry; a guess if far over ``free``."""
    if free < _LEAST_ENTRY_TOKENS or len(entry.text) > free * _LONGEST_TOKEN_CHARACTERS:
        return 0, free + 1
    group = excerpt.group_of(entry)
    dated = 0 if group in groups else count(excerpt.date_line(group.day, language))
    return dated, count(excerpt.line(entry, language))


def _fit(
    packed: Packed, taken: list[Ranked], language: Language, room: int, count: Count
) -> Packed:
    """Count the block as a whole, and drop its last entries until it does fit.

    Tokens of a text are not the sum of its pieces' tokens, so packing by pieces may miss by a few.
    What no longer holds goes first: none of it may be left without what is so now.
    """
    while taken:
        part = _block(taken, language, count)
        if part_tokens([part]) <= room:
            return replace(packed, parts=(part,))
        last = max(range(len(taken)), key=lambda place: (bool(taken[place].candidate.newer), place))
        packed.left_out.append((taken.pop(last), LeftOut.BUDGET))
    return packed


def _block(taken: Sequence[Ranked], language: Language, count: Count) -> Part:
    ranked = {each.key: each for each in taken}
    written = excerpt.block((each.candidate for each in taken), language)
    utterance = Utterance(Role.SYSTEM, "".join(text for _, text in written))
    items = [
        Item(
            Section.HISTORY if one.source is Source.CHAT else Section.MEMORY,
            text,
            count(text),
            one.seqs,
            ranked[one.source, one.key],
        )
        for one, text in written
    ]
    # The first item also carries what belongs to the message as a whole.
    whole = utterance.tokens(count) - sum(item.tokens for item in items[1:])
    return Part(utterance, (replace(items[0], tokens=whole), *items[1:]))
