"""How far a tree has come: what settling goes on from (P6, P7)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """Counters of a tree.

    ``settled_seq``: pages hold all messages up to it. ``interactions`` were begun by then.
    ``next_place`` is behind all siblings. ``archive`` is the index of the Contents Page, once
    there is one (P7). ``notice``: what the last change collapsed (P13).
    """

    settled_seq: int = 0
    interactions: int = 0
    next_place: int = 1
    archive: str | None = None
    notice: tuple[str, ...] = ()
