from __future__ import annotations

import pytest

from memci.domain.memory.compression_scan import (
    Compress,
    Forgetting,
    Forgotten,
    Protected,
    ScannedNode,
    Unchanged,
    Verdict,
    judge,
    scan,
)
from memci.domain.memory.node import NodeKind
from memci.domain.memory.parameters import MemoryParameters

MEMORY = ScannedNode(1, NodeKind.MEMORY, length=100, original_length=200)
ENTITY = ScannedNode(2, NodeKind.ENTITY, length=5, original_length=5)
DEFAULT = MemoryParameters()


@pytest.mark.parametrize(
    ("importance", "verdict"),
    [
        (0.0, Forgotten(Forgetting.NO_IMPORTANCE)),
        (0.024, Forgotten(Forgetting.TOO_SHORT)),  # a target of 4 characters
        (0.025, Compress(5)),
        (0.45, Compress(90)),  # a cut of just a tenth
        (0.46, Unchanged()),
        (0.999, Unchanged()),
        (1.0, Unchanged()),
        (7.5, Unchanged()),
    ],
)
def test_importance_decides_the_verdict(importance: float, verdict: Verdict) -> None:
    assert judge(MEMORY, importance, DEFAULT) == verdict


def test_without_min_shrink_any_cut_is_made() -> None:
    eager = MemoryParameters(min_shrink=0)
    assert judge(MEMORY, 0.495, eager) == Compress(99)
    assert judge(MEMORY, 0.5, eager) == Unchanged()


def test_an_entity_is_forgotten_only_without_any_importance() -> None:
    assert judge(ENTITY, 0.01, DEFAULT) == Unchanged()
    assert judge(ENTITY, 0.0, DEFAULT) == Forgotten(Forgetting.NO_IMPORTANCE)


def test_a_focus_point_is_protected_whatever_its_importance() -> None:
    assert list(scan([ENTITY], {}, {2}, DEFAULT)) == [(ENTITY, Protected())]


def test_a_node_forgotten_in_the_scan_does_not_support_later_nodes() -> None:
    supported = ScannedNode(3, NodeKind.MEMORY, 100, 100)
    supports = {3: {1: 0.9}}
    found = dict(scan([MEMORY, supported], supports, set(), DEFAULT))
    assert found[supported] == Forgotten(Forgetting.NO_IMPORTANCE)
    found = dict(scan([supported, MEMORY], supports, set(), DEFAULT))
    assert found[supported] == Compress(90)
