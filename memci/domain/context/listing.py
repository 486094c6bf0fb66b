"""Blocks of the page tree in a list: the Contents Page and what is open (R13)."""

from __future__ import annotations

from memci.domain.context.budget import Count
from memci.domain.context.parts import Item, Part, Section, part_of, part_tokens
from memci.domain.message import Role

_CEILING = 0.2  # of the room, each


def listing(section: Section, text: str | None, room: int, count: Count) -> tuple[Part, ...]:
    """Return a block as a message: as many of its lines as a fifth of ``room`` holds.

    A heading alone is none.
    """
    lines = (text or "").splitlines(keepends=True)
    ceiling = int(_CEILING * room)
    while sum(bool(each.strip()) for each in lines) > 1 or (lines and len(lines) == 1):
        part = part_of(Role.SYSTEM, [Item(section, "".join(lines), 0)], count)
        if part_tokens([part]) <= ceiling:
            return (part,)
        lines = lines[: len(lines) - 1 - len(lines) // 8]
    return ()
