"""What became of nodes that are gone (M14, M24, M25, M27)."""

from __future__ import annotations

from enum import StrEnum


class Fate(StrEnum):
    """Why a node is no longer there: what happened to it last."""

    FORGOTTEN = "forgotten"
    RESTORED = "restored"  # forgotten, and another node was made of the same
    MERGED = "merged"  # another stands for it and others (R5)
    ERASED = "erased"  # with messages that it was made of
    SWITCHED = "switched"  # with its network, whose place a rebuilt one took
