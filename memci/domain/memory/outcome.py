"""What a batch of scans did, ready to be written in one transaction (M12.2 to M12.7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from memci.domain.language import Language
from memci.domain.memory.scan import Forgetting


@dataclass(frozen=True, slots=True)
class NodeText:
    """What a node says, as it is shown and searched."""

    content: str
    phrase: str
    keywords: tuple[str, ...]
    language: Language


@dataclass(frozen=True, slots=True)
class Compressed:
    """A node that says the same in fewer characters; ``before`` is how many it had."""

    id: int
    text: NodeText
    before: int
    generic: bool  # so little is left that the relations at it get the generic name


@dataclass
class Outcome:
    """Nodes by what became of them; those of none of these were not scanned.

    ``kept`` keep their content, those that the pass gave up on among them. ``waiting`` maps nodes
    whose model call failed to when it is tried again.
    """

    protected: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    given_up: list[int] = field(default_factory=list)
    compressed: list[Compressed] = field(default_factory=list)
    forgotten: dict[int, Forgetting] = field(default_factory=dict)
    waiting: dict[int, datetime] = field(default_factory=dict)

    @property
    def fading(self) -> list[int]:
        """Nodes that stay and whose unlocked links decay."""
        return [*self.kept, *(each.id for each in self.compressed)]

    @property
    def scanned(self) -> int:
        """How many nodes the pass is done with."""
        return len(self.protected) + len(self.fading) + len(self.forgotten)
