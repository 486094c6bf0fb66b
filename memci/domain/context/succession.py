"""What holds now before what it supersedes (R6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memci.domain.context.candidate import Candidate, Source
from memci.domain.context.fusion import Ranked


def newer_first(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return a ranking in which no superseded memory stands before the one that supersedes it.

    Nor does a message that says what no longer holds. The newer one moves up to its place and takes
    over its score; nothing moves down for it but by one, since a memory that is superseded in one
    thing may tell others that still hold.
    """
    memories = {r.candidate.key: r for r in ranked if r.candidate.source is Source.MEMORY}
    outdated = {
        seq: each.candidate.successor
        for each in memories.values()
        if each.candidate.successor is not None
        for seq in each.candidate.outdated
    }
    ordered: dict[tuple[Source, int], Ranked] = {}
    for each in ranked:
        for newer in reversed(list(_line(each, memories, outdated))):
            if newer.key not in ordered:
                ordered[newer.key] = replace(newer, score=max(newer.score, each.score))
    return list(ordered.values())


def _line(
    ranked: Ranked, memories: dict[int, Ranked], outdated: dict[int, int]
) -> Iterator[Ranked]:
    """Yield it and what supersedes it, one after the other, as far as it was found."""
    passed = set()
    current: Ranked | None = ranked
    while current is not None and current.key not in passed:
        yield current
        passed.add(current.key)
        current = memories.get(_successor(current.candidate, outdated) or 0)
        if current is not None and ranked.candidate.key in _messages(current, ranked):
            return


def _messages(newer: Ranked, ranked: Ranked) -> tuple[int, ...]:
    """Return the messages of the newer one, where what it supersedes is a message."""
    return newer.candidate.seqs if ranked.candidate.source is Source.CHAT else ()


def _successor(candidate: Candidate, outdated: dict[int, int]) -> int | None:
    if candidate.source is Source.MEMORY:
        return candidate.successor
    return outdated.get(candidate.key)
