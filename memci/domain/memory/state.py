"""What memory has made of a message (R2)."""

from __future__ import annotations

from enum import StrEnum


class MemoryState(StrEnum):
    """Where a message stands on its way into the network."""

    NONE = "none"  # not asked for, or its job was cancelled or discarded
    PENDING = "pending"  # asked for; its job has not run yet
    MADE = "made"  # in at least one node
    FILTERED = "filtered"  # looked at, and made into nothing


class FilterReason(StrEnum):
    """Why a message was made into nothing. It stays stored and searchable all the same."""

    SYSTEM = "system"  # tells an agent what to be; nothing that happened
    EMPTY = "empty"  # no text
    TRIVIAL = "trivial"  # greets, thanks or acknowledges; or names nothing in a few characters
    REPEATED = "repeated"  # its speaker said it in the session's last two windows
    LOW_INFORMATION = "low_information"  # names nothing, and nothing around it tells anything
    CAPACITY = "capacity"  # every slot is taken by what may not give way (M19)
    ERASED = "erased"  # its topic segment held a message that was erased meanwhile
