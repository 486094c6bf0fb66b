"""Assembles the message list of a context from the chosen parts (R13).

The list reads: system text, pins, plan, summary, Contents Page, documents and notes, memories and
earlier messages, other pages, recent messages, query. Parts that change least come first, because a
provider caches the beginning of lists. Without a cache, retrieved parts stand before the summary.
"""

from dataclasses import dataclass

from memci.domain.context.choose import Choice
from memci.domain.context.message_list import Item, LeftOut, Part, Piece, part_tokens, pieces
from memci.domain.search.ranking import Ranked
from memci.domain.token_counts import LIST_OVERHEAD


@dataclass(frozen=True, slots=True)
class Assembly:
    """A message list, and the entries that were left out of it."""

    parts: tuple[Part, ...]
    tokens: int  # exact
    left_out: tuple[tuple[Ranked, LeftOut], ...]  # candidates, best first, and why
    recent_begins: int | None  # seq of the first recent message, for the next list to begin with
    lacks_summary: bool  # interactions had no room, and there is no summary of them

    @property
    def items(self) -> tuple[Item, ...]:
        """All items, in order."""
        return tuple(item for part in self.parts for item in part.items)

    @property
    def prefix(self) -> list[Piece]:
        """The pieces that the next list is compared with, in order."""
        return pieces(
            (f"{place}:{part.utterance.role}", item.text)
            for place, part in enumerate(self.parts)
            for item in part.items
        )


def assemble(choice: Choice) -> Assembly:
    """Return the list of all chosen parts."""
    fixed, recent, retrieved = choice.fixed, choice.filled.recent, choice.filled.retrieved
    stable = (*choice.filled.summary.parts, *choice.contents)
    between = (*retrieved.parts, *stable) if choice.best_first else (*stable, *retrieved.parts)
    parts = (
        *(*fixed.system, *fixed.pins, *fixed.plan),
        *between,
        *choice.tree,
        *choice.recent_parts,
        *fixed.query,
    )
    return Assembly(
        parts,
        part_tokens(parts) + LIST_OVERHEAD,
        retrieved.left_out,
        recent.begins,
        choice.lacks_summary,
    )
