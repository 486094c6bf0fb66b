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
import traceback
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.compare import Size, say
from benchmarks.evidence import Variant, with_options, without
from benchmarks.report import Finding, print_table, write_json
from benchmarks.stage import open_servers, open_stage
from memci.schemas.reads import ContextRequest, SearchRequest

PARTS = (
    "startup", "local_stack", "accept", "lane", "creation", "scan", "fading", "lag", "reads",
    "readers", "pages", "search", "large_agent", "concurrency", "context",
)  # fmt: skip
# These need conversations, but no servers.
QUALITY_PARTS = ("segmentation", "compression", "strictness")
# This needs both, and is measured only when it is named.
RECALL = "recall"

Measure = Callable[..., Iterator[Finding]]


def main() -> int:
    """Measure the named parts.

    The status is 1 if a bar is not met or a part failed; the other parts go on.
    """
    arguments = _arguments()
    # When it is terminated, it still stops its servers and workers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    parts_asked = arguments.parts or [*PARTS, *QUALITY_PARTS]
    failures: dict[str, Exception] = {}
    findings = [
        *_quality([part for part in parts_asked if part in QUALITY_PARTS], arguments, failures),
        *_served([part for part in parts_asked if part not in QUALITY_PARTS], arguments, failures),
    ]
    print_table(findings)
    if arguments.json:
        write_json(findings, arguments.json)
    for part, error in failures.items():
        say(f"FAILED: {part}: {type(error).__name__}: {error}")
    return int(bool(failures) or any(finding.is_met is False for finding in findings))


def _quality(
    parts: Sequence[str], arguments: Any, failures: dict[str, Exception]
) -> Iterator[Finding]:
    for part in parts:
        if arguments.data is None:
            say(f"{part} is left out: name a folder of conversations by --data or MEMCI_BENCH_DATA")
        else:
            yield from measured(part, failures, arguments.data, size=arguments.size)


def _served(
    parts: Sequence[str], arguments: Any, failures: dict[str, Exception]
) -> Iterator[Finding]:
    if not parts:
        return
    with open_servers() as servers:
        for part in parts:
            with open_stage(servers) as stage:
                more = _more(part, arguments)
                yield from measured(part, failures, stage, size=arguments.size, **more)


def measured(
    part: str, failures: dict[str, Exception], *of: object, **options: object
) -> Iterator[Finding]:
    """Yield the findings of a part; record its error, so that the other parts go on."""
    say(f"{part} …")
    measure: Measure = import_module(f"benchmarks.{part}").measure
    try:
        yield from measure(*of, **options)
    except Exception as error:  # noqa: BLE001 - any error concerns this part only
        traceback.print_exc()
        failures[part] = error


def _more(part: str, arguments: Any) -> dict[str, Any]:
    """Return the arguments that only some parts take."""
    if part == RECALL:
        return {"data": arguments.data, "variants": _variants(arguments)}
    return {}


def _variants(arguments: Any) -> list[Variant]:
    """Return the variants of requests, the default first."""
    shapes = (ContextRequest, SearchRequest)
    return [
        Variant("default"),
        *(Variant(f"{each} alone", {"channels": each.split(",")}) for each in arguments.channels),
        *(without(each, ContextRequest) for each in arguments.without),
        *(with_options(each, shapes) for each in arguments.options),
    ]


def _arguments() -> Any:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parts = [*PARTS, *QUALITY_PARTS, RECALL]
    parser.add_argument("parts", nargs="*", choices=[*parts, []], help=f"default: all but {RECALL}")
    size = parser.add_mutually_exclusive_group()
    for option, value, words in (
        ("--quick", Size.QUICK, "fewer and shorter runs"),
        ("--tiny", Size.TINY, "so little that it shows no more than that all parts work"),
    ):
        size.add_argument(
            option, dest="size", action="store_const", const=value, default=Size.FULL, help=words
        )
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
