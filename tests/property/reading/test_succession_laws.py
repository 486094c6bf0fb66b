"""Laws of superseded texts in a context (R6, R14)."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.context.materials import Materials
from memci.domain.context.packing import Packing
from memci.domain.search.candidate import Source
from memci.domain.search.supersession import leaders_first
from memci.language.detection import Language
from tests.support.examples import examples
from tests.support.talk import TEXTS, in_order, message, words

MAY = datetime(2026, 5, 5, tzinfo=UTC)


@settings(max_examples=examples(500))
@given(st.data())
def test_a_superseded_text_is_never_packed_without_the_newer_one(data: st.DataObject):
    """The budget is kept and newer texts are packed first, whatever their lengths (R14)."""
    texts = data.draw(st.lists(TEXTS, min_size=2, max_size=6))
    found = in_order(*(message(seq, text) for seq, text in enumerate(texts, start=1)))
    pairs = data.draw(st.dictionaries(st.integers(1, len(texts)), st.integers(7, 9), max_size=4))
    replacements = {seq: message(100 + new, f"new {new}" * new) for seq, new in pairs.items()}
    marked = [
        each._replace(
            candidate=each.candidate._replace(
                until=MAY, newer=((Source.CHAT, replacements[each.candidate.key].key),)
            ),
        )
        if each.candidate.key in replacements
        else each
        for each in found
    ]
    leaders = {(Source.CHAT, seq): [new] for seq, new in replacements.items()}
    room = data.draw(st.integers(0, 160))
    materials = Materials(None, None, (), 0, leaders_first(marked, leaders), Language.ENGLISH)
    packed = Packing(materials, [], room, words).packed()
    assert packed.tokens <= room
    taken = {item.ranked.candidate.key for part in packed.parts for item in part.items
             if item.ranked is not None}  # fmt: skip
    assert all(new.key in taken for seq, new in replacements.items() if seq in taken)
    assert len(taken) + len(packed.left_out) == len(texts) + len(set(pairs.values()))
