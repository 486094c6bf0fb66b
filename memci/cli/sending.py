"""Sends messages in batches that keep within the server's limits."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from memci.cli.formats.parsed import BadFileError, Parsed
from memci.client import Agent
from memci.shapes.message import MessageIn

# What a request holds beside its messages: brackets, session, user.
_ENVELOPE_BYTES = 2048


@dataclass(frozen=True, slots=True)
class Limits:
    """What the server takes."""

    max_messages: int
    max_request_bytes: int
    max_message_bytes: int


@dataclass(slots=True)
class Sent:
    """What became of the messages."""

    accepted: int = 0
    duplicates: int = 0
    erased: list[str] = field(default_factory=list)
    seq: int = 0
    job_ids: list[UUID] = field(default_factory=list)


def check_sizes(parsed: Parsed, limits: Limits) -> None:
    """Raise ``BadFileError`` for a message that the server would not take."""
    for message, place in zip(parsed.messages, parsed.places, strict=True):
        size = MessageIn.model_validate(message).size_bytes
        if size > limits.max_message_bytes:
            raise BadFileError(
                f"{place}: a message of {size:,} bytes; at most {limits.max_message_bytes:,} are "
                "taken: split it"
            )


def batches(messages: Iterable[dict[str, Any]], limits: Limits) -> Iterator[list[dict[str, Any]]]:
    """Cut the messages, in order, into as few requests as the limits allow."""
    batch: list[dict[str, Any]] = []
    room = limits.max_request_bytes - _ENVELOPE_BYTES
    left = room
    for message in messages:
        size = len(json.dumps(message).encode()) + 2
        if batch and (size > left or len(batch) == limits.max_messages):
            yield batch
            batch, left = [], room
        batch.append(message)
        left -= size
    if batch:
        yield batch


def send(
    memory: Agent,
    messages: Sequence[dict[str, Any]],
    limits: Limits,
    *,
    session_id: str | None = None,
    user_id: str | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Sent:
    """Send all messages; ``on_progress`` is told how many were sent each time.

    Those that were erased for good are left out, each by itself.
    """
    sent = Sent()
    for batch in batches(messages, limits):
        answer = memory.remember(batch, session_id=session_id, user_id=user_id, skip_erased=True)
        sent.accepted += answer.accepted
        sent.duplicates += answer.duplicates
        sent.erased += answer.erased
        sent.seq = max(sent.seq, answer.seq)
        if answer.job_id is not None and answer.accepted:
            sent.job_ids.append(answer.job_id)
        on_progress(len(batch))
    return sent
