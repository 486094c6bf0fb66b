"""What kinds of nodes there are (memory-network.md)."""

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
