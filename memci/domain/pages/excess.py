"""What a window has no room for, and what it says of that (P13)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from memci.domain.pages.block import Excess
from memci.domain.pages.collapse import collapse_to
from memci.domain.pages.render import Rendering
from memci.domain.pages.rules import PageRules

_TRIES = 4


def say_excess(rendering: Rendering, most: int) -> int:
    """Have the window say by how many tokens it is over so many, that line included.

    Returns how many those are; 0: it fits.
    """
    rendering.excess = None
    over = rendering.tokens() - most
    if over <= 0:
        return 0
    for _ in range(_TRIES):  # the number counts, too
        rendering.excess = Excess(over, most)
        over = rendering.tokens() - most
        if over == rendering.excess.over:
            break
    return over


class Room(NamedTuple):
    """Tokens that a page takes when it is opened, that can be free for it, and the limit."""

    takes: int
    free: int
    most: int


def room_for(
    rendering: Rendering, rules: PageRules, index: str, kept: Collection[str] = ()
) -> Room:
    """Tell what stands in the way of a page. The tree must be thrown away afterwards.

    The line that says what was hidden for it takes its part of what is free.
    """
    rendering.excess = None
    tree, notice = rendering.tree, rendering.tree.clock.notice
    page = tree[index]
    rendering.put(replace(page, expanded=False, pinned_by=None))
    collapse_to(rendering, 0, kept)
    rendering.put(replace(tree[index], pinned_by=page.pinned_by))  # its line says so
    tree.clock = replace(tree.clock, notice=max(notice, tree.clock.notice, key=len))
    least = rendering.tokens()
    most = rules.window_max_tokens
    segment = tree.segment_of(page)
    free = most - least, most
    if segment.max_tokens:
        most = segment.max_tokens
        free = min(free, (most - rendering.tokens_of(segment), most))
    for each in (page, *tree.ancestors(index)):
        rendering.put(replace(tree[each.index], expanded=True))
    return Room(rendering.tokens() - least, max(0, free[0]), free[1])
