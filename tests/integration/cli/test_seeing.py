"""Networks and their fading on the command line, against the real API and a real terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from memci import Memci
from memci.errors import InvalidInputError, NotFoundError
from memci.testing import wait_until
from tests.integration.http.serving import Served, served_alone
from tests.support.command_line import MEMCI, environment, run, run_json
from tests.support.fading import LONG
from tests.support.network import AgentUnderTest


@pytest.fixture
def ada(server: Served) -> AgentUnderTest:
    made = AgentUnderTest(server.runtime.database)
    made.remember(f"A [Grace] {LONG}", "B [云南] 我们准备四月去云南旅行")
    return made


def fade(ada: AgentUnderTest) -> int:
    """Make one memory shrink and another be forgotten; return the id of the second."""
    shortened, forgotten = (node.id for node in ada.nodes("memory"))
    ada.execute("DELETE FROM focus WHERE agent_id = %s")
    ada.execute("UPDATE link SET strength = 0.1 WHERE agent_id = %s AND source = %s", shortened)
    ada.execute("UPDATE link SET strength = 0.001 WHERE agent_id = %s AND source = %s", forgotten)
    ada.compress()
    assert forgotten not in {node.id for node in ada.nodes()}
    return int(forgotten)


def test_the_current_network_and_that_of_a_pass(ada: AgentUnderTest, settings: dict[str, str]):
    ada.compress()
    forgotten = fade(ada)
    now = run("memory", "nodes", "--agent", "ada", "--graph", settings=settings)
    assert (now.returncode, now.stderr) == (0, "")
    assert now.stdout.startswith("ada, now: 3 nodes, ")
    assert f"#{forgotten} forgotten: 云南" in now.stdout
    assert "\x1b" not in now.stdout
    then = run("memory", "nodes", "--agent", "ada", "--pass", "1", settings=settings)
    assert then.stdout.startswith("ada, after pass 1, ")
    assert re.search(rf"#{forgotten} importance .* \(forgotten in pass 2\)", then.stdout)
    assert "● #" in then.stdout
    as_json = run_json(
        "memory", "nodes", "--agent", "ada", "--graph", "--pass", "1", settings=settings
    )
    assert as_json["pass_number"] == 1
    dot = run("memory", "nodes", "--agent", "ada", "--dot", settings=settings)
    assert dot.stdout.startswith("digraph memory {")
    assert "-> " in dot.stdout


def test_an_unknown_pass_is_refused(ada: AgentUnderTest, settings: dict[str, str]):
    none = run("memory", "nodes", "--agent", "ada", "--graph", "--pass", "3", settings=settings)
    assert none.returncode == 1
    assert none.stderr.startswith("memci: there is no pass 3, ")
    assert "no snapshot of this agent's network is kept" in none.stderr
    for wrong in (["7", "--graph"], ["--graph", "--kind", "memory"], ["--dot", "--cursor", "1"]):
        done = run("memory", "nodes", "--agent", "ada", *wrong, settings=settings)
        assert (done.returncode, done.stdout) == (2, "")
        assert "show the whole network" in done.stderr
    assert run("memory", "nodes", "-a", "ada", "--pass", "0", settings=settings).returncode == 2


def test_a_plot_is_a_file(ada: AgentUnderTest, settings: dict[str, str], tmp_path: Path):
    file = tmp_path / "memories.png"
    nothing = run("memory", "plot", "--agent", "ada", "-o", str(file), settings=settings)
    assert nothing.returncode == 1
    assert "nothing to draw" in nothing.stderr
    assert not file.exists()
    ada.compress(passes=2)
    fade(ada)
    file.write_text("what is there is replaced")
    done = run("memory", "plot", "--agent", "ada", "-o", str(file), settings=settings)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{file}: 2 memories over 3 passes\n"
    assert file.read_bytes().startswith(b"\x89PNG")
    plot = run_json("memory", "plot", "--agent", "ada", settings=settings)
    assert [each["number"] for each in plot["passes"]] == [1, 2, 3]
    assert [each["forgotten"] for each in plot["memories"]] == [False, True]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-o", "x.gif"], "expected a name that ends in .png, .svg or .pdf"),
        (["-o", "no/such/folder/x.png"], "there is no folder no/such/folder"),
        ([], "expected -o FILE"),
    ],
)
def test_a_wrong_file_is_reported_before_any_request(arguments: list[str], complaint: str):
    done = run(
        "memory",
        "plot",
        "--agent",
        "ada",
        *arguments,
        settings={"MEMCI_API_URL": "http://127.0.0.1:9"},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr


def test_without_matplotlib_it_says_what_to_install(
    ada: AgentUnderTest, settings: dict[str, str], tmp_path: Path
):
    ada.compress()
    # The first folder on the path has a matplotlib that cannot be imported.
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'matplotlib'\", name='matplotlib')"
    )
    path = f"{tmp_path}:{environment()['PYTHONPATH']}"
    file = tmp_path / "x.png"
    fresh = {**settings, "PYTHONPATH": path}
    done = run("memory", "plot", "--agent", "ada", "-o", str(file), settings=fresh, fresh=True)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert 'pip install "memci[plot]"' in line
    assert not file.exists()


def test_in_a_pipe_watch_prints_once(ada: AgentUnderTest, settings: dict[str, str]):
    ada.compress()
    forgotten = fade(ada)
    done = run("memory", "watch", "--agent", "ada", settings=settings)
    assert (done.returncode, done.stderr) == (0, "")
    assert "pass 2 finished: 4 scanned, 1 shortened, 1 forgotten" in done.stdout
    assert f"[forgotten] #{forgotten} in pass 2 (threshold): 云南" in done.stdout
    assert re.search(r"#\d+ .* 19% of 99  ↓  Grace", done.stdout)
    assert "\x1b" not in done.stdout
    assert not any(line.endswith(" ") for line in done.stdout.splitlines())
    answer = run_json("memory", "watch", "--agent", "ada", settings=settings)
    assert answer["latest_pass"]["number"] == 2
    assert [each["id"] for each in answer["forgotten"]] == [forgotten]


def test_an_unknown_agent_cannot_be_watched(settings: dict[str, str], server: Served):
    done = run("memory", "watch", "--agent", "nobody", settings=settings)
    assert done.returncode == 1
    assert "there is no agent nobody" in done.stderr


class Watched:
    """`memci memory watch` on its own terminal."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self.process = process
        self._terminal = terminal
        self._output = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        with suppress(OSError):  # the other end was closed
            while data := os.read(self._terminal, 65_536):
                self._output += data

    def wait_for_output(self, text: str) -> None:
        def printed() -> bool:
            assert self.process.poll() is None, self._output.decode()
            return text in re.sub(
                r"\x1b\[[0-9;?]*[a-zA-Z]", "", self._output.decode(errors="replace")
            )

        wait_until(printed, f"it prints {text!r}", timeout_s=60)

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(20)
        self._reader.join(20)
        return code

    @property
    def output(self) -> str:
        return self._output.decode()


@contextmanager
def watching(*arguments: str, **settings: str) -> Iterator[Watched]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*MEMCI, "memory", "watch", "--agent", *arguments],
        env=environment(**settings, TERM="xterm-256color", COLUMNS="90", LINES="24"),
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    watched = Watched(process, ours)
    try:
        yield watched
    finally:
        process.kill()
        process.wait(20)
        watched._reader.join(20)
        os.close(ours)


def test_on_a_terminal_watch_follows_passes_until_ctrl_c(
    ada: AgentUnderTest, settings: dict[str, str]
):
    with watching("ada", "--every", "0.2", **settings) as watched:
        watched.wait_for_output("no pass yet")
        watched.wait_for_output("100% of")
        ada.compress()
        watched.wait_for_output("pass 1 finished")
        forgotten = fade(ada)
        watched.wait_for_output(f"[forgotten] #{forgotten} in pass 2 (threshold)")
        watched.wait_for_output("19% of 99")
        assert watched.end() == 0
    assert "Traceback" not in watched.output
    assert "\x1b[?25h" in watched.output.rpartition("\x1b[?25l")[2]  # the cursor is back


def test_watch_waits_for_a_stopped_server(database_url: str, broker_url: str):
    with ExitStack() as stack:
        server = stack.enter_context(served_alone(database_url, broker_url))
        AgentUnderTest(server.runtime.database).remember(f"A [Grace] {LONG}")
        address = {"MEMCI_API_URL": server.url}
        with watching("ada", "--every", "0.2", **address) as watched:
            watched.wait_for_output("no pass yet")
            stack.close()
            watched.wait_for_output("trying again")
            assert watched.end() == 0


def test_wrong_queries_over_http_are_refused(ada: AgentUnderTest, server: Served):
    ada.compress()
    with httpx.Client(base_url=f"{server.url}/v1/agents/ada") as http:
        for query in ("pass=0", "pass=x", "limit=0", "limit=10001"):
            answer = http.get(f"/network?{query}")
            assert answer.status_code == 422
            assert answer.json()["field"] == query.partition("=")[0]
        assert http.get("/passes?cursor=x").status_code == 422
        assert http.get("/fading?passes=501").status_code == 422
        body = http.get("/network?pass=1").json()
        assert json.dumps(body)
        assert body["pass_number"] == 1


def test_the_client_reads_networks_passes_and_fading(ada: AgentUnderTest, server: Served):
    ada.compress(passes=2)
    with Memci(server.url) as memci:
        memory = memci.agent("ada")
        assert memory.network().pass_number is None
        then = memory.network(number=1, limit=2)
        assert (then.pass_number, len(then.nodes)) == (1, 2)
        assert [each.number for each in memory.passes(limit=1).passes] == [2]
        assert [each.number for each in memory.fading(passes=5).passes] == [1, 2]
        with pytest.raises(NotFoundError):
            memci.agent("bob").network(number=1)
        with pytest.raises(InvalidInputError):
            memory.network(number=0)
