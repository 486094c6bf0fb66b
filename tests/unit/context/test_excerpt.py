"""How retrieved things are written (R13)."""

from __future__ import annotations

from memci.domain.context.excerpt import in_order
from tests.support.talk import memory, message


def test_what_a_memory_still_says_stands_after_its_message() -> None:
    rest = memory(1, 7, 8, text="Bring boots.")
    ordered = in_order([rest, message(7, "We sail.")])
    assert [one.text for one in ordered] == ["We sail.", "Bring boots."]
