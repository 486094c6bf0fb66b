"""The whole demo, its end, and its sample conversations."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from memci.testing import wait_until
from tests.support.command_line import MEMCI, environment, processes_of, run

pytestmark = pytest.mark.timeout(400)


@pytest.mark.long
def test_the_demo_shows_everything_and_leaves_nothing(tmp_path: Path):
    done = run("demo", settings={"MEMCI_DATA_DIR": str(tmp_path), "MEMCI_API_KEY": "not used"})
    assert (done.returncode, done.stderr) == (0, "")
    for act in ("1  Start", "2  Remember", "3  Forget", "4  Recall", "5  Context", "6  Stop"):
        assert f"\n{act}  " in done.stdout
    jobs = [line for line in done.stdout.splitlines() if line.endswith("  done")]
    assert {line.split()[0] for line in jobs} == {"mira", "chen"}
    for word in ("umbrella", "赛马"):
        assert "forgotten" in _answer(done.stdout, word)
        assert "[memory]" not in _answer(done.stdout, word)
    for word in ("Biscuit", "霸王龙"):
        assert "[memory]" in _answer(done.stdout, word)
    for word in ("submarine", "潜水艇"):
        assert "never known" in _answer(done.stdout, word)
    assert done.stdout.count(" of 800 tokens · receipt ") == 2
    assert not (tmp_path / "demo").exists()
    assert processes_of(tmp_path / "demo") == []


def test_a_demo_that_is_stopped_leaves_nothing(tmp_path: Path):
    folder = tmp_path / "demo"
    with (tmp_path / "said").open("wb") as out:
        process = subprocess.Popen(
            [*MEMCI, "demo"], env=environment(MEMCI_DATA_DIR=str(tmp_path)), stdout=out
        )
    try:
        wait_until((folder / "logs").exists, "the demo's servers run", timeout_s=100)
        process.send_signal(signal.SIGINT)
        assert process.wait(100) == 130
    finally:
        process.kill()
        process.wait(10)
    assert "folder is removed" in (tmp_path / "said").read_text()
    assert not folder.exists()
    assert processes_of(folder) == []


def test_the_conversations_can_be_written_to_files(tmp_path: Path):
    folder = tmp_path / "samples"
    done = run("sample", str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [str(folder / "english.jsonl"), str(folder / "chinese.jsonl")]
    for path in map(Path, done.stdout.split()):
        messages = list(map(json.loads, path.read_text().splitlines()))
        assert {"user", "assistant"} <= {each["role"] for each in messages}


def _answer(output: str, word: str) -> str:
    """Return the output of the recall of a word."""
    return output.split(f"recall({word!r})", 1)[1].split("recall(", 1)[0]
