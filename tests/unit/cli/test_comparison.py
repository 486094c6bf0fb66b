"""What is said of how far two networks are apart."""

from __future__ import annotations

import pytest

from memci.cli.commands.rebuild import largest_differences
from memci.schemas.network_editions import ComparisonAnswer


@pytest.mark.parametrize(
    ("memories", "links", "told"),
    [
        (0, 0, "the networks share no memory"),
        (0, 3, "the networks share no memory"),
        (2, 0, "largest difference: 0.2 in importance; no link in common"),
        (2, 3, "largest difference: 0.125 in strength, 0.2 in importance"),
    ],
)
def test_differences_are_told_of_what_both_have(memories: int, links: int, told: str) -> None:
    found = ComparisonAnswer.model_construct(
        same_memories=memories,
        same_links=links,
        largest_strength_difference=0.125,
        largest_importance_difference=0.2,
    )
    assert largest_differences(found) == told
