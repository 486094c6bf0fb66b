"""What was retrieved as messages of a list, inside its room (R13, R14)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

from memci.domain.context.materials import Materials
from memci.domain.context.message_list import Item, LeftOut, Part, Section, part_of, part_tokens
from memci.domain.context.rendering import DOCUMENTS, MEMORIES, Layout, written
from memci.domain.context.token_budget import MESSAGE_OVERHEAD, Count
from memci.domain.search.candidate import WRITTEN, Candidate, Key, Source
from memci.domain.search.duplicates import Change, Sayings, Selection
from memci.domain.search.highlight import Highlighter, Speakers, Voices, is_all_courtesy
from memci.domain.search.ranking import Ranked
from memci.domain.search.supersession import lacks_newer
from memci.message import Role

# Too little room for any entry with its date; and no natural text has longer tokens than this.
_LEAST_ENTRY_TOKENS = 6
_LONGEST_TOKEN_CHARACTERS = 8
# When so many in a row did not fit, the block is full: what is left is a matter of a few tokens.
_MISSES = 12

_SAID = frozenset({Source.CHAT, Source.MEMORY})


@dataclass(frozen=True, slots=True)
class Packed:
    """A message of what files say and one of what was said, as far as there are any."""

    quotations: tuple[Part, ...]
    excerpts: tuple[Part, ...]
    left_out: tuple[tuple[Ranked, LeftOut], ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """Both."""
        return *self.quotations, *self.excerpts

    @property
    def tokens(self) -> int:
        """Tokens of the messages."""
        return part_tokens(self.parts)


def pack(
    materials: Materials,
    held: Sequence[Candidate],
    room: int,
    count: Count,
    *,
    quoted_memories: Collection[Key] = (),
) -> Packed:
    """Fill ``room`` with the best of the ranking, best first; what does not fit is passed over.

    So is what no longer holds, where what is so now did not fit (R6), and what tells nothing. What
    belongs to finished steps of the plan comes last. ``held``: messages that are in the list;
    ``quoted_memories``: memories whose text is in the list.
    """
    return _Packing(materials, held, room, count, quoted_memories).packed()


class _Packing:
    def __init__(
        self,
        materials: Materials,
        held: Sequence[Candidate],
        room: int,
        count: Count,
        quoted_memories: Collection[Key],
    ) -> None:
        ranking = _finished_last(materials)
        shown = list(filter(materials.shown.has, (each.candidate for each in ranking)))
        known = [*held, *shown]
        self._materials = materials
        self._ranking = ranking
        self._room = self._free = room
        self._count = count
        self._speakers = _speakers(materials, held)
        self._selection = Selection(known, self._speakers)
        self._sayings = Sayings(materials.query, known)
        self._quoted_memories = quoted_memories
        self._gist = Highlighter(
            materials.query, [r.candidate.text for r in ranking], room, materials.spans, count
        )
        self._tokens: dict[Key, int] = {}
        self._opened: set[Hashable] = set()
        self._shortened: dict[Key, Ranked] = {}  # as they were
        self._kept: set[Key] = set()
        self._missed: set[Key] = set()
        self._misses = 0
        self._left_out: list[tuple[Ranked, LeftOut]] = []

    def packed(self) -> Packed:
        for each in self._ranking:
            why = self._consider(each)
            if why is not None:
                (self._missed if why is LeftOut.BUDGET else self._kept).add(each.key)
                self._left_out.append((each, why))
        taken = self._entries()
        if not self._shortened:
            return self._fit(taken)
        shortened, left_out = dict(self._shortened), [*self._left_out]
        self._restore()
        found = self._whole(self._entries())
        if found is None:
            # What is given back of one entry is not worth another.
            self._shortened, self._left_out = shortened, left_out
            found = self._fit(taken)
        return found

    def _entries(self) -> list[Ranked]:
        return [self._selection.entry(each) for each in self._selection]

    def _consider(self, each: Ranked) -> LeftOut | None:
        """Take one, or say why not."""
        one = each.candidate
        if self._free < _LEAST_ENTRY_TOKENS or self._misses >= _MISSES:
            # Most of a ranking is looked at no further.
            return LeftOut.PRESENT if self._selection.has(one) else LeftOut.BUDGET
        new = self._selection.new_in(one)
        if new is None or each.key in self._quoted_memories or self._sayings.repeated_by(one):
            return LeftOut.PRESENT
        if self._materials.is_trivial(each) or (new != one.text and is_all_courtesy(new)):
            return LeftOut.TRIVIAL
        # Half a chunk may say something else, and half a program does.
        gist = new if one.source in WRITTEN else self._shorter(one, new)
        entry = one._replace(text=gist)
        above, line = self._costs(entry)
        if above + line > self._free or lacks_newer(one, self._kept, self._missed):
            self._misses += 1
            return LeftOut.BUDGET
        if gist != new:
            self._shortened[each.key] = each
        self._take(each._replace(candidate=entry), above, line)
        return None

    def _shorter(self, one: Candidate, new: str) -> str:
        return self._gist.of(new, len(self._selection), self._voices(one, new))

    def _voices(self, one: Candidate, text: str) -> Voices:
        return self._speakers.in_memory(text) if one.source is Source.MEMORY else ()

    def _take(self, taken: Ranked, above: int, line: int) -> None:
        layout = _layout_of(taken.candidate)
        self._opened |= {layout.header, (layout.header, layout.group_of(taken.candidate))}
        self._tokens[taken.key] = line
        self._free -= above + line
        self._misses = 0
        self._settle(self._selection.take(taken))
        self._kept.add(taken.key)
        self._sayings.hear(taken.candidate)

    def _settle(self, change: Change) -> None:
        for gone in change.gone:
            self._free += self._tokens[gone.key]
            self._left_out.append((gone, LeftOut.PRESENT))
        for shorter in change.shorter:
            less = self._of_line(self._selection.entry(shorter).candidate)
            self._free += self._tokens[shorter.key] - less
            self._tokens[shorter.key] = less

    def _restore(self) -> None:
        """Give what is left of the room to what was shortened, the best first.

        Nothing is cut of a text but for want of room; courtesies are the last to come back.
        """
        for each in list(self._shortened.values()):
            one = each.candidate
            told = self._gist.but_courtesy(one.text, self._voices(one, one.text))
            if self._lengthen(each, told) > 0 and self._free >= _LEAST_ENTRY_TOKENS:
                self._lengthen_partly(each)
        for each in list(self._shortened.values()):
            self._lengthen(each, each.candidate.text)

    def _lengthen(self, each: Ranked, text: str) -> int:
        """Show so much of one, if there is room; return how many tokens it lacks."""
        if self._selection.taken(each.key) is None:
            return 0
        longer = each._replace(candidate=each.candidate._replace(text=text))
        more = self._of_line(self._selection.entry(longer).candidate) - self._tokens[each.key]
        if more > self._free:
            return more - self._free
        self._free -= more
        self._tokens[each.key] += more
        self._settle(self._selection.take(longer))
        if text == each.candidate.text:
            del self._shortened[each.key]
        return 0

    def _lengthen_partly(self, each: Ranked) -> None:
        """Show more sentences of one: those that there is room for, with their marks and labels."""
        taken = self._selection.taken(each.key)
        if taken is None:
            return
        one = self._selection.entry(each).candidate
        shown = self._selection.entry(taken).candidate.text
        most = self._tokens[each.key] + self._free

        def fits(text: str) -> bool:
            return self._of_line(one._replace(text=text)) <= most

        longer = self._gist.grown(one.text, shown, self._free, fits, self._voices(one, one.text))
        if longer != shown:
            self._lengthen(each, longer)

    def _costs(self, entry: Candidate) -> tuple[int, int]:
        """Tokens of what is new above it, and of its line; a guess if far over what is free."""
        if len(entry.text) > self._free * _LONGEST_TOKEN_CHARACTERS:
            return 0, self._free + 1
        layout, language = _layout_of(entry), self._materials.language
        above = 0
        if layout.header not in self._opened:
            above += MESSAGE_OVERHEAD + self._count(layout.header(language))
        if (layout.header, layout.group_of(entry)) not in self._opened:
            above += self._count(layout.heading(entry, language))
        return above, self._of_line(entry)

    def _of_line(self, entry: Candidate) -> int:
        return self._count(_layout_of(entry).line(entry, self._materials.language))

    def _fit(self, taken: list[Ranked]) -> Packed:
        """Count the messages as a whole, and drop the last entries until they do fit.

        Tokens of a text are not the sum of its pieces' tokens in every tokenizer, so packing by
        pieces may miss by a few. What no longer holds goes first: none of it may be left without
        what is so now.
        """
        while (found := self._whole(taken)) is None:
            last = max(
                range(len(taken)), key=lambda place: (bool(taken[place].candidate.newer), place)
            )
            self._left_out.append((taken.pop(last), LeftOut.BUDGET))
        return found

    def _whole(self, taken: Sequence[Ranked]) -> Packed | None:
        """Return entries as messages, unless these have more tokens than there is room for."""
        quotations, excerpts = self._block(DOCUMENTS, taken), self._block(MEMORIES, taken)
        if part_tokens((*quotations, *excerpts)) > self._room:
            return None
        return Packed(quotations, excerpts, tuple(self._left_out))

    def _block(self, layout: Layout, taken: Sequence[Ranked]) -> tuple[Part, ...]:
        of = {each.key: each for each in taken if _layout_of(each.candidate) is layout}
        if not of:
            return ()
        best_first = self._materials.best_first
        ordered = layout.in_order([each.candidate for each in of.values()], best_first=best_first)
        items = [
            self._item(of[one.source, one.key], text)
            for one, text in written(layout, ordered, self._materials.language)
        ]
        return (part_of(Role.SYSTEM, items, self._count),)

    def _item(self, ranked: Ranked, text: str) -> Item:
        shortened = ranked.key in self._shortened
        one = ranked.candidate
        return Item(_section_of(one), text, 0, one.seqs, ranked, shortened)


def _speakers(materials: Materials, held: Sequence[Candidate]) -> Speakers:
    """Return all who may have said what a memory is made of, as far as it can be told."""
    found = (*held, *(each.candidate for each in materials.ranked))
    names = {each.name for each in found if each.source is Source.CHAT}
    said = (message for each in materials.window for message in each.messages)
    return Speakers(names.union(each.name for each in said))


def _layout_of(candidate: Candidate) -> Layout:
    return MEMORIES if candidate.source in _SAID else DOCUMENTS


def _section_of(candidate: Candidate) -> Section:
    if candidate.source is Source.CHAT:
        return Section.HISTORY
    return Section(candidate.source.value)


def _finished_last(materials: Materials) -> list[Ranked]:
    """Return the ranking; what is all of finished steps of the plan behind the rest (R15)."""
    finished = set(materials.finished)
    if not finished:
        return list(materials.ranked)

    def over(each: Ranked) -> bool:
        return bool(each.candidate.seqs) and finished.issuperset(each.candidate.seqs)

    return sorted(materials.ranked, key=over)
