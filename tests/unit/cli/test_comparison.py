"""The text about the differences of two networks."""

from __future__ import annotations

import pytest

from memci.cli.commands.rebuild import largest_differences
from memci.schemas.network_editions import ComparisonAnswer


@pytest.mark.parametrize(
    ("memories", "links", "expected"),
    [
        (0, 0, "the networks share no memory"),
        (0, 3, "the networks share no memory"),
        (2, 0, "largest difference: 0.2 in importance; no link in common"),
        (2, 3, "largest difference: 0.125 in strength, 0.2 in importance"),
    ],
)
def test_differences_are_those_of_common_nodes(memories: int, links: int, expected: str) -> None:
    answer = ComparisonAnswer.model_construct(
        same_memories=memories,
        same_links=links,
        largest_strength_difference=0.125,
        largest_importance_difference=0.2,
    )
    assert largest_differences(answer) == expected
