"""Snapshots turned into what each memory was over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from memci.domain.memory.fate import Fate
from memci.shapes.network import FadingMemory, FadingPass, Strengths


class _Sight(NamedTuple):
    importance: float
    length: int


class Fading:
    """Memories over the passes that were added, in their order."""

    def __init__(self) -> None:
        """Begin without a pass."""
        self.passes: list[FadingPass] = []
        # By memory and by place in ``passes``.
        self.memories: dict[int, dict[int, _Sight]] = {}
        self._original_lengths: dict[int, int] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a snapshot as it was read."""
        entities, place = set(row["entities"]), len(self.passes)
        memories = 0
        for node_id, length, original, importance in zip(
            row["node_ids"], row["lengths"], row["original_lengths"], row["importances"],
            strict=True,
        ):  # fmt: skip
            if node_id not in entities:
                memories += 1
                self.memories.setdefault(node_id, {})[place] = _Sight(importance, length)
                self._original_lengths[node_id] = original
        strengths = Strengths(
            links=row["links"], dangling=row["dangling"], quantiles=row["quantiles"] or []
        )
        self.passes.append(
            FadingPass(
                number=row["number"], taken_at=row["taken_at"], memories=memories,
                strengths=strengths,
            )
        )  # fmt: skip

    def made_after(self, number: int) -> list[int]:
        """Return the memories that were seen after this pass, by id."""
        places = {place for place, each in enumerate(self.passes) if each.number > number}
        return sorted(node for node, seen in self.memories.items() if places & seen.keys())

    def memory(self, node_id: int, phrase: str | None, gone: Fate | None) -> FadingMemory:
        """Return one memory over all passes."""
        sights = self.memories[node_id]
        seen = [sights.get(place) for place in range(len(self.passes))]
        return FadingMemory(
            id=node_id,
            phrase=phrase,
            original_length=self._original_lengths[node_id],
            forgotten=gone is Fate.FORGOTTEN,
            gone=gone,
            importances=[each and each.importance for each in seen],
            lengths=[each and each.length for each in seen],
        )


def fading_of(rows: Iterable[Mapping[str, Any]]) -> Fading:
    """Return what memories were over these snapshots, the oldest first."""
    fading = Fading()
    for row in rows:
        fading.add(row)
    return fading
