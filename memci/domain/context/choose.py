"""Chooses the parts of a context within a token budget (R13 to R15).

System text, pins, plan and query are always in; of automatic pins, the newest within their share.
The current interaction comes next, then recent interactions, the summary of earlier messages, and
retrieved entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memci.domain.context.materials import Materials
from memci.domain.context.message_list import Item, Part, Section, part_of, part_tokens
from memci.domain.context.packing import Packed, Packing
from memci.domain.context.page_listing import PageRoom, list_pages
from memci.domain.context.recent_messages import Latest, Recent
from memci.domain.context.rendering import Days
from memci.domain.context.session_summary import SummaryBlock, session_summary_block
from memci.domain.context.summary_overlap import wholly_pinned
from memci.domain.pages.automatic_pins import by_people, pins_within
from memci.domain.pages.pins import pin_pieces
from memci.domain.pages.window_labels import labels_of
from memci.domain.search.candidate import Candidate, Source, message_candidate
from memci.domain.search.duplicates import words_of
from memci.domain.session.plan import steps_listed
from memci.domain.token_counts import LIST_OVERHEAD, Count
from memci.errors import BudgetTooSmallError
from memci.message import Message, Role

# The share of recent interactions in the room beside the current one. Retrieval gets the rest, and
# recent interactions what it leaves. In a small budget the newest turns matter most: they get at
# least ``RECENT_TOKENS``, but no more than half of the room.
RECENT_SHARE = 0.3
RECENT_TOKENS = 300


@dataclass(frozen=True, slots=True)
class FixedParts:
    """The parts that are always in."""

    system: tuple[Part, ...]
    pins: tuple[Part, ...]
    plan: tuple[Part, ...]
    query: tuple[Part, ...]
    quoted: tuple[Candidate, ...]  # messages in these parts, which need not be retrieved

    @classmethod
    def of(cls, materials: Materials, stored: tuple[Message, ...], count: Count) -> FixedParts:
        """Write the fixed parts; ``stored``: the stored message of the query, if any."""
        origin = materials.origins.get(Section.PLAN, {})
        pieces = pin_pieces(materials.pins, labels_of(materials.language))
        pins = [
            Item(
                Section.PINS,
                piece,
                seqs=() if pin.message_seq is None else (pin.message_seq,),
                origin={"pin": pin.number},
            )
            for pin, piece in zip(materials.pins, pieces, strict=True)
        ]
        seqs = tuple(each.seq for each in stored)
        system = None if materials.system is None else Item(Section.SYSTEM, materials.system)
        plan = Item(Section.PLAN, materials.plan, origin=origin) if materials.plan else None
        query = None if materials.query is None else Item(Section.QUERY, materials.query, seqs=seqs)
        return cls(
            system=_part(Role.SYSTEM, [system], count),
            pins=_part(Role.SYSTEM, pins, count),
            plan=_part(Role.SYSTEM, [plan], count),
            query=_part(Role.USER, [query], count),
            quoted=(
                *map(message_candidate, (*stored, *wholly_pinned(materials.pins))),
                *_earlier_plans(materials),
            ),
        )

    def room(self, budget: int) -> int:
        """Return the remaining tokens; raises ``BudgetTooSmallError`` if there are too few."""
        needs = {"system": part_tokens(self.system)}
        needs |= {"pins": part_tokens(self.pins)} if self.pins else {}
        needs |= {"plan": part_tokens(self.plan)} if self.plan else {}
        needs |= {"query": part_tokens(self.query), "list": LIST_OVERHEAD}
        total = sum(needs.values())
        if total <= budget:
            return budget - total
        named = ", ".join(f"{name} {tokens}" for name, tokens in needs.items() if tokens)
        raise BudgetTooSmallError(
            f"budget_tokens is {budget}, but what must be in takes {total} ({named}): "
            f"ask for at least {total}, or shorten it",
            needs=needs,
        )


def _part(role: Role, items: Sequence[Item | None], count: Count) -> tuple[Part, ...]:
    present = [each for each in items if each is not None]
    return (part_of(role, present, count),) if present else ()


def _earlier_plans(materials: Materials) -> Iterator[Candidate]:
    """Yield found messages that list steps of the plan; the plan itself is in the list."""
    steps = steps_listed(materials.plan or "")
    for each in materials.ranked if steps else ():
        listed = each.candidate.source is Source.CHAT and steps_listed(each.candidate.text)
        if listed and listed <= steps:
            yield each.candidate


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen parts of a context, each group in order."""

    fixed: FixedParts
    contents: tuple[Part, ...]  # the Contents Page
    tree: tuple[Part, ...]  # the other pages
    filled: Filled
    recent_parts: tuple[Part, ...]
    best_first: bool  # no prompt cache is used
    lacks_summary: bool  # interactions had no room, and there is no summary of them


def choose(materials: Materials, budget: int, count: Count) -> Choice:
    """Choose the best for a list of at most ``budget`` tokens.

    Raises ``BudgetTooSmallError`` when system text, pins, plan and query alone do not fit.
    """
    materials, stored = _without_query(materials)
    needed = FixedParts.of(replace(materials, pins=by_people(materials.pins)), stored, count)
    pins = pins_within(materials.pins, needed.room(budget), count)
    materials = replace(materials, pins=pins)
    fixed = FixedParts.of(materials, stored, count)
    room = fixed.room(budget)
    always = room + part_tokens(fixed.query)
    latest = Latest(materials, Days(materials, next(iter(stored), None), count), count)
    current = latest.within(room, 0)
    # The current interaction precedes all pages, in its longest form that fits (R14).
    page_room = PageRoom(always, room, room - current.tokens)
    contents = list_pages(Section.CONTENTS, materials.contents, page_room, count)
    page_room = page_room._replace(left=page_room.left - part_tokens(contents))
    tree = list_pages(Section.TREE, materials.tree, page_room, count)
    room -= part_tokens((*contents, *tree))
    materials = _without_open_notes(materials, tree)
    filled = _fill(_Room(materials, fixed.quoted, latest, current, room, always, count))
    return Choice(
        fixed=fixed,
        contents=contents,
        tree=tree,
        filled=filled,
        recent_parts=filled.recent.parts(count),
        best_first=materials.best_first,
        lacks_summary=bool(filled.recent.no_room) and not materials.summary,
    )


def _without_query(materials: Materials) -> tuple[Materials, tuple[Message, ...]]:
    """Remove from the window the shown messages and the stored query."""
    window = materials.shown.without(materials.window)
    last = window[-1].messages if window else ()
    if len(last) == 1 and last[0].role is Role.USER and last[0].content == materials.query:
        return replace(materials, window=window[:-1]), last
    return replace(materials, window=window), ()


def _without_open_notes(materials: Materials, tree: tuple[Part, ...]) -> Materials:
    if not tree:
        return materials
    shown = f" {' '.join(words_of(' '.join(part.utterance.text for part in tree)))} "

    def is_open(one: Candidate) -> bool:
        lines = (" ".join(words_of(line)) for line in one.text.splitlines())
        return one.source is Source.PAGE and all(f" {line} " in shown for line in lines if line)

    ranked = [each for each in materials.ranked if not is_open(each.candidate)]
    return replace(materials, ranked=ranked)


@dataclass(frozen=True, slots=True)
class _Room:
    """The tokens beside the fixed parts and the pages, and the parts that may fill them."""

    materials: Materials
    quoted: tuple[Candidate, ...]  # as in ``FixedParts``
    latest: Latest
    current: Recent  # the unfinished interaction
    tokens: int
    always: int  # the tokens for any query
    count: Count


@dataclass(frozen=True, slots=True)
class Filled:
    """The parts beside the fixed ones and the pages."""

    recent: Recent
    summary: SummaryBlock
    retrieved: Packed

    @property
    def tokens(self) -> int:
        """Tokens of the parts."""
        return self.recent.tokens + self.summary.tokens + self.retrieved.tokens


def _fill(room: _Room) -> Filled:
    """Fill the room; repeat with more recent interactions if tokens remain."""
    left = room.tokens - room.current.tokens
    share = max(int(RECENT_SHARE * left), min(RECENT_TOKENS, left // 2))
    filled = _fill_with_recent(room.latest.within(room.tokens, share), room)
    if not (filled.recent.no_room or filled.recent.lacks_tools):
        return filled
    unused = room.tokens - filled.tokens
    share = filled.recent.tokens - room.current.tokens + unused
    more = room.latest.within(room.tokens, share)
    # Restored tool calls must not replace an interaction.
    fewer = len(more.taken) < len(filled.recent.taken)
    if fewer or len(more.messages) <= len(filled.recent.messages):
        return filled
    return _fill_with_recent(more, room)


def _fill_with_recent(recent: Recent, room: _Room) -> Filled:
    """Fill the room beside recent interactions with the summary and retrieved entries.

    The summary does not depend on the query. Entries that it quotes in full are not retrieved
    (R14).
    """
    materials, count = room.materials, room.count
    seqs = {each.key for each in (*recent.messages, *room.quoted)}
    summary = session_summary_block(materials, recent, seqs, room.always, room.tokens, count)
    # The rest of a shortened tool result may be the answer.
    quoted = [*recent.whole, *room.quoted, *summary.messages]
    left = room.tokens - recent.tokens - summary.tokens
    packing = Packing(materials, quoted, left, count, summary.memories)
    return Filled(recent, summary, packing.packed())
