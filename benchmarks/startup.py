"""Start times of programs; those that need no small model load none."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from benchmarks.compare import Size, alternate
from benchmarks.report import Bar, Finding
from benchmarks.stage import ROOT, Stage
from memci.embedded.files import free_port
from memci.testing import wait_until

_BAR = Bar(1.5, at_most=True, of="ours")
_HELP = ("-c", "import sys; from memci.cli import main; sys.argv = ['memci', '--help']; main()")
_EMPTY_API = """
import uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.get("/healthz")
def health() -> dict[str, str]:
    return {}
uvicorn.run(app, port=PORT, log_config=None)
"""


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Compare the three starts with bare programs of the same kind."""
    runs = size.pick(1, 3, 7)
    comparisons: list[tuple[str, str, Callable[[], float], Callable[[], float]]] = [
        (
            "start: memci --help",
            "celery --help",
            partial(_run, stage, *_HELP),
            partial(_run, stage, "-m", "celery", "--help"),
        ),
        (
            "start: beat",
            "bare Celery beat",
            partial(_beat, stage, "workers"),
            partial(_beat, stage, "benchmarks.plain_app"),
        ),
        (
            "start: the API, to its first answer",
            "an empty FastAPI app",
            partial(_api, stage, ours=True),
            partial(_api, stage, ours=False),
        ),
    ]
    for name, against, ours, baseline in comparisons:
        ours()  # reads the files and writes byte code
        baseline()
        compared = alternate(ours, baseline, runs, f"{name}, seconds")
        yield compared.finding(name, "s", against, _BAR)
    yield from _torch(stage)


def _run(stage: Stage, *command: str) -> float:
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=stage.environment, check=True, capture_output=True
    )
    return time.perf_counter() - began


def _beat(stage: Stage, app: str) -> float:
    began = time.perf_counter()
    beat = stage.start(
        "beat", "-m", "celery", "-A", app, "beat", "-l", "INFO",
        "-s", str(stage.folder / "schedule"),
    )  # fmt: skip
    beat.wait_for("beat: Starting")
    took = time.perf_counter() - began
    _refuse_torch(beat.popen.pid)
    stage.stop([beat])
    return took


def _api(stage: Stage, *, ours: bool) -> float:
    port = free_port()
    began = time.perf_counter()
    if ours:
        api = stage.start("api", "-m", "memci.http", MEMCI_PORT=str(port))
    else:
        api = stage.start("api", "-c", _EMPTY_API.replace("PORT", str(port)))
    wait_until(
        lambda: _answers(f"http://127.0.0.1:{port}/healthz"), "the API answers", timeout_s=60.0
    )
    took = time.perf_counter() - began
    _refuse_torch(api.popen.pid)
    stage.stop([api])
    return took


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except URLError:
        return False


def _refuse_torch(pid: int) -> None:
    loaded = Path(f"/proc/{pid}/maps").read_text()
    assert "torch" not in loaded, "torch is loaded"


def _torch(stage: Stage) -> Iterator[Finding]:
    """Count modules of torch that the command line imports; the others were checked above."""
    code = (
        "import sys; from memci.cli import main\n"
        "print(sum(name.partition('.')[0] == 'torch' for name in sys.modules))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=stage.environment, check=True,
        capture_output=True,
    ).stdout  # fmt: skip
    yield Finding(
        "start: modules of torch in memci, beat and API",
        float(printed),
        "modules",
        bar=Bar(0, at_most=True),
    )
