"""One run of the soak: load and faults, a drain, checks and the report."""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

from benchmarks.compare import say
from tests.soak.faults import Faults
from tests.soak.ledger import Ledger
from tests.soak.load import Load, Rates
from tests.soak.stack import running


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    with running(given.folder, given.broker_url, given.lease_ms) as stack:
        faults = Faults(stack, random.Random(given.seed))
        ledger = Ledger()
        load = Load(stack, ledger, Rates(given.bulk_rate, given.chat_rate), given.seed,
                    faults.data_faults)  # fmt: skip
        with load.running():
            faults.run(given.minutes * 60, given.period)
        say(str(ledger.answers))
        say(str(ledger.counts))
        say(str(ledger.broken))
        say(str(len(faults.made)))
        for each in stack.log_lines("exited with"):
            say(each)
        stack.stop()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--period", type=float, default=3.5)
    parser.add_argument("--bulk-rate", type=float, default=150)
    parser.add_argument("--chat-rate", type=float, default=25)
    parser.add_argument("--lease-ms", type=int, default=6_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--broker-url")
    return parser
