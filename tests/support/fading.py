"""Memories that the next pass shortens, for tests of compression."""

from __future__ import annotations

from memci.domain.memory.parameters import MemoryParameters
from tests.support.network import AgentUnderTest

LONG = "when we met for dinner we spoke of music. It was a long winter and there was nothing else"
NO_FOCUS = MemoryParameters(focus_limit=0, related_links=0)


def forget_focus(ada: AgentUnderTest) -> None:
    ada.execute("DELETE FROM focus WHERE agent_id = %s")


def remember_with_half_a_link(ada: AgentUnderTest) -> int:
    """Make a memory with one link of strength 0.5 to an entity, and return its id."""
    ada.remember(f"A [Grace] {LONG}")
    forget_focus(ada)
    ada.execute("UPDATE link SET strength = 0.5 WHERE agent_id = %s")
    return ada.nodes("memory")[0].id


def remember_shrinking_texts(ada: AgentUnderTest, names: str = "ABCDEF") -> None:
    """Make memories with one link of strength 0.5 each, so that a pass compresses them."""
    ada.parameters = NO_FOCUS
    ada.remember(*(f"{name} {LONG}" for name in names))
    ada.execute("UPDATE link SET strength = 0.25 WHERE agent_id = %s")
    ada.execute("UPDATE lane SET compress_done = 0, compress_req = 1 WHERE agent_id = %s")
