"""The report of a soak: a table in Markdown, and which laws are broken."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.compare import percentile
from tests.soak.checks import Found
from tests.soak.faults import Fault
from tests.soak.ledger import Ledger, Success

LAWS = ("lost", "doubled", "reordered", "changed", "unfinished", "dead jobs")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that one run has shown."""

    seed: int
    minutes: float
    drain_s: float
    faults: Sequence[Fault]
    ledger: Ledger
    found: Found
    jobs: Sequence[Success]  # created and finished
    quiet_lags_s: Sequence[float]
    stuck: Sequence[str]  # lanes with work or a lease after the drain
    crashed: Sequence[str]  # lines of `memci up` about parts that failed by themselves

    @property
    def broken(self) -> list[str]:
        """What broke a law; empty if nothing did."""
        return [
            *self.ledger.broken,
            *(f"{law} ({self.found.broken[law]}): {text}"
              for law, text in self.found.examples.items()),
            *(f"stuck lane: {each}" for each in self.stuck),
            *(f"ended by itself: {each}" for each in self.crashed),
        ]  # fmt: skip

    def markdown(self) -> str:
        """Return the report."""
        return "\n".join([*_table(("what", "result"), self._rows()), "", *self._recovery(), ""])

    def _rows(self) -> Iterator[tuple[str, str]]:
        states, answers = self.found.through_memory, self.ledger.answers
        yield "seed", str(self.seed)
        yield "minutes of load and faults", f"{self.minutes:g}"
        yield "drain, seconds", f"{self.drain_s:.0f}"
        yield "messages accepted", _number(sum(each.sent for each in self.ledger.streams))
        yield "… made into memories", _number(states["made"])
        yield "… through memory-making, and filtered", _number(states["filtered"])
        yield "faults", _number(len(self.faults))
        yield from (
            (name, _number(self.ledger.counts[name])) for name in sorted(self.ledger.counts)
        )
        yield from ((law, _number(self.found.broken[law])) for law in LAWS)
        yield "stuck lanes", _number(len(self.stuck))
        yield "parts that ended by themselves", _number(len(self.crashed))
        if self.quiet_lags_s:
            lags = [percentile(self.quiet_lags_s, share) for share in (0.5, 0.95, 1.0)]
            yield (
                "lag of the quiet agent, seconds: p50, p95, most",
                ", ".join(f"{each:.1f}" for each in lags),
            )
        for (kind, status), times in sorted(answers.items()):
            yield f"answers: {kind}, {status}", _number(times)

    def _recovery(self) -> Iterator[str]:
        """Seconds from a fault until the next request sent after it, or job, was a success."""
        kinds: defaultdict[str, list[float]] = defaultdict(list)
        for fault in self.faults:
            kinds[fault.kind].append(fault.at)
        channels = {
            "accepted": self.ledger.successes["accept"],
            "job done": self.jobs,
            "read answered": self.ledger.successes["read"],
        }
        waits = {name: Waits(each) for name, each in channels.items()}
        rows = (
            (kind, str(len(times)), *(_spread(waits[name], times) for name in channels))
            for kind, times in sorted(kinds.items())
        )
        heads = ("fault", "times", *(f"{name}: p50, most (s)" for name in channels))
        yield from _table(heads, rows)


class Waits:
    """Finds how long after a moment the next success came."""

    def __init__(self, successes: Sequence[Success]) -> None:
        """Take successes in any order."""
        ordered = sorted(successes, key=lambda each: each.sent_at)
        self._sent = [each.sent_at for each in ordered]
        self._first: list[float] = []  # the earliest answer to this request or a later one
        for each in reversed(ordered):
            self._first.append(min([each.answered_at, *self._first[-1:]]))
        self._first.reverse()

    def after(self, at: float) -> float | None:
        """Return the seconds until a request that was sent after this moment had its answer."""
        place = bisect_right(self._sent, at)
        return self._first[place] - at if place < len(self._first) else None


def _spread(waits: Waits, times: Sequence[float]) -> str:
    found = [each for each in map(waits.after, times) if each is not None]
    return f"{percentile(found, 0.5):.1f}, {max(found):.1f}" if found else "—"


def _table(heads: Sequence[str], rows: Iterator[Sequence[str]]) -> list[str]:
    line = "|".join(["", *("---" for _ in heads), ""])
    return [_line(heads), line, *map(_line, rows)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: float) -> str:
    return f"{value:,}"
