"""The memory network as it is or was after a pass, the passes themselves, and how memories fade."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from memci.domain.memory.node import Fate
from memci.schemas.agents import TrailEvent
from memci.schemas.base import Answer

# A closed set that rules of the domain use too belongs to the surface as well.
__all__ = ["Fate"]


class PassAnswer(Answer):
    """One pass: where it ran, what it did, and whether a snapshot of the network is kept."""

    number: int
    state: Literal["under_way", "finished", "cut_short"] = Field(
        description="cut_short: the next one began before its end, or it was cancelled"
    )
    message_seq: int = Field(description="The last message that was stored when it began")
    started_at: datetime
    finished_at: datetime | None
    scanned: int
    compressed: int
    forgotten: int
    broken: int
    given_up: int
    snapshot: bool


class PassList(Answer):
    """Passes, the latest first."""

    passes: list[PassAnswer]
    next_cursor: str | None


class NetworkNode(Answer):
    """A node in a network; what is no longer there has no phrase, but a trail."""

    id: int
    kind: Literal["memory", "entity"]
    phrase: str | None = Field(description="As it is now; null: the node is gone since then")
    importance: float
    length: int
    original_length: int
    focus: bool
    forgotten: bool = Field(description="It was there then, and was forgotten since")
    gone: Fate | None = Field(None, description="What became of it; null: it is there")
    last_event: TrailEvent | None = Field(description="What is known of a node that is gone")


class NetworkLink(Answer):
    """A link in a network. It dangles when its target is not there."""

    source: int
    target: int
    strength: float
    dangling: bool
    relation: str | None = Field(description="As it is now; null: the link is gone since then")
    hint: str | None = Field(description="What its target was about; null likewise")


class LeftOut(Answer):
    """What a bounded answer does not show."""

    nodes: int
    links: int


class NetworkAnswer(Answer):
    """The network now, or as a pass left it: the most important nodes, the strongest links."""

    agent_id: str
    pass_number: int | None = Field(description="null: the network is as of now")
    taken_at: datetime | None = Field(description="When that was; null likewise")
    nodes: list[NetworkNode] = Field(description="Focus points, then the most important")
    links: list[NetworkLink] = Field(description="Of the nodes shown; the strongest first")
    focus: list[int] = Field(description="The latest mention first")
    left_out: LeftOut


class Strengths(Answer):
    """How strong links are: the quantiles at 0, 10, 25, 50, 75, 90 and 100 %, if there are any."""

    links: int
    dangling: int
    quantiles: list[float]


class FadingPass(Answer):
    """What a pass left, in sums."""

    number: int
    taken_at: datetime
    memories: int
    strengths: Strengths


class FadingMemory(Answer):
    """One memory over the passes of the answer; null where it was not there."""

    id: int
    phrase: str | None
    original_length: int
    forgotten: bool = Field(description="Not so what was merged, erased or restored")
    gone: Fate | None = Field(None, description="What became of it; null: it is there")
    importances: list[float | None]
    lengths: list[int | None]


class FadingAnswer(Answer):
    """How an agent's memories fade: one entry per snapshot, the oldest first."""

    agent_id: str
    passes: list[FadingPass]
    switched_after: list[int] = Field(
        default=[],
        description="Passes after which a rebuilt network took the place of the one before",
    )
    memories: list[FadingMemory] = Field(
        description="Those of the latest network, by id; evenly drawn when there are more"
    )
    left_out: int = Field(description="Memories that are not shown")
