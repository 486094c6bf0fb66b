"""A message list that fits its token budget (R13, R14): what goes in, and in which order.

System text, pins and query always; then the current interaction; then recent interactions and what
was retrieved, which compete. The list reads: system, pins, memory and history, recent, query.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memci.domain.context.budget import LIST_OVERHEAD, Count, Utterance
from memci.domain.context.candidate import message_candidate
from memci.domain.context.fusion import Ranked
from memci.domain.context.interaction import Interaction
from memci.domain.context.packing import Packed, pack
from memci.domain.context.parts import Item, LeftOut, Part, Section, part_tokens
from memci.domain.context.recent import Recent
from memci.domain.language import Language
from memci.domain.message import Message, Role
from memci.domain.pages.labels import labels_of
from memci.domain.pages.pin import Pin, pin_pieces
from memci.errors import BudgetTooSmallError

# Of what system text, query and current interaction leave, recent interactions get this share
# before retrieval gets the rest; what retrieval leaves they may have too. In a small budget the
# newest turns matter most: there they get so many tokens, but no more than half of the room.
RECENT_SHARE = 0.3
RECENT_TOKENS = 300


@dataclass(frozen=True, slots=True)
class Materials:
    """What there is to choose from.

    ``window`` holds the latest interactions, oldest first, of which at most ``recent`` go in;
    ``ranked`` what was retrieved, best first, and ``filler`` what of it tells nothing; ``pins``
    what is pinned.
    """

    system: str | None
    query: str | None
    window: Sequence[Interaction]
    recent: int
    ranked: Sequence[Ranked]
    language: Language
    filler: Sequence[Ranked] = ()
    pins: Sequence[Pin] = ()


@dataclass(frozen=True, slots=True)
class Assembly:
    """The list; ``tokens`` is exact. ``left_out`` holds candidates, best first, and why."""

    parts: tuple[Part, ...]
    tokens: int
    left_out: tuple[tuple[Ranked, LeftOut], ...]
    recent_left_out: tuple[Interaction, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        """All items, in order."""
        return tuple(item for part in self.parts for item in part.items)


def assemble(materials: Materials, budget: int, count: Count) -> Assembly:
    """Return the best list of at most ``budget`` tokens.

    Raises ``BudgetTooSmallError`` when system text, pins and query alone do not fit.
    """
    window, asked = _without_query(materials)
    pinned = _pinned(materials, count)
    system = _part(Section.SYSTEM, Role.SYSTEM, materials.system, (), count)
    seqs = tuple(each.seq for each in asked)
    query = _part(Section.QUERY, Role.USER, materials.query, seqs, count)
    must = {"system": system, **({"pins": pinned} if pinned else {}), "query": query}
    room = budget - LIST_OVERHEAD - sum(map(part_tokens, must.values()))
    if room < 0:
        raise _too_small(budget, must)
    recent = Recent(window[max(len(window) - materials.recent, 0) :], count)
    recent.take_current(room)
    left = room - recent.tokens
    recent.take(max(int(RECENT_SHARE * left), min(RECENT_TOKENS, left // 2)))

    def packed_beside() -> Packed:
        held = [*recent.said, *map(message_candidate, (*asked, *_pinned_messages(materials.pins)))]
        left = room - recent.tokens
        return pack(materials.ranked, held, left, materials.language, count, materials.query)

    packed = packed_beside()
    if recent.take(room - recent.tokens - packed.tokens):
        packed = packed_beside()
    parts = (*system, *pinned, *packed.parts, *recent.parts(), *query)
    tokens = part_tokens(parts) + LIST_OVERHEAD
    filler = [(each, LeftOut.TRIVIAL) for each in materials.filler]
    return Assembly(parts, tokens, (*packed.left_out, *filler), recent.left_out)


def _without_query(materials: Materials) -> tuple[Sequence[Interaction], tuple[Message, ...]]:
    """Take the query out of the window when it is stored already, and return its message."""
    last = materials.window[-1].messages if materials.window else ()
    if len(last) == 1 and last[0].role is Role.USER and last[0].content == materials.query:
        return materials.window[:-1], (last[0],)
    return materials.window, ()


def _part(
    section: Section, role: Role, text: str | None, seqs: tuple[int, ...], count: Count
) -> tuple[Part, ...]:
    if text is None:
        return ()
    utterance = Utterance(role, text)
    return (Part(utterance, (Item(section, text, utterance.tokens(count), seqs),)),)


def _pinned(materials: Materials, count: Count) -> tuple[Part, ...]:
    """Return what is pinned as one message, an item for each pin."""
    pieces = pin_pieces(materials.pins, labels_of(materials.language))
    if not pieces:
        return ()
    items = [
        Item(
            Section.PINS, piece, count(piece), () if pin.message_seq is None else (pin.message_seq,)
        )
        for pin, piece in zip(materials.pins, pieces, strict=True)
    ]
    utterance = Utterance(Role.SYSTEM, "".join(pieces))
    # The first item also carries what belongs to the message as a whole.
    whole = utterance.tokens(count) - sum(item.tokens for item in items[1:])
    return (Part(utterance, (replace(items[0], tokens=whole), *items[1:])),)


def _pinned_messages(pins: Sequence[Pin]) -> Iterator[Message]:
    """Yield messages whose words are pinned: retrieval need not bring them again (R14)."""
    for pin in pins:
        if pin.message_seq is not None:
            yield Message(pin.message_seq, "", Role.USER, pin.text, pin.created_at)


def _too_small(budget: int, must: Mapping[str, tuple[Part, ...]]) -> BudgetTooSmallError:
    needs = {name: part_tokens(parts) for name, parts in must.items()} | {"list": LIST_OVERHEAD}
    named = ", ".join(f"{name} {tokens}" for name, tokens in needs.items() if tokens)
    total = sum(needs.values())
    return BudgetTooSmallError(
        f"budget_tokens is {budget}, but what must be in takes {total} ({named}): "
        f"ask for at least {total}, or shorten it",
        needs=needs,
    )
