"""``python -m benchmarks [PART …]``: measures, prints a table of ratios and which bars are met."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.compare import say
from benchmarks.report import Finding, print_table, write_json
from benchmarks.stage import open_servers, open_stage

PARTS = ("startup", "accept", "lane", "creation", "scan", "fading", "lag", "reads")


def main() -> int:
    """Measure the parts that were asked for; the status is 1 when a bar is not met."""
    arguments = _arguments()
    # Ended from outside, it still stops its servers and workers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    findings: list[Finding] = []
    with open_servers() as servers:
        for part in arguments.parts or PARTS:
            say(f"{part} …")
            measure: Callable[..., Iterator[Finding]] = import_module(f"benchmarks.{part}").measure
            with open_stage(servers) as stage:
                findings.extend(measure(stage, quick=arguments.quick))
    print_table(findings)
    if arguments.json:
        write_json(findings, arguments.json)
    return int(any(finding.is_met is False for finding in findings))


def _arguments() -> Any:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the findings here too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
