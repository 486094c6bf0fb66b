"""The README is true: what it names is there, and what it shows works as it stands."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from tests.support import parts
from tests.support.fleet import ROOT
from tests.support.producers import open_house

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
_ANYWHERE = "http://127.0.0.1:8000"


def commands(start: str) -> list[list[str]]:
    """Commands of the README that begin so, without their comments."""
    text = "\n".join(body for _, body in BLOCKS).replace("\\\n", " ")
    return [
        shlex.split(line, comments=True) for line in text.splitlines() if line.startswith(start)
    ]


@pytest.fixture(scope="module")
def served(shared_postgres, process_redis, tmp_path_factory):
    """A whole memci; gives the URL of its API and the environment of its command line."""
    from memci.testing import database_copy

    folder = tmp_path_factory.mktemp("served")
    with (
        database_copy(shared_postgres) as url,
        open_house(url, process_redis.url, folder),
        parts.start("api", url, process_redis.url, folder) as api,
    ):
        api.wait_ready()
        address = f"http://127.0.0.1:{api.environment['MEMCI_PORT']}"
        yield SimpleNamespace(url=address, environment={**os.environ, "MEMCI_API_URL": address})


def test_every_target_that_it_names_is_there():
    named = set(re.findall(r"(?:`|^)make (?:[A-Z_]+=\S+ )?([a-z-]+)", README, re.MULTILINE))
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    targets = {line.split()[1] for line in listed.stdout.splitlines()}
    assert {"demo", "test", "up", "check", "bench"} <= named
    assert named <= targets


def test_every_link_leads_somewhere():
    links = re.findall(r"\]\(([^)#]+)", README)
    assert links
    assert [link for link in links if "//" not in link and not (ROOT / link).exists()] == []


def test_every_room_of_the_house_is_there():
    (house,) = [body for _, body in BLOCKS if "memci/domain/ " in body]
    rooms = re.findall(r"(?:memci/)?[a-z_]+(?:/|\.py)(?=\s)", house)
    assert len(rooms) > 10
    assert [
        each for each in rooms if not any((ROOT / base / each).exists() for base in ("", "memci"))
    ] == []


@pytest.mark.timeout(240)
def test_the_command_line_works_as_shown(served, tmp_path: Path):
    message = {"role": "user", "content": "The train to Porto leaves at 9:40; I pack the blue bag."}
    (tmp_path / "chat.jsonl").write_text(json.dumps(message) + "\n")
    shown = commands(".venv/bin/memci ")
    assert [words[1] for words in shown] == [
        "remember", "recall", "search", "context", "agents", "memory", "memory", "doctor",
        "pages", "pages", "pages",
    ]  # fmt: skip
    for _, verb, *arguments in shown:
        if verb == "doctor":  # it looks at this machine: what it says is not the README's matter
            continue
        wait = ["--wait"] if verb == "remember" else []
        done = subprocess.run(
            [sys.executable, "-m", "memci.cli", verb, *arguments, *wait],
            cwd=tmp_path, env={**served.environment, "PYTHONPATH": str(ROOT)},
            capture_output=True, text=True, check=False, timeout=100,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, ""), (verb, done.stdout)
        looks = {"agents": "alice", "memory": "alice", "pages": "usr-1"}
        expected = looks.get(verb, "" if verb == "remember" else "Porto")
        assert expected in done.stdout


def python_with(word: str) -> str:
    """The one example in Python in which a word stands."""
    (body,) = [body for language, body in BLOCKS if language == "python" and word in body]
    return body


@pytest.mark.timeout(240)
def test_asyncio_works_as_shown(served):
    example = python_with("AsyncMemci").replace(_ANYWHERE, served.url)
    names: dict[str, Any] = {}
    work = f"async def main():\n{indent(example, '    ')}\n    return context"
    exec(work, names)  # noqa: S102 - it is our own
    assert "The hotel is paid." in str(asyncio.run(names["main"]()).messages)


@pytest.mark.timeout(240)
def test_python_and_curl_work_as_shown(served):
    python = python_with("your_model")
    seen: list[object] = []
    names = {"your_model": seen.append}
    exec(python.replace(_ANYWHERE, served.url), names)  # noqa: S102 - it is our own
    names["memory"]._transport.close()
    assert any("9:40" in str(message) for message in seen[0])
    answers = []
    for words in commands("curl "):
        url, body = words[2].replace(_ANYWHERE, served.url), words[words.index("-d") + 1]
        answers.append(httpx.post(url, json=json.loads(body), timeout=40))
    assert [answer.status_code for answer in answers] == [202, 200]
    assert "Lisbon" in answers[1].text
