"""What was found is cut only as far as there is no room for it (R14)."""

from __future__ import annotations

import pytest

from memci.domain.context.budget import Count
from memci.domain.context.materials import Materials
from memci.domain.context.packing import Packed, pack
from memci.domain.language import Language
from memci.smallmodel.offline.sentences import sentence_spans
from tests.support.talk import in_order, message, words

# The fourth and later entries are cut.
LONG = (
    "Thanks! The Honda generator is cheaper, at nine hundred euros, than the turbine is. "
    "It needs petrol that somebody has to carry up the hill in cans. "
    "The noise of it can be heard at the hut below the ridge as well. I would not take it."
)


def packed(room: int, count: Count = words) -> Packed:
    found = in_order(*(message(seq, f"Ann sold canoe number {seq}.") for seq in (1, 2, 3)),
                     message(4, LONG))  # fmt: skip
    materials = Materials(None, "x", (), 0, found, Language.ENGLISH, spans=sentence_spans)
    return pack(materials, [], room, count)


def shown(room: int) -> tuple[str, bool]:
    items = [item for part in packed(room).parts for item in part.items if item.seqs == (4,)]
    assert len(items) == 1
    return items[0].text, items[0].shortened


def test_where_there_is_room_only_courtesy_goes() -> None:
    text, shortened = shown(300)
    assert text.endswith(f"{LONG.removeprefix('Thanks! ')}\n")
    assert shortened


@pytest.mark.parametrize("room", [80, 90])
def test_where_there_is_none_a_mark_says_so_and_what_denies_stays(room: int) -> None:
    text, shortened = shown(room)
    assert shortened
    assert "…" in text
    assert "I would not take it." in text
    assert packed(room).tokens <= room


def test_what_is_given_back_of_one_entry_costs_no_other() -> None:
    """Tokens of a text may be more than those of its lines together: here, up to one a line."""
    entries = [
        {seq for part in packed(room, lambda text: len(text) // 4).parts
         for item in part.items for seq in item.seqs}
        for room in range(40, 160)
    ]  # fmt: skip
    assert entries[0] < {1, 2, 3, 4}
    first = entries.index({1, 2, 3, 4})
    assert entries[first:] == [{1, 2, 3, 4}] * len(entries[first:])
