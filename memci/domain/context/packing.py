"""Packs retrieved entries into messages that fit a room (R13, R14)."""

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass

from memci.domain.context.materials import Materials
from memci.domain.context.message_list import Item, LeftOut, Part, Section, part_of, part_tokens
from memci.domain.context.rendering import DOCUMENTS, MEMORIES, Layout, write_entries
from memci.domain.search.candidate import WRITTEN, Candidate, Key, Source
from memci.domain.search.duplicates import Change, KnownMessages, Selection
from memci.domain.search.highlight import Highlighter, Speakers, is_all_courtesy
from memci.domain.search.ranking import Ranked
from memci.domain.search.supersession import lacks_newer
from memci.domain.token_counts import MESSAGE_OVERHEAD, Count
from memci.message import Role

# Fewer tokens fit no entry with its date; natural text has no longer tokens.
_LEAST_ENTRY_TOKENS = 6
_LONGEST_TOKEN_CHARACTERS = 8
# After these misses in a row the block is full: only a few tokens are left.
_MISSES = 60
# Texts go in whole; the best sentences of others fill what is left, in at least so many tokens.
_LEAST_PASSAGE_TOKENS = 12
# Of a text that takes more than half of the room, a part is quoted. For the best one, a quarter of
# the room is kept free, or what a passage needs.
_LONG_SHARE, _QUOTED_SHARE = 0.5, 0.25
_PASSAGE_TOKENS = 300
# The exponent of the tokens by which the score of an entry is divided: 0 packs by score alone, 1 by
# score for each token. Chosen on sets that are not in training. A date and a name around the text
# count, too.
_TOKENS_POWER = 0.8
_TOKENS_AROUND = 8
# Entries that are weighed by their tokens; the rest of a ranking seldom gets room.
_WEIGHED = 200


@dataclass(frozen=True, slots=True)
class Packed:
    """At most one message of documents and one of memories and earlier messages."""

    documents: tuple[Part, ...]
    memories: tuple[Part, ...]
    left_out: tuple[tuple[Ranked, LeftOut], ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """Both messages."""
        return *self.documents, *self.memories

    @property
    def tokens(self) -> int:
        """Tokens of the messages."""
        return part_tokens(self.parts)


class Packing:
    """Fills a room with the best entries of the ranking; entries that do not fit are skipped.

    Superseded entries are also skipped if their successor did not fit (R6), and so are trivial
    ones. Entries of finished plan steps come last (R15).
    """

    def __init__(
        self,
        materials: Materials,
        messages: Sequence[Candidate],
        room: int,
        count: Count,
        quoted_memories: Collection[Key] = (),
    ) -> None:
        """Take the room; ``messages`` and ``quoted_memories`` are in the list already."""
        ranking = _by_value(materials, room, count)
        shown = filter(materials.shown.has, (each.candidate for each in ranking))
        listed = [*messages, *shown]
        self._materials = materials
        self._ranking = ranking
        self._room = self._free = room
        self._count = count
        self._speakers = _speakers(materials, messages)
        self._selection = Selection(listed, self._speakers)
        self._known = KnownMessages(materials.query, listed)
        self._quoted_memories = quoted_memories
        texts = [each.candidate.text for each in ranking]
        self._highlighter = Highlighter(materials.query, texts, materials.spans, count)
        self._tokens: dict[Key, int] = {}
        self._opened: set[Hashable] = set()
        self._years: dict[int, Candidate] = {}
        self._shortened: set[Key] = set()
        self._chosen: set[Key] = set()
        self._no_room: set[Key] = set()
        self._misses = 0
        self._kept = 0
        self._fills = False  # whole texts have been taken
        self._left_out: list[tuple[Ranked, LeftOut]] = []

    def packed(self) -> Packed:
        """Return the messages of the entries that fit."""
        self._choose(self._ranking)
        self._fill()
        return self._fit([self._selection.entry(each) for each in self._selection])

    def _choose(self, ranking: Iterable[Ranked]) -> None:
        for each in ranking:
            why = self._consider(each)
            if why is not None:
                (self._no_room if why is LeftOut.BUDGET else self._chosen).add(each.key)
                self._left_out.append((each, why))

    def _fill(self) -> None:
        """Fill the room that is left with sentences of the best entries that did not fit."""
        self._free += self._kept
        if self._free < _LEAST_PASSAGE_TOKENS:
            return
        self._fills, self._misses = True, 0
        left = [each for each, why in self._left_out if why is LeftOut.BUDGET]
        self._left_out = [(each, why) for each, why in self._left_out if why is not LeftOut.BUDGET]
        self._no_room.clear()
        self._choose(left)

    def _consider(self, each: Ranked) -> LeftOut | None:
        one = each.candidate
        if self._free < _LEAST_ENTRY_TOKENS or self._misses >= _MISSES:
            # Most of a ranking ends here.
            return LeftOut.PRESENT if self._selection.has(one) else LeftOut.BUDGET
        new = self._selection.new_in(one)
        if new is None or each.key in self._quoted_memories or self._known.repeats(one):
            return LeftOut.PRESENT
        if self._materials.is_trivial(each) or (new != one.text and is_all_courtesy(new)):
            return LeftOut.TRIVIAL
        entry, (above, line) = self._fitting(one, new)
        if above + line > self._free or lacks_newer(one, self._chosen, self._no_room):
            self._misses += 1
            return LeftOut.BUDGET
        if entry.text != new:
            self._shortened.add(each.key)
        self._take(each._replace(candidate=entry), above, line)
        return None

    def _fitting(self, one: Candidate, new: str) -> tuple[Candidate, tuple[int, int]]:
        """Return an entry with its costs: whole, or if that is too long, its best sentences."""
        entry = one._replace(text=new)
        costs = self._costs(entry)
        # A part of a chunk or a program may mean something else.
        if sum(costs) <= self._free or one.source in WRITTEN:
            return entry, costs
        if not self._fills:
            # The tokens of a very long text are not counted.
            whole = max(costs[1], len(new) / _LONGEST_TOKEN_CHARACTERS)
            if not self._kept and whole > _LONG_SHARE * self._room:
                self._kept = min(self._free, _quoted_tokens(self._room))
                self._free -= self._kept
            return entry, costs
        above, _ = self._costs(entry._replace(text=""))
        limit = self._free - above - _LEAST_ENTRY_TOKENS
        if limit < _LEAST_PASSAGE_TOKENS:
            return entry, costs
        lines = self._speakers.in_memory(new) if one.source is Source.MEMORY else ()
        passage = one.passage if new == one.text else None
        for tokens in (limit, limit * 3 // 4):  # marks and labels take some, too
            entry = entry._replace(text=self._highlighter.cut(new, tokens, lines, passage))
            costs = self._costs(entry)
            if sum(costs) <= self._free:
                break
        return entry, costs

    def _take(self, taken: Ranked, above: int, line: int) -> None:
        layout = _layout_of(taken.candidate)
        self._opened |= {layout, (layout, layout.group_of(taken.candidate))}
        if layout is MEMORIES:
            self._years.setdefault(taken.candidate.at.year, taken.candidate)
        self._tokens[taken.key] = line
        self._free -= above + line
        self._misses = 0
        self._apply_change(self._selection.take(taken))
        self._chosen.add(taken.key)
        self._known.add(taken.candidate)

    def _apply_change(self, change: Change) -> None:
        for removed in change.removed:
            self._free += self._tokens[removed.key]
            self._left_out.append((removed, LeftOut.PRESENT))
        for shorter in change.shorter:
            tokens = self._line_tokens(self._selection.entry(shorter).candidate)
            self._free += self._tokens[shorter.key] - tokens
            self._tokens[shorter.key] = tokens

    def _costs(self, entry: Candidate) -> tuple[int, int]:
        """Return the tokens of an entry's new headings and of its line; a guess if far too long."""
        if len(entry.text) > self._free * _LONGEST_TOKEN_CHARACTERS:
            return 0, self._free + 1
        layout, language = _layout_of(entry), self._materials.language
        above = 0
        if layout not in self._opened:
            above += MESSAGE_OVERHEAD + self._count(layout.header[language])
        if (layout, layout.group_of(entry)) not in self._opened:
            # Days in the order of time name each year once.
            before = None if self._materials.best_first else self._years.get(entry.at.year)
            above += self._count(layout.heading(entry, language, before))
        return above, self._line_tokens(entry)

    def _line_tokens(self, entry: Candidate) -> int:
        return self._count(_layout_of(entry).line(entry, self._materials.language))

    def _fit(self, taken: list[Ranked]) -> Packed:
        """Count the messages as a whole, and drop the last entries until they fit.

        Some tokenizers do not add up over pieces. Superseded entries go first: they need their
        successor.
        """
        while (packed := self._within_room(taken)) is None:
            last = max(
                range(len(taken)), key=lambda place: (bool(taken[place].candidate.newer), place)
            )
            self._left_out.append((taken.pop(last), LeftOut.BUDGET))
        return packed

    def _within_room(self, taken: Sequence[Ranked]) -> Packed | None:
        documents, memories = self._block(DOCUMENTS, taken), self._block(MEMORIES, taken)
        if part_tokens((*documents, *memories)) > self._room:
            return None
        places = {each.key: place for place, each in enumerate(self._materials.ranked)}
        left_out = sorted(self._left_out, key=lambda entry: places[entry[0].key])
        return Packed(documents, memories, tuple(left_out))

    def _block(self, layout: Layout, taken: Sequence[Ranked]) -> tuple[Part, ...]:
        entries = {each.key: each for each in taken if _layout_of(each.candidate) is layout}
        if not entries:
            return ()
        best_first = self._materials.best_first
        candidates = [each.candidate for each in entries.values()]
        ordered = layout.in_order(candidates, best_first=best_first)
        items = [
            Item(
                Section.HISTORY if one.source is Source.CHAT else Section(one.source.value),
                text,
                seqs=one.seqs,
                ranked=entries[one.id],
                shortened=one.id in self._shortened,
            )
            for one, text in write_entries(layout, ordered, self._materials.language)
        ]
        return (part_of(Role.SYSTEM, items, self._count),)


def _speakers(materials: Materials, messages: Sequence[Candidate]) -> Speakers:
    found = (*messages, *(each.candidate for each in materials.ranked))
    names = {each.name for each in found if each.source is Source.CHAT}
    window = (message for each in materials.window for message in each.messages)
    return Speakers(names.union(each.name for each in window))


def _layout_of(candidate: Candidate) -> Layout:
    return MEMORIES if candidate.source in {Source.CHAT, Source.MEMORY} else DOCUMENTS


def _quoted_tokens(room: int) -> int:
    return min(int(_QUOTED_SHARE * room), _PASSAGE_TOKENS)


def _by_value(materials: Materials, room: int, count: Count) -> list[Ranked]:
    """Return the ranking by score for its tokens; entries of finished plan steps come last.

    An outdated entry stays behind those that supersede it. So does any entry behind one of no
    higher score: a rule has put it there.
    """
    finished = set(materials.finished)
    longest = room * _LONGEST_TOKEN_CHARACTERS  # of a text that could fit
    values: dict[Key, float] = {}
    score = value = math.inf
    for each in materials.ranked[:_WEIGHED]:
        tokens = count(each.candidate.text[:longest])
        if not values and tokens > _LONG_SHARE * room:  # a part of the best entry is quoted
            tokens = _quoted_tokens(room)
        own = min(score, each.score) / (_TOKENS_AROUND + tokens) ** _TOKENS_POWER
        value = min(value, own) if each.score >= score else own
        score = min(score, each.score)
        newer = [values[key] for key in each.candidate.newer if key in values]
        values[each.key] = value = min([value, *newer])

    def order(placed: tuple[int, Ranked]) -> tuple[bool, float, int]:
        place, each = placed
        seqs = each.candidate.seqs
        done = bool(finished) and bool(seqs) and finished.issuperset(seqs)
        return done, -values.get(each.key, -1.0), place

    return [each for _, each in sorted(enumerate(materials.ranked), key=order)]
