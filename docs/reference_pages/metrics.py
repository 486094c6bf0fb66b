"""The page of metrics: their names, kinds and meanings."""

from __future__ import annotations

from collections.abc import Iterator

from docs.reference_pages.markdown import items, paragraph, sentence
from memci.telemetry.metrics import LANE_GAUGES, MODEL_COUNTERS, HttpMetrics


def blocks() -> Iterator[str]:
    """Yield the blocks of metrics.md."""
    yield paragraph(
        "`GET /metrics` of the API, in Prometheus' format. No metric names an agent. Those of the queue and of language"
        " models are read from the database when Prometheus asks, so every API process reports the same: use `max()`."
    )
    yield items(f"`{name}` ({kind}): {sentence(told)}" for name, kind, told in metrics())


def metrics() -> Iterator[tuple[str, str, str]]:
    """Yield name, kind and help of every metric."""
    told = "1 when the database answers; else 0, and the next ones are missing"
    yield "memci_database_up", "gauge", told
    for field, told in LANE_GAUGES.items():
        yield f"memci_{field.removesuffix('_s')}" + "_seconds" * field.endswith("_s"), "gauge", told
    for field, told in MODEL_COUNTERS.items():
        yield f"memci_model_{field}_total", "counter, by task and model", told
    for family in HttpMetrics().registry.collect():
        if family.name.startswith("memci_"):
            labels = {
                "memci_redacted": "by kind",
                "memci_http_requests": "by method, route and status",
            }.get(family.name, "by method and route")
            total = "_total" * (family.type == "counter")
            yield f"{family.name}{total}", f"{family.type}, {labels}", family.documentation
