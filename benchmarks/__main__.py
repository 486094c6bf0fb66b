"""``python -m benchmarks [PART …]``: measures, prints a table of ratios and which bars are met.

The parts ``segmentation``, ``compression``, ``strictness`` and ``recall`` measure quality on public
conversations, which are not part of memci: ``--data DIR`` or MEMCI_BENCH_DATA names the folder that
holds them. ``recall`` is measured only when it is named, and in several ways side by side, which
``--channels``, ``--without`` and ``--with`` add to the default.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.compare import say
from benchmarks.evidence import Variant, with_options, without
from benchmarks.report import Finding, print_table, write_json
from benchmarks.stage import open_servers, open_stage
from memci.schemas.reads import ContextRequest, SearchRequest

PARTS = ("startup", "accept", "lane", "creation", "scan", "fading", "lag", "reads", "pages")
# These come in a size so small that it shows no more than that they work.
READ_PARTS = ("search", "concurrency", "context")
# These need conversations, and no servers.
# This needs both, and is measured only when it is asked for.
RECALL = "recall"
QUALITY_PARTS = ("segmentation", "compression", "strictness")

Measure = Callable[..., Iterator[Finding]]


def main() -> int:
    """Measure the parts that were asked for; the status is 1 when a bar is not met."""
    arguments = _arguments()
    # Ended from outside, it still stops its servers and workers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    asked = arguments.parts or [*PARTS, *READ_PARTS, *QUALITY_PARTS]
    findings = [
        *_quality([part for part in asked if part in QUALITY_PARTS], arguments),
        *_served([part for part in asked if part not in QUALITY_PARTS], arguments),
    ]
    print_table(findings)
    if arguments.json:
        write_json(findings, arguments.json)
    return int(any(finding.is_met is False for finding in findings))


def _quality(parts: Sequence[str], arguments: Any) -> Iterator[Finding]:
    for part in parts:
        if arguments.data is None:
            say(f"{part} is left out: name a folder of conversations by --data or MEMCI_BENCH_DATA")
        else:
            yield from _measure(part)(arguments.data, quick=arguments.quick)


def _served(parts: Sequence[str], arguments: Any) -> Iterator[Finding]:
    if not parts:
        return
    with open_servers() as servers:
        for part in parts:
            measure = _measure(part)
            with open_stage(servers) as stage:
                yield from measure(stage, quick=arguments.quick, **_more(part, arguments))


def _more(part: str, arguments: Any) -> dict[str, Any]:
    """Return what only some parts are told."""
    if part in READ_PARTS:
        return {"small": arguments.small}
    if part == RECALL:
        return {"data": arguments.data, "variants": _variants(arguments)}
    return {}


def _variants(arguments: Any) -> list[Variant]:
    """Return the ways of asking, the default first."""
    shapes = (ContextRequest, SearchRequest)
    return [
        Variant("default"),
        *(Variant(f"{each} alone", {"channels": each.split(",")}) for each in arguments.channels),
        *(without(each, ContextRequest) for each in arguments.without),
        *(with_options(each, shapes) for each in arguments.options),
    ]


def _measure(part: str) -> Measure:
    say(f"{part} …")
    measure: Measure = import_module(f"benchmarks.{part}").measure
    return measure


def _arguments() -> Any:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parts = [*PARTS, *READ_PARTS, *QUALITY_PARTS, RECALL]
    parser.add_argument("parts", nargs="*", choices=[*parts, []], help=f"default: all but {RECALL}")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    parser.add_argument("--small", action="store_true", help="so little that it only shows: works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the findings here too")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        default=os.environ.get("MEMCI_BENCH_DATA"),
        help="folder with segmentation/*.json, locomo*.json, memorybank_cn*.json",
    )
    asking = parser.add_argument_group("ways of asking, for recall")
    for name, variable, metavar, words in (
        ("--channels", "channels", "NAMES", "these channels alone, such as lexical"),
        ("--without", "without", "NAME", "all but this channel or source, such as memory"),
        ("--with", "options", "OPTION=JSON", "this option of requests, such as k=5;recent=0"),
    ):
        asking.add_argument(
            name, dest=variable, metavar=metavar, action="append", default=[], help=words
        )
    arguments = parser.parse_args()
    if RECALL in arguments.parts and arguments.data is None:
        parser.error(f"{RECALL} needs conversations: name their folder by --data")
    try:
        _variants(arguments)
    except ValueError as error:
        parser.error(str(error))
    return arguments


if __name__ == "__main__":
    sys.exit(main())
