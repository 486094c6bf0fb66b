"""What lies in one folder, in the order of its places (P1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Siblings:
    """Indexes of pages by their places; they are sorted when somebody looks, not as they come.

    However many come or go in between, it is sorted once.
    """

    _places: dict[str, int] = field(default_factory=dict)
    _last: int = -1  # no place is behind it
    _in_order: bool = True

    def put(self, index: str, place: int) -> None:
        """Take a page in, or give it another place."""
        self._places.pop(index, None)
        self._places[index] = place
        self._in_order = self._in_order and place >= self._last
        self._last = max(self._last, place)

    def drop(self, index: str) -> None:
        """Let a page go, if it is here."""
        self._places.pop(index, None)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        """Yield them in order."""
        if not self._in_order:
            self._places = dict(sorted(self._places.items(), key=lambda each: each[1]))
            self._last, self._in_order = next(reversed(self._places.values()), -1), True
        return iter(self._places)
