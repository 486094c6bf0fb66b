"""Answers about the memory network, its passes, and how memories fade."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from memci.domain.memory.node import RemovalReason
from memci.schemas.agents import TrailEvent
from memci.schemas.base import Answer, Listing


class PassAnswer(Answer):
    """One pass and its numbers; ``snapshot``: the network after it is stored."""

    number: int
    state: Literal["under_way", "finished", "cut_short"] = Field(
        description="cut_short: the next one began before its end, or it was cancelled"
    )
    message_seq: int = Field(description="The last message when it began")
    started_at: datetime
    finished_at: datetime | None
    scanned: int
    compressed: int
    forgotten: int
    broken: int
    given_up: int
    snapshot: bool


class PassList(Listing):
    """Passes, the latest first."""

    passes: list[PassAnswer]


class NetworkNode(Answer):
    """A node in a network; a removed one has no phrase, but a trail."""

    id: int
    kind: Literal["memory", "entity"]
    phrase: str | None = Field(description="The current phrase; null: the node was removed")
    importance: float
    length: int
    original_length: int
    focus: bool
    forgotten: bool = Field(description="It was forgotten since then")
    removal_reason: RemovalReason | None = Field(None, description="Why it was removed, if it was")
    last_event: TrailEvent | None = Field(description="Last event of a removed node")


class NetworkLink(Answer):
    """A link in a network; it dangles when its target is gone."""

    source: int
    target: int
    strength: float
    dangling: bool
    relation: str | None = Field(description="The current name; null: the link was removed")
    hint: str | None = Field(description="null: the link was removed")


class LeftOut(Answer):
    """The numbers of nodes and links that an answer omits."""

    nodes: int
    links: int


class NetworkAnswer(Answer):
    """The network now, or as a pass left it: the most important nodes, the strongest links."""

    agent_id: str
    pass_number: int | None = Field(description="null: the present network")
    taken_at: datetime | None = Field(description="null: the present network")
    nodes: list[NetworkNode] = Field(description="Focus points, then the most important")
    links: list[NetworkLink] = Field(description="Of these nodes, the strongest first")
    focus: list[int] = Field(description="The latest mention first")
    left_out: LeftOut


class Strengths(Answer):
    """Strengths of links: the quantiles at 0, 10, 25, 50, 75, 90 and 100 %, if there are any."""

    links: int
    dangling: int
    quantiles: list[float]


class FadingPass(Answer):
    """The network after a pass, in numbers."""

    number: int
    taken_at: datetime
    memories: int
    strengths: Strengths


class FadingMemory(Answer):
    """One memory over the passes of the answer; null where it did not exist."""

    id: int
    phrase: str | None
    original_length: int
    forgotten: bool = Field(description="Forgotten, not merged or erased")
    removal_reason: RemovalReason | None = Field(None, description="Why it was removed, if it was")
    importances: list[float | None]
    lengths: list[int | None]


class NodePass(Answer):
    """One node as a pass left it."""

    number: int
    taken_at: datetime
    length: int
    importance: float


class FadingAnswer(Answer):
    """The fading of an agent's memories: one entry per snapshot, the oldest first."""

    agent_id: str
    passes: list[FadingPass]
    switched_after: list[int] = Field([], description="Passes before a switch to a rebuilt network")
    memories: list[FadingMemory] = Field(description="Memories of the latest network, or a sample")
    left_out: int
