"""Writes the manifests for kubectl, from the Helm chart, and the dashboard: ``make manifests``.

Needs the package helm-python-sdk, which contains Helm.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import helm_python

HERE = Path(__file__).parent
CHART = HERE / "helm/memci"
_HEAD = "# Made from deploy/helm/memci by `make manifests`: do not edit.\n"


def rendered(values: Mapping[str, Any], *templates: str) -> str:
    """Render templates of the chart as the release ``memci``."""
    with helm_python.Chart.load(str(CHART)) as chart:
        texts: dict[str, str] = chart.render(dict(values), name="memci", namespace="memci")
    names = [f"memci/templates/{name}.yaml" for name in templates]
    bodies = [texts[name].strip().removeprefix("---").strip() for name in names]
    return _HEAD + "".join(f"---\n{body}\n" for body in bodies)


_READS = 'route=~".*/(recall|search|context)"'
_OF_READS = f"sum by (le) (rate(memci_http_request_seconds_bucket{{{_READS}}}[5m]))"
_OF_MODELS = "sum by (model) (rate(memci_model_{}_total[15m]))"
# Title, unit and expressions by their legend. The API's processes report the same queue: max().
_PANELS: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("Jobs that wait", "short", {"jobs": "max(memci_queued_jobs)"}),
    (
        "Age of what waits",
        "s",
        {
            "oldest job": "max(memci_oldest_queued_age_seconds)",
            "not yet in memory": "max(memci_memory_lag_seconds)",
        },
    ),
    (
        "Lanes and workers",
        "short",
        {
            "a worker is at them": "max(memci_leases)",
            "due, and no worker came": "max(memci_lanes_due_unclaimed)",
        },
    ),
    ("Dead jobs and dead letters", "short", {"dead": "max(memci_dead_jobs)"}),
    (
        "Values redacted",
        "short",
        {"{{kind}}": "sum by (kind) (rate(memci_redacted_total[15m]))"},
    ),
    ("Agents that wait for compression", "short", {"agents": "max(memci_compress_pending)"}),
    (
        "Duration of reads",
        "s",
        {
            "half": f"histogram_quantile(0.5, {_OF_READS})",
            "95 %": f"histogram_quantile(0.95, {_OF_READS})",
        },
    ),
    (
        "Requests by status",
        "reqps",
        {"{{status}}": "sum by (status) (rate(memci_http_requests_total[5m]))"},
    ),
    (
        "Busiest routes",
        "reqps",
        {
            "{{method}} {{route}}": "topk(10, sum by (method, route)"
            " (rate(memci_http_requests_total[5m])))"
        },
    ),
    (
        "Calls of language models",
        "ops",
        {
            "{{model}}": _OF_MODELS.format("calls"),
            "{{model}} failed": _OF_MODELS.format("failures"),
            "{{model}} offline instead": _OF_MODELS.format("fell_back"),
        },
    ),
    (
        "Tokens of language models",
        "short",
        {
            "{{model}} read": _OF_MODELS.format("prompt_tokens"),
            "{{model}} wrote": _OF_MODELS.format("completion_tokens"),
        },
    ),
    (
        "Cost of language models in a day",
        "currencyUSD",
        {"{{model}}": "sum by (model) (increase(memci_model_cost_total[1d]))"},
    ),
    (
        "Database",
        "bytes",
        {"size": "max(memci_database_bytes)"},
    ),
)
_WIDTH, _HEIGHT, _COLUMNS = 8, 8, 3


def dashboard() -> dict[str, Any]:
    """Return the dashboard for Grafana."""
    source = {"type": "prometheus", "uid": "${source}"}
    panels = [
        {
            "id": number + 1,
            "type": "timeseries",
            "title": title,
            "datasource": source,
            "gridPos": {
                "x": number % _COLUMNS * _WIDTH,
                "y": number // _COLUMNS * _HEIGHT,
                "w": _WIDTH,
                "h": _HEIGHT,
            },
            "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
            "targets": [
                {"refId": chr(ord("A") + place), "expr": expression, "legendFormat": legend}
                for place, (legend, expression) in enumerate(expressions.items())
            ],
        }
        for number, (title, unit, expressions) in enumerate(_PANELS)
    ]
    variable = {
        "name": "source",
        "label": "Prometheus",
        "type": "datasource",
        "query": "prometheus",
    }
    return {
        "uid": "memci",
        "title": "memci",
        "tags": ["memci"],
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [variable]},
        "panels": panels,
    }


def made() -> dict[str, str]:
    """Return the files of deploy/ that are made, by name."""
    scaled = {"autoscaling": {"enabled": True}}
    return {
        "kubernetes/memci.yaml": rendered({}, "common", "parts"),
        "kubernetes/autoscaling.yaml": rendered(scaled, "autoscaling"),
        "grafana/memci.json": json.dumps(dashboard(), indent=1) + "\n",
    }


if __name__ == "__main__":
    for name, text in made().items():
        (HERE / name).write_text(text, encoding="utf-8")
