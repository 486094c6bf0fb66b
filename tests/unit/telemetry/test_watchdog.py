"""A process ends if its work computes too long, or holds the lock of the interpreter."""

import signal
import subprocess
import sys
import textwrap

import pytest

from memci.telemetry.watchdog import EXIT_CODE

_FOREVER = "for _ in count(): pass"
_LONGER = "watchdog.allow_more(60); all(time.thread_time() < 2.5 for _ in count())"
# Backtracking, which holds the interpreter's lock.
_STUCK = "re.search('a*a*a*a*b', 'a' * 5_000)"


def _run(limit_s: float, stuck_s: float, work: str) -> subprocess.CompletedProcess[str]:
    script = textwrap.dedent(f"""
        import re, time
        from itertools import count
        from threading import Thread
        from memci.telemetry import watchdog

        def run():
            with watchdog.limited("search", {limit_s}):
                {work}

        watchdog.STUCK_S = {stuck_s}
        watchdog.watch()
        thread = Thread(target=run)
        thread.start()
        thread.join()
    """)
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )


def test_work_that_computes_too_long_ends_the_process() -> None:
    done = _run(0.2, 30, _FOREVER)
    assert done.returncode == EXIT_CODE
    assert "work=search" in done.stdout + done.stderr
    assert " in run" in done.stderr  # where it was


def test_a_pattern_that_backtracks_ends_the_process() -> None:
    done = _run(60, 1.5, _STUCK)
    assert done.returncode == -signal.SIGPROF
    assert " in run" in done.stderr


@pytest.mark.parametrize(
    "work",
    [
        pytest.param("time.sleep(2)", id="it waits"),
        pytest.param(_LONGER, id="it may take longer"),
    ],
)
def test_other_work_goes_on(work: str) -> None:
    done = _run(0.05, 30, work)
    assert (done.returncode, done.stderr) == (0, "")
