"""Every table with an agent's rows, and how an archive carries it: the one list.

A test holds it against the tables that there are: a table that is not named here fails it, and so
does a column that came or went without a new ``FORMAT_VERSION``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sqlalchemy import Column, Table

from memci.domain.context.plan import MOST_STEPS, StepState
from memci.domain.documents.chunk import ChunkKind
from memci.domain.documents.document import DocumentState
from memci.domain.lane.job import JobSource, JobState
from memci.domain.language import Language
from memci.domain.memory.node import NodeKind, NodeTier, NodeType
from memci.domain.memory.replay import ReplayEvent
from memci.domain.memory.state import FilterReason, MemoryState
from memci.domain.message import Remember, Role
from memci.domain.pages.page import PageKind
from memci.domain.pages.pin import Maker, PinKind
from memci.storage import rows
from memci.storage.trail import TrailEvent
from memci.storage.versions import Reason

# Whose rows they are the manifest tells; offsets stand in the times that were said with them.
_TOLD_ELSEWHERE = frozenset({"agent_id", "said_offset"})


@dataclass(frozen=True, slots=True)
class Carried:
    """A table that an archive has, as one file.

    ``order``: columns, so that the same rows always make the same file. ``only``: a condition on
    the rows that go. ``not_carried``: columns of this server alone, or that give rows their order.
    ``closed``: text columns that hold one of a few words; ``ranges``: numbers, both ends included.
    """

    table: Table
    order: tuple[str, ...]
    only: str = "true"
    not_carried: frozenset[str] = frozenset()
    closed: Mapping[str, type[StrEnum]] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The table's name."""
        return self.table.name

    @property
    def file(self) -> str:
        """Where its rows are in an archive."""
        return f"tables/{self.name}.jsonl"

    @property
    def has_offset(self) -> bool:
        """Whether its ``said_at`` tells the offset that it was said with, too."""
        return "said_offset" in self.table.columns

    @property
    def columns(self) -> Iterator[Column[object]]:
        """The columns that are carried."""
        for column in self.table.columns:
            own = column.name in _TOLD_ELSEWHERE or column.identity is not None
            if not own and column.name not in self.not_carried:
                yield column


def _by_key(table: Table) -> tuple[str, ...]:
    return tuple(each.name for each in table.primary_key if each.name != "agent_id")


# A job that takes a rebuilt network further has nothing to do where there is none.
_NO_STEPS = "NOT (state = 'queued' AND kind = 'memci.memory.rebuild')"
# Who may work right now, and for whom tokens are out.
_OF_THIS_SERVER = frozenset(
    {"fence", "lease_owner", "lease_until", "wake_at", "compress_at", "not_before", "epoch"}
)
_NODE = {"kind": NodeKind, "type": NodeType, "tier": NodeTier, "language": Language}

# What rows of other tables name comes before them; the lane counts them all.
CARRIED: tuple[Carried, ...] = (
    Carried(
        rows.message,
        _by_key(rows.message),
        closed={"role": Role, "remember": Remember, "memory_state": MemoryState,
                "memory_reason": FilterReason},
        ranges={"seq": (1, 2**53), "position": (0, 2**62)},
    ),
    Carried(rows.message_vector, _by_key(rows.message_vector)),
    Carried(
        rows.message_term, _by_key(rows.message_term),
        ranges={"tf": (1, 2**31 - 1), "position": (0, 2**62)},
    ),
    Carried(
        rows.node, _by_key(rows.node), closed=_NODE,
        ranges={"id": (1, 2**53), "worth": (0, 10), "original_length": (0, 2**31 - 1)},
    ),
    Carried(rows.node_vector, _by_key(rows.node_vector)),
    Carried(rows.node_term, _by_key(rows.node_term), ranges={"tf": (1, 2**31 - 1)}),
    Carried(rows.link, _by_key(rows.link), ranges={"strength": (0, 1)}),
    Carried(rows.focus, _by_key(rows.focus)),
    Carried(rows.claim, _by_key(rows.claim)),
    Carried(
        rows.node_version, _by_key(rows.node_version),
        closed={"reason": Reason, "type": NodeType, "language": Language},
    ),
    Carried(rows.session_end, _by_key(rows.session_end)),
    Carried(rows.summary, _by_key(rows.summary), ranges={"tokens": (0, 2**31 - 1)}),
    Carried(rows.trail, ("id",), closed={"event": TrailEvent}),
    Carried(rows.replay_log, ("place",), closed={"event": ReplayEvent}),
    Carried(rows.pass_log, _by_key(rows.pass_log)),
    Carried(rows.pass_snapshot, _by_key(rows.pass_snapshot)),
    Carried(rows.agent_setting, ()),
    Carried(rows.receipt, _by_key(rows.receipt)),
    Carried(
        rows.job, ("ordinal",), only=_NO_STEPS, closed={"state": JobState, "source": JobSource}
    ),
    Carried(rows.letter, _by_key(rows.letter)),
    Carried(rows.page_tree, (), only="version > 0"),
    Carried(rows.page, _by_key(rows.page), closed={"kind": PageKind}),
    Carried(rows.page_step, _by_key(rows.page_step)),
    # Of whichever page store there is, and into that which there is.
    Carried(rows.page_body, _by_key(rows.page_body), not_carried=frozenset({"created_at"})),
    Carried(rows.erased_message, _by_key(rows.erased_message)),
    Carried(
        rows.pin, _by_key(rows.pin), closed={"kind": PinKind, "pinned_by": Maker},
        ranges={"number": (1, 2**53), "span_start": (0, 2**31 - 1), "span_end": (1, 2**31 - 1)},
    ),
    # Indexed anew by a job.
    Carried(
        rows.item, _by_key(rows.item),
        not_carried=frozenset({"terms", "length", "embedding", "model"}),
    ),
    Carried(rows.checkpoint, _by_key(rows.checkpoint)),
    Carried(rows.checkpoint_value, _by_key(rows.checkpoint_value)),
    Carried(rows.checkpoint_write, _by_key(rows.checkpoint_write)),
    Carried(rows.plan, _by_key(rows.plan), ranges={"made_seq": (1, 2**53)}),
    Carried(
        rows.plan_step, _by_key(rows.plan_step), closed={"state": StepState},
        ranges={"position": (1, MOST_STEPS)},
    ),
    Carried(rows.tracking, ()),
    Carried(
        rows.document, _by_key(rows.document), closed={"state": DocumentState},
        ranges={"id": (1, 2**53), "chunks": (0, 2**31 - 1), "indexed_chunks": (0, 2**31 - 1)},
    ),
    Carried(
        rows.document_body, _by_key(rows.document_body), not_carried=frozenset({"created_at"})
    ),
    Carried(
        rows.chunk, _by_key(rows.chunk), closed={"kind": ChunkKind}, ranges={"id": (1, 2**53)}
    ),
    Carried(rows.chunk_vector, _by_key(rows.chunk_vector)),
    Carried(rows.chunk_term, _by_key(rows.chunk_term), ranges={"tf": (1, 2**31 - 1)}),
    Carried(rows.lane, (), not_carried=_OF_THIS_SERVER),
)  # fmt: skip

LEFT_OUT: Mapping[str, str] = {
    "message_around": "sums of message_vector: whoever imports makes them",
    "edition": "a network that is rebuilt beside the current one: rebuild it anew",
    "model_usage": "the server's account of what it has paid for",
}
