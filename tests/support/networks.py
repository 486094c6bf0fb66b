"""Answers of network reads, built by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from memci.schemas.agents import TrailEvent
from memci.schemas.network import (
    FadingAnswer,
    FadingMemory,
    FadingPass,
    LeftOut,
    NetworkAnswer,
    NetworkLink,
    NetworkNode,
    RemovalReason,
    Strengths,
)

THEN = datetime(2026, 3, 1, tzinfo=UTC)


def node(node_id: int, phrase: str | None = "a phrase", **changed: Any) -> NetworkNode:
    was_forgotten = phrase is None
    event = TrailEvent(event="forgotten", pass_number=7, details={"reason": "slot"}, at=THEN)
    values = {
        "id": node_id, "kind": "memory", "phrase": phrase, "importance": 1.0, "length": 50,
        "original_length": 100, "focus": False, "forgotten": was_forgotten,
        "removal_reason": RemovalReason.FORGOTTEN if was_forgotten else None,
        "last_event": event if was_forgotten else None,
    }  # fmt: skip
    return NetworkNode(**{**values, **changed})


def entity(node_id: int, name: str, **changed: Any) -> NetworkNode:
    return node(node_id, name, **{"kind": "entity", "length": len(name), **changed})


def link(source: int, target: int, strength: float = 0.5, **changed: Any) -> NetworkLink:
    values = {"dangling": False, "relation": "about", "hint": "a hint"}
    return NetworkLink(source=source, target=target, strength=strength, **{**values, **changed})


def network(
    nodes: list[NetworkNode], links: list[NetworkLink], left_out: tuple[int, int] = (0, 0)
) -> NetworkAnswer:
    return NetworkAnswer(
        agent_id="ada", pass_number=None, taken_at=None, nodes=nodes, links=links,
        focus=[each.id for each in nodes if each.focus],
        left_out=LeftOut(nodes=left_out[0], links=left_out[1]),
    )  # fmt: skip


def fading(memories: int, passes: int, phrase: str = "a phrase") -> FadingAnswer:
    """Memories that shrink in turn; every third is forgotten at the end."""

    def memory(place: int) -> FadingMemory:
        forgotten = place % 3 == 2
        until = max(1, passes - 1) if forgotten else passes
        share = [max(0.0, 1 - at / (place + 2)) if at < until else None for at in range(passes)]
        return FadingMemory(
            id=place + 1, phrase=None if forgotten else phrase, original_length=100,
            forgotten=forgotten, removal_reason=RemovalReason.FORGOTTEN if forgotten else None,
            importances=share,
            lengths=[None if each is None else int(each * 100) for each in share],
        )  # fmt: skip

    strengths = Strengths(links=4, dangling=1, quantiles=[0, 0.1, 0.2, 0.3, 0.5, 0.8, 1])
    nothing = Strengths(links=0, dangling=0, quantiles=[])
    return FadingAnswer(
        agent_id="ada",
        passes=[
            FadingPass(
                number=at + 1, taken_at=THEN, memories=memories,
                strengths=nothing if at == 0 else strengths,
            )
            for at in range(passes)
        ],
        memories=[memory(place) for place in range(memories)],
        left_out=0,
    )  # fmt: skip
