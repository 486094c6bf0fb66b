"""Findings of benchmarks, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit of a number: at least or at most ``value``."""

    value: float
    at_most: bool = False
    of: Literal["ratio", "ours"] = "ratio"

    def is_met(self, number: float) -> bool:
        """Tell whether the number keeps the limit."""
        return number <= self.value if self.at_most else number >= self.value

    def __str__(self) -> str:
        """Return the limit as the table shows it."""
        return f"{'≤' if self.at_most else '≥'} {self.value:g}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report.

    ``ratio`` is ours ÷ baseline of neighbouring runs; ``low`` and ``high`` are its extremes. The
    bar is for the ratio if there is one, unless it says otherwise.
    """

    name: str
    ours: float
    unit: str
    baseline: float | None = None
    against: str = ""
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    bar: Bar | None = None
    note: str = ""

    @property
    def is_met(self) -> bool | None:
        """Whether the bar is met; None without a bar."""
        if self.bar is None:
            return None
        if self.ratio is None or self.bar.of == "ours":
            return self.bar.is_met(self.ours)
        return self.bar.is_met(self.ratio)


def print_table(findings: Sequence[Finding]) -> None:
    """Print the findings."""
    table = Table(title="benchmarks", title_justify="left")
    for column, justify in (
        ("benchmark", "left"),
        ("ours", "right"),
        ("baseline", "right"),
        ("ratio", "right"),
        ("spread", "right"),
        ("bar", "right"),
        ("met", "left"),
    ):
        table.add_column(column, justify=justify)  # type: ignore[arg-type]  # literals above
    for finding in findings:
        table.add_row(*_cells(finding))
    # Wide enough also if the output is a file.
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(table)


def write_json(findings: Sequence[Finding], path: Path) -> None:
    """Write the findings, to compare runs."""
    rows: list[dict[str, Any]] = [
        {**asdict(finding), "met": finding.is_met, "bar": str(finding.bar or "")}
        for finding in findings
    ]
    path.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _cells(finding: Finding) -> list[str]:
    baseline = "" if finding.baseline is None else f"{_number(finding.baseline)} {finding.unit}"
    spread = "" if finding.low is None else f"{_ratio(finding.low)}-{_ratio(finding.high)}"
    against = f"÷ {finding.against}" if finding.against else ""
    lines = [finding.name, *filter(None, [against, *finding.note.split("; ")])]
    return [
        "\n  ".join(lines),
        f"{_number(finding.ours)} {finding.unit}",
        baseline,
        "" if finding.ratio is None else _ratio(finding.ratio),
        spread,
        _bar(finding),
        {None: "", True: "yes", False: "NO"}[finding.is_met],
    ]


def _bar(finding: Finding) -> str:
    if finding.bar is None:
        return ""
    return f"{finding.bar} {finding.unit}" if finding.bar.of == "ours" else str(finding.bar)


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}" if value >= 0.1 else f"{value:.4f}"


def _number(value: float) -> str:
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f}"
