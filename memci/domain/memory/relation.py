"""Names of relations that rules give; the others come from the small model (M6)."""

from __future__ import annotations

from dataclasses import dataclass

from memci.domain.language import Language

# A node that has lost more than this of its content no longer bears out what its links say.
_FADED = 0.2


@dataclass(frozen=True, slots=True)
class RelationNames:
    """What the fixed relations are called in one language (M7, M8)."""

    next: str
    previous: str
    related: str  # also the generic one


_NAMES = {
    Language.ENGLISH: RelationNames("next", "previous", "related"),
    Language.CHINESE: RelationNames("下文", "上文", "相关"),
}


def relation_names(language: Language) -> RelationNames:
    """Return the names in a language."""
    return _NAMES[language]


def is_generic(length: int, original_length: int) -> bool:
    """Tell whether links at a node of ``length`` characters get the generic name (M12.6)."""
    return length < _FADED * original_length
