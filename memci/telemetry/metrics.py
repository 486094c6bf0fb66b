"""Metrics for Prometheus. None has an agent as label: agents are too many.

Collectors have no ``describe``: registering one must not query the database.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from memci.domain.usage import Usage
from memci.errors import UnavailableError

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


# Gauge of the queue → description; the metric is memci_<gauge>, with _s written out.
LANE_GAUGES: dict[str, str] = {
    "queued_jobs": "Jobs that wait in mailboxes",
    "oldest_queued_age_s": "Age of the job that waits longest",
    "memory_lag_s": "Age of the oldest messages that are not yet in memory",
    "dead_jobs": "Dead jobs that nobody has replayed or discarded",
    "leases": "Lanes that a worker is at",
    "lanes_due_unclaimed": "Lanes with work, not paused, that no worker has claimed in time",
    "compress_pending": "Agents whose memories wait for compression",
    "database_bytes": "Size of the database on its disk",
}


class LaneCollector(Collector):
    """Reads the queue's gauges at each scrape."""

    def __init__(self, read: Callable[[], Mapping[str, float]]) -> None:
        """Take the reader of the gauges by name; ages are in seconds, 0 if nothing waits.

        If it raises ``UnavailableError``, a scrape has no gauges.
        """
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """Yield all gauges."""
        try:
            gauges = self._read()
        except UnavailableError:
            yield GaugeMetricFamily("memci_database_up", "Whether the database answers", value=0)
            return
        yield GaugeMetricFamily("memci_database_up", "Whether the database answers", value=1)
        for field, description in LANE_GAUGES.items():
            name = f"memci_{field.removesuffix('_s')}" + "_seconds" * field.endswith("_s")
            yield GaugeMetricFamily(name, description, value=gauges[field])


# Field of Usage → description; the metric is memci_model_<field>_total.
MODEL_COUNTERS: dict[str, str] = {
    "calls": "Calls of language models, failed ones included",
    "failures": "Calls of language models without a usable answer",
    "prompt_tokens": "Tokens that language models read",
    "completion_tokens": "Tokens that language models wrote",
    "cost": "US dollars that calls cost whose price is known",
    "unpriced": "Answered calls whose price is not known",
    "over_budget": "Times an offline model took over because an agent's budget was used up",
    "fell_back": "Times an offline model took over because no answer could be used",
}


class ModelCollector(Collector):
    """Reads the usage of language models, by task and model, at each scrape."""

    def __init__(self, read: Callable[[], Iterable[tuple[tuple[str, str], Usage]]]) -> None:
        """Take the reader; if it raises ``UnavailableError``, a scrape has no counters."""
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """Yield all counters."""
        try:
            uses = list(self._read())
        except UnavailableError:
            return
        for field, description in MODEL_COUNTERS.items():
            counter = CounterMetricFamily(
                f"memci_model_{field}", description, labels=("task", "model")
            )
            for use, usage in uses:
                counter.add_metric(use, getattr(usage, field) or 0)
            yield counter


class HttpMetrics:
    """Counts and durations of requests by route; one registry an app."""

    def __init__(self) -> None:
        """Create the registry."""
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "memci_http_requests",
            "Answered requests",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "memci_http_request_seconds",
            "Time from a request to the end of its answer",
            ("method", "route"),
            buckets=_SECONDS,
            registry=self.registry,
        )

        self._redacted = Counter(
            "memci_redacted",
            "Values that placeholders replaced in messages sent to this API process",
            ("kind",),
            registry=self.registry,
        )

    def count_redacted(self, counts: Mapping[Any, int]) -> None:
        """Count values by their kind."""
        for kind, count in counts.items():
            self._redacted.labels(kind).inc(count)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request; ``route`` is a path template."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def render(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)
