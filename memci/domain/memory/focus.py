"""The focus list: what an agent is talking about, least recently mentioned first (M5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from memci.domain.memory.entity import Entity

Focus: TypeAlias = tuple[Entity, ...]


def mention(focus: Focus, entities: Sequence[Entity], limit: int) -> Focus:
    """Return the list after ``entities`` (best first) were mentioned together.

    The best becomes the newest; the least recently mentioned give way when there are more than
    ``limit``. Of more entities than ``limit``, the best are taken.
    """
    mentioned = list(dict.fromkeys(entities))[:limit]
    kept = [each for each in focus if each not in mentioned]
    return tuple((kept + mentioned[::-1])[-limit:]) if limit else ()
