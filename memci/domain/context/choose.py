"""Assembles a message list that fits its token budget (R13 to R15).

System text, pins, plan and query always; then the current interaction; then recent interactions,
what was said before them, and what was retrieved. The list reads: system, pins, plan, summary,
Contents Page, documents, code and notes, memory and history, page tree, recent, query.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from memci.domain.context.materials import Materials
from memci.domain.context.message_list import Item, LeftOut, Part, Section, part_of, part_tokens
from memci.domain.context.packing import Packed, pack
from memci.domain.context.page_listing import Room, listing
from memci.domain.context.quoted_in_full import wholly_pinned
from memci.domain.context.recent_messages import Latest, Recent
from memci.domain.context.rendering import Days
from memci.domain.context.session_summary import SummaryBlock, session_summary_block
from memci.domain.context.token_budget import LIST_OVERHEAD, Count
from memci.domain.pages.labels import labels_of
from memci.domain.pages.pins import Pin, pin_pieces
from memci.domain.search.candidate import Candidate, Source, message_candidate
from memci.domain.search.duplicates import words_of
from memci.domain.search.ranking import Ranked
from memci.domain.session.interaction import Interaction
from memci.domain.session.plan import steps_listed
from memci.errors import BudgetTooSmallError
from memci.message import Message, Role


@dataclass(frozen=True, slots=True)
class FixedParts:
    """The parts that must be in, each by its name; ``asked``: the query, if it is stored."""

    system: tuple[Part, ...]
    pins: tuple[Part, ...]
    plan: tuple[Part, ...]
    query: tuple[Part, ...]
    held: tuple[Candidate, ...]

    @classmethod
    def of(cls, materials: Materials, asked: tuple[Message, ...], count: Count) -> FixedParts:
        """Write them; ``asked``: the message that is the query, if it is stored."""
        seqs = tuple(each.seq for each in asked)
        return cls(
            system=_part(Section.SYSTEM, Role.SYSTEM, materials.system, count),
            pins=_pinned(materials, count),
            plan=_planned(materials, count),
            query=_part(Section.QUERY, Role.USER, materials.query, count, seqs),
            held=(
                *map(message_candidate, (*asked, *wholly_pinned(materials.pins))),
                *_as_planned_before(materials),
            ),
        )

    def room(self, budget: int) -> int:
        """Return the tokens that it leaves; raises ``BudgetTooSmallError`` if it does not fit."""
        needs = {name: part_tokens(parts) for name, parts in self._named().items()}
        total = sum(needs.values()) + LIST_OVERHEAD
        if total > budget:
            raise _too_small(budget, needs | {"list": LIST_OVERHEAD}, total)
        return budget - total

    def _named(self) -> dict[str, tuple[Part, ...]]:
        """System text and query by their names, and those of the others that there are."""
        others = {"pins": self.pins, "plan": self.plan}
        there = {name: parts for name, parts in others.items() if parts}
        return {"system": self.system, **there, "query": self.query}


def _part(
    section: Section, role: Role, text: str | None, count: Count, seqs: tuple[int, ...] = ()
) -> tuple[Part, ...]:
    return () if text is None else (part_of(role, [Item(section, text, 0, seqs)], count),)


def _planned(materials: Materials, count: Count) -> tuple[Part, ...]:
    if not materials.plan:
        return ()
    origin = materials.origins.get(Section.PLAN, {})
    return (part_of(Role.SYSTEM, [Item(Section.PLAN, materials.plan, 0, origin=origin)], count),)


def _as_planned_before(materials: Materials) -> Iterator[Candidate]:
    """Yield what was noted of the plan when it was made: the list says how far it has come."""
    steps = steps_listed(materials.plan or "")
    for each in materials.ranked if steps else ():
        noted = each.candidate.source is Source.CHAT and steps_listed(each.candidate.text)
        if noted and noted <= steps:
            yield each.candidate


def _pinned(materials: Materials, count: Count) -> tuple[Part, ...]:
    """Return what is pinned as one message, an item for each pin."""
    pieces = pin_pieces(materials.pins, labels_of(materials.language))
    items = [
        Item(Section.PINS, piece, 0, _said_in(pin), origin={"pin": pin.number})
        for pin, piece in zip(materials.pins, pieces, strict=True)
    ]
    return (part_of(Role.SYSTEM, items, count),) if items else ()


def _said_in(pin: Pin) -> tuple[int, ...]:
    return () if pin.message_seq is None else (pin.message_seq,)


def _too_small(budget: int, needs: dict[str, int], total: int) -> BudgetTooSmallError:
    named = ", ".join(f"{name} {tokens}" for name, tokens in needs.items() if tokens)
    return BudgetTooSmallError(
        f"budget_tokens is {budget}, but what must be in takes {total} ({named}): "
        f"ask for at least {total}, or shorten it",
        needs=needs,
    )


# Of what system text, query and current interaction leave, recent interactions get this share
# before retrieval gets the rest; what retrieval leaves they may have too. In a small budget the
# newest turns matter most: there they get so many tokens, but no more than half of the room.
RECENT_SHARE = 0.3
RECENT_TOKENS = 300


@dataclass(frozen=True, slots=True)
class Assembly:
    """The list; ``tokens`` is exact. ``left_out`` holds candidates, best first, and why.

    ``recent_begins``: the seq of the first recent message, for the next list to begin with.
    ``wants_summary``: there was no room for interactions, and no summary of what was said.
    """

    parts: tuple[Part, ...]
    tokens: int
    left_out: tuple[tuple[Ranked, LeftOut], ...]
    recent_left_out: tuple[Interaction, ...]
    recent_begins: int | None
    wants_summary: bool

    @property
    def items(self) -> tuple[Item, ...]:
        """All items, in order."""
        return tuple(item for part in self.parts for item in part.items)


@dataclass(frozen=True, slots=True)
class _Choice:
    """What there is to choose from, and the tokens for it.

    ``always``: those that there are whatever is asked; ``current``: the interaction that is not
    over yet, which goes before all else.
    """

    materials: Materials
    standing: FixedParts
    latest: Latest
    current: Recent
    room: int
    always: int
    count: Count


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What was chosen for the room that the standing parts leave."""

    recent: Recent
    before: SummaryBlock
    packed: Packed

    @property
    def tokens(self) -> int:
        return self.recent.tokens + self.before.tokens + self.packed.tokens


def assemble(materials: Materials, budget: int, count: Count) -> Assembly:
    """Return the best list of at most ``budget`` tokens.

    Raises ``BudgetTooSmallError`` when system text, pins, plan and query alone do not fit.
    """
    materials, asked = _without_query(materials)
    standing = FixedParts.of(materials, asked, count)
    room = standing.room(budget)
    always = room + part_tokens(standing.query)
    latest = Latest(materials, Days(materials, next(iter(asked), None), count), count)
    current = latest.within(room, 0)
    contents, tree = _pages(materials, Room(always, room, room - current.tokens), count)
    room -= part_tokens((*contents, *tree))
    materials = _without_open_notes(materials, tree)
    chosen = _choose(_Choice(materials, standing, latest, current, room, always, count))
    recent, packed = chosen.recent, chosen.packed
    first = (*standing.system, *standing.pins, *standing.plan)
    stable = (*chosen.before.parts, *contents)
    # What changes least comes first where a provider keeps what lists begin with.
    between = (*packed.parts, *stable) if materials.best_first else (*stable, *packed.parts)
    parts = (*first, *between, *tree, *recent.parts(count), *standing.query)
    return Assembly(
        parts,
        part_tokens(parts) + LIST_OVERHEAD,
        packed.left_out,
        recent.left_out,
        recent.begins,
        wants_summary=bool(recent.no_room) and not materials.summary,
    )


def _pages(
    materials: Materials, room: Room, count: Count
) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return the Contents Page and the other pages, in what the current interaction leaves.

    It goes before all of them (R14), in the longest of its forms that fits at all.
    """
    contents = listing(Section.CONTENTS, materials.contents, room, count)
    room = room._replace(left=room.left - part_tokens(contents))
    return contents, listing(Section.TREE, materials.tree, room, count)


def _without_open_notes(materials: Materials, tree: tuple[Part, ...]) -> Materials:
    """Leave out of the ranking the notes that stand in the page tree with all that they say."""
    if not tree:
        return materials
    shown = f" {' '.join(words_of(' '.join(part.utterance.text for part in tree)))} "

    def is_open(one: Candidate) -> bool:
        lines = (" ".join(words_of(line)) for line in one.text.splitlines())
        return one.source is Source.PAGE and all(f" {line} " in shown for line in lines if line)

    ranked = [each for each in materials.ranked if not is_open(each.candidate)]
    return replace(materials, ranked=ranked)


def _choose(choice: _Choice) -> _Chosen:
    """Choose recent interactions and what goes beside; once more if they may have what is left."""
    room, latest, current = choice.room, choice.latest, choice.current
    left = room - current.tokens
    share = max(int(RECENT_SHARE * left), min(RECENT_TOKENS, left // 2))
    chosen = _beside(latest.within(room, share), choice)
    if not (chosen.recent.no_room or chosen.recent.lacks_tools):
        return chosen
    unused = room - chosen.tokens
    more = latest.within(room, chosen.recent.tokens - current.tokens + unused)
    # Calls that come back take no turn's place.
    fewer = len(more.taken) < len(chosen.recent.taken)
    if fewer or len(more.said) <= len(chosen.recent.said):
        return chosen
    return _beside(more, choice)


def _beside(recent: Recent, choice: _Choice) -> _Chosen:
    """Fill what recent interactions leave: a summary of those that had to go, and the found.

    What was said before stands there as it did, whatever is found: what it quotes whole is not
    brought again (R14).
    """
    materials, count = choice.materials, choice.count
    standing = choice.standing.held
    held = {each.key for each in (*recent.said, *standing)}
    before = session_summary_block(materials, recent, held, choice.always, choice.room, count)
    # Of a result that stands there in brief, the rest may be what is asked for.
    whole = [*recent.whole, *standing, *before.said]
    left = choice.room - recent.tokens - before.tokens
    return _Chosen(recent, before, pack(materials, whole, left, count, told=before.told))


def _without_query(materials: Materials) -> tuple[Materials, tuple[Message, ...]]:
    """Take out of the window what the caller shows, and the query when it is stored already."""
    window = materials.shown.without(materials.window)
    last = window[-1].messages if window else ()
    if len(last) == 1 and last[0].role is Role.USER and last[0].content == materials.query:
        return replace(materials, window=window[:-1]), last
    return replace(materials, window=window), ()
