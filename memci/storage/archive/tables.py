"""Every table with an agent's rows, and how an archive carries it: the one list.

A test holds it against the tables that there are: a table that is not named here fails it, and so
does a column that came or went without a new ``FORMAT_VERSION``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sqlalchemy import Column, Table

from memci.domain.documents import ChunkKind, DocumentState
from memci.domain.job import JobSource, JobState
from memci.domain.memory.edition import ReplayEvent
from memci.domain.memory.message_filter import FilterReason, MemoryState
from memci.domain.memory.node import NodeKind, NodeTier, NodeType
from memci.domain.pages.page import PageKind
from memci.domain.pages.pins import Maker
from memci.domain.session.plan import MOST_STEPS, StepState
from memci.language.detection import Language
from memci.language.key_messages.rules import PinKind
from memci.message import Remember, Role
from memci.storage import schema
from memci.storage.network.beliefs import Reason
from memci.storage.network.node_history import TrailEvent

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
        schema.message,
        _by_key(schema.message),
        closed={"role": Role, "remember": Remember, "memory_state": MemoryState,
                "memory_reason": FilterReason},
        ranges={"seq": (1, 2**53), "position": (0, 2**62)},
    ),
    Carried(schema.message_vector, _by_key(schema.message_vector)),
    Carried(
        schema.message_term, _by_key(schema.message_term),
        ranges={"tf": (1, 2**31 - 1), "position": (0, 2**62)},
    ),
    Carried(
        schema.node, _by_key(schema.node), closed=_NODE,
        ranges={"id": (1, 2**53), "worth": (0, 10), "original_length": (0, 2**31 - 1)},
    ),
    Carried(schema.node_vector, _by_key(schema.node_vector)),
    Carried(schema.node_term, _by_key(schema.node_term), ranges={"tf": (1, 2**31 - 1)}),
    Carried(schema.link, _by_key(schema.link), ranges={"strength": (0, 1)}),
    Carried(schema.focus, _by_key(schema.focus)),
    Carried(schema.claim, _by_key(schema.claim)),
    Carried(
        schema.node_version, _by_key(schema.node_version),
        closed={"reason": Reason, "type": NodeType, "language": Language},
    ),
    Carried(schema.session_end, _by_key(schema.session_end)),
    Carried(schema.summary, _by_key(schema.summary), ranges={"tokens": (0, 2**31 - 1)}),
    Carried(schema.trail, ("id",), closed={"event": TrailEvent}),
    Carried(schema.replay_log, ("place",), closed={"event": ReplayEvent}),
    Carried(schema.pass_log, _by_key(schema.pass_log)),
    Carried(schema.pass_snapshot, _by_key(schema.pass_snapshot)),
    Carried(schema.agent_setting, ()),
    Carried(schema.receipt, _by_key(schema.receipt)),
    Carried(
        schema.job, ("ordinal",), only=_NO_STEPS, closed={"state": JobState, "source": JobSource}
    ),
    Carried(schema.letter, _by_key(schema.letter)),
    Carried(schema.page_tree, (), only="version > 0"),
    Carried(schema.page, _by_key(schema.page), closed={"kind": PageKind}),
    Carried(schema.page_step, _by_key(schema.page_step)),
    # Of whichever page store there is, and into that which there is.
    Carried(schema.page_text, _by_key(schema.page_text), not_carried=frozenset({"created_at"})),
    Carried(schema.erased_message, _by_key(schema.erased_message)),
    Carried(
        schema.pin, _by_key(schema.pin), closed={"kind": PinKind, "pinned_by": Maker},
        ranges={"number": (1, 2**53), "span_start": (0, 2**31 - 1), "span_end": (1, 2**31 - 1)},
    ),
    # Indexed anew by a job.
    Carried(
        schema.item, _by_key(schema.item),
        not_carried=frozenset({"terms", "length", "embedding", "model"}),
    ),
    Carried(schema.checkpoint, _by_key(schema.checkpoint)),
    Carried(schema.checkpoint_value, _by_key(schema.checkpoint_value)),
    Carried(schema.checkpoint_write, _by_key(schema.checkpoint_write)),
    Carried(schema.plan, _by_key(schema.plan), ranges={"made_seq": (1, 2**53)}),
    Carried(
        schema.plan_step, _by_key(schema.plan_step), closed={"state": StepState},
        ranges={"position": (1, MOST_STEPS)},
    ),
    Carried(schema.tracking, ()),
    Carried(
        schema.document, _by_key(schema.document), closed={"state": DocumentState},
        ranges={"id": (1, 2**53), "chunks": (0, 2**31 - 1), "indexed_chunks": (0, 2**31 - 1)},
    ),
    Carried(
        schema.document_body, _by_key(schema.document_body), not_carried=frozenset({"created_at"})
    ),
    Carried(
        schema.chunk, _by_key(schema.chunk), closed={"kind": ChunkKind}, ranges={"id": (1, 2**53)}
    ),
    Carried(schema.chunk_vector, _by_key(schema.chunk_vector)),
    Carried(schema.chunk_term, _by_key(schema.chunk_term), ranges={"tf": (1, 2**31 - 1)}),
    Carried(schema.lane, (), not_carried=_OF_THIS_SERVER),
)  # fmt: skip

LEFT_OUT: Mapping[str, str] = {
    "message_around": "sums of message_vector: whoever imports makes them",
    "edition": "a network that is rebuilt beside the current one: rebuild it anew",
    "model_usage": "the server's account of what it has paid for",
}
