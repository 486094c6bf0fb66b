"""What a search finds by when it was said, whatever its words (R11)."""

from __future__ import annotations

from dataclasses import dataclass

from memci.domain.context.candidate import SAID, Candidate, Source
from memci.domain.context.query.stretch import Stretch


@dataclass(frozen=True, slots=True)
class Timed:
    """The times that are asked for.

    ``stretches``: a message of one of them is found, though no channel has found it. ``leading``:
    what was said in one of these goes before all else, since the question has nothing else to go
    by.
    """

    stretches: tuple[Stretch, ...] = ()
    leading: tuple[Stretch, ...] = ()

    def has(self, candidate: Candidate) -> bool:
        """Tell whether it is a message of a time that is asked for."""
        return candidate.source is Source.CHAT and _holds(self.stretches, candidate)

    def leads(self, candidate: Candidate) -> bool:
        """Tell whether it goes before all that is not of these times."""
        return candidate.source in SAID and _holds(self.leading, candidate)


def _holds(stretches: tuple[Stretch, ...], found: Candidate) -> bool:
    # Most questions name no time, and hundreds of candidates are looked at for each.
    return bool(stretches) and any(each.holds(found.at, found.session_id) for each in stretches)
