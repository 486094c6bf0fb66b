"""What kinds of nodes there are (memory-network.md).

What became of nodes that are gone (M14, M24, M25, M27).
"""

from __future__ import annotations

from enum import StrEnum


class NodeKind(StrEnum):
    """What a node stands for."""

    MEMORY = "memory"  # a cut of conversation
    ENTITY = "entity"  # a thing that conversations are about; its content is its name


class NodeType(StrEnum):
    """What a memory tells (R4)."""

    EPISODIC = "episodic"  # what happened
    SEMANTIC = "semantic"  # what is so
    PROCEDURAL = "procedural"  # how to


class NodeTier(StrEnum):
    """How long a memory is meant to last (R3, R5). Both decay alike; no tier deletes anything."""

    SHORT = "short"  # of its session, until that ends or its time is over; then it is judged anew
    LONG = "long"


class Fate(StrEnum):
    """Why a node is no longer there: what happened to it last."""

    FORGOTTEN = "forgotten"
    RESTORED = "restored"  # forgotten, and another node was made of the same
    MERGED = "merged"  # another stands for it and others (R5)
    ERASED = "erased"  # with messages that it was made of
    SWITCHED = "switched"  # with its network, whose place a rebuilt one took
