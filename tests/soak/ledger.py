"""What the soak has sent, and what was answered: the expectations of its checks."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from threading import Lock
from typing import Any

from benchmarks.sentences import conversation

NOW, NEVER = "now", "never"
OVER_BUDGET = "contexts over budget"


@dataclass
class Stream:
    """Messages of one producer to one agent, numbered from 0; the number is in the id."""

    agent: str
    name: str
    remember: str
    sent: int = 0
    acknowledged: int = 0
    # Sent anew after the broker had lost them: they may come behind later ones.
    lost_by_broker: set[int] = field(default_factory=set)

    def contents(self) -> Iterator[tuple[str, str]]:
        """Yield role and content of all messages, from the first on; each time the same."""
        if self.remember == NEVER:
            # Few different texts: their vectors are cached, so that accepting is most of the work.
            yield from (("user", f"Sensor {n % 64} of the west hall reports.") for n in count())
        seed = int.from_bytes(hashlib.sha256(f"{self.agent}/{self.name}".encode()).digest()[:4])
        # One sentence each, as in most chats: memories are made of more messages in the same time.
        for each in conversation(seed):
            yield each.role.value, (each.content or "").partition(". ")[0]

    def __post_init__(self) -> None:
        """Begin with the first message."""
        self._next = self.contents()

    def batch(self, size: int) -> list[dict[str, Any]]:
        """Return the next messages as requests have them."""
        first, self.sent = self.sent, self.sent + size
        return [
            {"id": message_id(self.name, number), "role": role, "content": content}
            for number, (role, content) in enumerate(islice(self._next, size), start=first)
        ]


def message_id(name: str, number: int) -> str:
    """Return the id of a message of a stream."""
    return f"{name}-{number}"


@dataclass(frozen=True, slots=True)
class Success:
    """A request that was answered with what it asked for; seconds of the system's clock."""

    sent_at: float
    answered_at: float


@dataclass
class Ledger:
    """All streams and all answers of one run; safe for threads."""

    streams: list[Stream] = field(default_factory=list)
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)  # by kind and status
    successes: dict[str, list[Success]] = field(default_factory=lambda: {"accept": [], "read": []})
    broken: list[str] = field(default_factory=list)  # laws, with what broke them
    counts: Counter[str] = field(default_factory=lambda: Counter({OVER_BUDGET: 0}))
    _lock: Lock = field(default_factory=Lock)

    def stream(self, agent: str, name: str, remember: str) -> Stream:
        """Open a stream."""
        new = Stream(agent, name, remember)
        with self._lock:
            self.streams.append(new)
        return new

    def answered(self, kind: str, status: int, *, retry_after: bool, what: str) -> None:
        """Note an answer, and whether its status is a lawful one."""
        with self._lock:
            self.answers[kind, str(status)] += 1
        if status not in {200, 202} and not (status == 503 and retry_after):
            self.breaks(f"{kind}: answer {status}: {what[:500]}")

    def unanswered(self, kind: str, error: Exception) -> None:
        """Note a request whose connection was refused or cut."""
        with self._lock:
            self.answers[kind, type(error).__name__] += 1

    def succeeded(self, kind: str, sent_at: float) -> None:
        """Note a success."""
        with self._lock:
            self.successes[kind].append(Success(sent_at, time.time()))

    def add(self, name: str, number: int = 1) -> None:
        """Count something for the report."""
        with self._lock:
            self.counts[name] += number

    def breaks(self, what: str) -> None:
        """Note that a law is broken."""
        with self._lock:
            self.broken.append(what)
