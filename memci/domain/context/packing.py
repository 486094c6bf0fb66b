"""Packs retrieved entries into messages that fit a room (R13, R14)."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

from memci.domain.context.materials import Materials
from memci.domain.context.message_list import Item, LeftOut, Part, Section, part_of, part_tokens
from memci.domain.context.rendering import DOCUMENTS, MEMORIES, Layout, write_entries
from memci.domain.search.candidate import WRITTEN, Candidate, Key, Source
from memci.domain.search.duplicates import Change, KnownMessages, Selection
from memci.domain.search.highlight import Highlighter, SpeakerLines, Speakers, is_all_courtesy
from memci.domain.search.ranking import Ranked
from memci.domain.search.supersession import lacks_newer
from memci.domain.token_counts import MESSAGE_OVERHEAD, Count
from memci.message import Role

# Fewer tokens fit no entry with its date; natural text has no longer tokens.
_LEAST_ENTRY_TOKENS = 6
_LONGEST_TOKEN_CHARACTERS = 8
# After these misses in a row the block is full: only a few tokens are left.
_MISSES = 12


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


def pack(
    materials: Materials,
    messages: Sequence[Candidate],
    room: int,
    count: Count,
    *,
    quoted_memories: Collection[Key] = (),
) -> Packed:
    """Fill ``room`` with the best entries of the ranking; entries that do not fit are skipped.

    Superseded entries are also skipped if their successor did not fit (R6), and so are trivial
    ones. Entries of finished plan steps come last (R15). ``messages`` and ``quoted_memories`` are
    in the list already.
    """
    return _Packing(materials, messages, room, count, quoted_memories).packed()


class _Packing:
    def __init__(
        self,
        materials: Materials,
        messages: Sequence[Candidate],
        room: int,
        count: Count,
        quoted_memories: Collection[Key],
    ) -> None:
        ranking = _finished_last(materials)
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
        self._highlighter = Highlighter(materials.query, texts, room, materials.spans, count)
        self._tokens: dict[Key, int] = {}
        self._opened: set[Hashable] = set()
        self._shortened: dict[Key, Ranked] = {}  # unshortened
        self._chosen: set[Key] = set()
        self._no_room: set[Key] = set()
        self._misses = 0
        self._left_out: list[tuple[Ranked, LeftOut]] = []

    def packed(self) -> Packed:
        for each in self._ranking:
            why = self._consider(each)
            if why is not None:
                (self._no_room if why is LeftOut.BUDGET else self._chosen).add(each.key)
                self._left_out.append((each, why))
        taken = self._entries()
        if not self._shortened:
            return self._fit(taken)
        shortened, left_out = dict(self._shortened), [*self._left_out]
        self._restore()
        packed = self._within_room(self._entries())
        if packed is None:
            # The restored text of an entry may not displace another entry.
            self._shortened, self._left_out = shortened, left_out
            packed = self._fit(taken)
        return packed

    def _entries(self) -> list[Ranked]:
        return [self._selection.entry(each) for each in self._selection]

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
        # A part of a chunk or a program may mean something else.
        cut = new
        if one.source not in WRITTEN:
            cut = self._highlighter.cut(new, len(self._selection), self._speaker_lines(one, new))
        entry = one._replace(text=cut)
        above, line = self._costs(entry)
        if above + line > self._free or lacks_newer(one, self._chosen, self._no_room):
            self._misses += 1
            return LeftOut.BUDGET
        if cut != new:
            self._shortened[each.key] = each
        self._take(each._replace(candidate=entry), above, line)
        return None

    def _speaker_lines(self, one: Candidate, text: str) -> SpeakerLines:
        return self._speakers.in_memory(text) if one.source is Source.MEMORY else ()

    def _take(self, taken: Ranked, above: int, line: int) -> None:
        layout = _layout_of(taken.candidate)
        self._opened |= {layout, (layout, layout.group_of(taken.candidate))}
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

    def _restore(self) -> None:
        """Lengthen shortened entries with the remaining room, best first; courtesy comes last."""
        for each in list(self._shortened.values()):
            one = each.candidate
            text = self._highlighter.without_courtesy(one.text, self._speaker_lines(one, one.text))
            if self._lengthen(each, text) > 0 and self._free >= _LEAST_ENTRY_TOKENS:
                self._lengthen_partly(each)
        for each in list(self._shortened.values()):
            self._lengthen(each, each.candidate.text)

    def _lengthen(self, each: Ranked, text: str) -> int:
        """Show this text of an entry if it fits; return the number of missing tokens."""
        if self._selection.taken(each.key) is None:
            return 0
        longer = each._replace(candidate=each.candidate._replace(text=text))
        tokens = self._line_tokens(self._selection.entry(longer).candidate)
        more = tokens - self._tokens[each.key]
        if more > self._free:
            return more - self._free
        self._free -= more
        self._tokens[each.key] = tokens
        self._apply_change(self._selection.take(longer))
        if text == each.candidate.text:
            del self._shortened[each.key]
        return 0

    def _lengthen_partly(self, each: Ranked) -> None:
        taken = self._selection.taken(each.key)
        if taken is None:
            return
        one = self._selection.entry(each).candidate
        shown = self._selection.entry(taken).candidate.text
        most = self._tokens[each.key] + self._free

        def fits(text: str) -> bool:
            return self._line_tokens(one._replace(text=text)) <= most

        lines = self._speaker_lines(one, one.text)
        longer = self._highlighter.grown(one.text, shown, self._free, fits, lines)
        if longer != shown:
            self._lengthen(each, longer)

    def _costs(self, entry: Candidate) -> tuple[int, int]:
        """Return the tokens of an entry's new headings and of its line; a guess if far too long."""
        if len(entry.text) > self._free * _LONGEST_TOKEN_CHARACTERS:
            return 0, self._free + 1
        layout, language = _layout_of(entry), self._materials.language
        above = 0
        if layout not in self._opened:
            above += MESSAGE_OVERHEAD + self._count(layout.header(language))
        if (layout, layout.group_of(entry)) not in self._opened:
            above += self._count(layout.heading(entry, language))
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
        return Packed(documents, memories, tuple(self._left_out))

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
                ranked=entries[one.source, one.key],
                shortened=(one.source, one.key) in self._shortened,
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


def _finished_last(materials: Materials) -> list[Ranked]:
    finished = set(materials.finished)
    if not finished:
        return list(materials.ranked)

    def is_finished(each: Ranked) -> bool:
        return bool(each.candidate.seqs) and finished.issuperset(each.candidate.seqs)

    return sorted(materials.ranked, key=is_finished)
