"""What is told of each event of a trail (M27) and of the log that replays read (M24)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memci.domain.memory.entity import Entity
from memci.domain.memory.node import NodeKind, NodeTier
from memci.domain.memory.replay import ReplayEvent
from memci.domain.memory.scan import Forgetting
from memci.domain.memory.state import FilterReason
from memci.domain.memory.tier import Promotion
from memci.storage.archive.checks import (
    Check,
    are_seqs,
    each,
    fields,
    is_instant,
    is_name,
    is_seq,
    is_uuid,
    one_of,
    or_null,
)
from memci.storage.archive.objects import tells_of_passages
from memci.storage.trail import TrailEvent


def _is_settled(value: Any) -> bool:
    """Check for what ``memory.tier.Settled`` reads: messages, a span, and a reason or none."""
    if not isinstance(value, list) or len(value) != 3:  # noqa: PLR2004 - these three
        return False
    seqs, span, reason = value
    return are_seqs(seqs) and are_seqs(span) and or_null(one_of(Promotion))(reason)


def _names_an_entity(value: Any) -> bool:
    return is_name(value) and bool(Entity.named(value).key)


def _are_refused(value: Any) -> bool:
    """Check for reasons by seq, which JSON writes as text."""
    return isinstance(value, dict) and all(
        seq.isascii() and seq.isdecimal() and one_of(FilterReason)(why)
        for seq, why in value.items()
    )


_TRAIL: Mapping[TrailEvent, Check] = {
    TrailEvent.CREATED: fields(
        {"messages": are_seqs},
        job=is_uuid,
        mention=is_uuid,
        kind=one_of(NodeKind),
        **{"from": are_seqs},
    ),
    TrailEvent.COMPRESSED: fields({"from": is_seq, "to": is_seq}),
    TrailEvent.FORGOTTEN: fields({"reason": one_of(Forgetting)}, tier=one_of(NodeTier)),
    TrailEvent.RESTORED: fields({"job": is_uuid}, of=is_seq, **{"as": is_seq}),
    TrailEvent.MERGED: fields({"into": is_seq}),
    TrailEvent.PROMOTED: fields({"reason": one_of(Promotion)}),
    TrailEvent.SETTLED: fields(),
    TrailEvent.SUPERSEDED: fields({"by": is_seq}),
    TrailEvent.USED: fields({"receipts": each(is_uuid)}, times=is_seq),
    TrailEvent.ERASED: fields(),
}
_LOG: Mapping[ReplayEvent, Check] = {
    ReplayEvent.CREATED: fields(wanted=are_seqs, refused=_are_refused),
    ReplayEvent.SCANNED: fields(),
    ReplayEvent.MENTIONED: fields({"entity": _names_an_entity}),
    ReplayEvent.RESTORED: fields({"node": is_seq, "seqs": are_seqs}),
    ReplayEvent.CONSOLIDATED: fields(
        {"at": is_instant, "settled": each(_is_settled)}, groups=is_seq
    ),
}


def _is_trail(row: Mapping[str, Any]) -> bool:
    details = row["details"]
    return _TRAIL[TrailEvent(row["event"])](details) and tells_of_passages(details)


def _is_log(row: Mapping[str, Any]) -> bool:
    """Check for an entry as a replay takes it; all but a pass draw lots by their job."""
    event, details = ReplayEvent(row["event"]), row["details"]
    seeded = event is ReplayEvent.SCANNED or row["job_id"] is not None
    return seeded and _LOG[event](details) and tells_of_passages(details)


# By table: what its rows must be beyond what each column holds.
TOLD = {"trail": _is_trail, "replay_log": _is_log}
