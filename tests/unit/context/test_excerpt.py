"""How retrieved things are written (R13)."""

from __future__ import annotations

from memci.domain.context.excerpt import block
from memci.domain.language import Language
from tests.support.talk import memory, message


def test_what_a_memory_still_says_stands_after_its_message() -> None:
    rest = memory(1, 7, 8, text="Bring boots.")
    written = block([rest, message(7, "We sail.")], Language.ENGLISH)
    assert [one.text for one, _ in written] == ["We sail.", "Bring boots."]
