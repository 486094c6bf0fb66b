"""Runs the demo on a memci of its own, with a temporary folder and free ports."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple
from uuid import UUID

from memci import embedded
from memci.cli.commands.search import print_context
from memci.cli.demo.stories import DEPTH, STORIES, TIMEOUT_S, DemoAgent, Screen
from memci.cli.output import bar, shortened, working
from memci.cli.up.supervisor import INTERRUPTED, Interrupts
from memci.client import Memci
from memci.config.settings import Settings
from memci.domain.job import JobState
from memci.domain.memory.recall import Miss, miss_entry
from memci.embedded.files import free_port
from memci.errors import MemciError
from memci.language.detection import Language
from memci.schemas.agents import JobAnswer
from memci.schemas.reads import RecallAnswer

DECAY_RATE = 0.85
_MOST_PASSES = 40
_PASSES_AFTER = 1  # further passes after the memory is forgotten
_SHOW_EVERY = 4
_LONGEST_LINE = 96
_BAR_CELLS = 24


class MemoryState(NamedTuple):
    """A memory as it was after a pass."""

    number: int
    importance: float
    length: int
    content: str


class Pass(NamedTuple):
    """The state of the network after a pass."""

    number: int
    memories: int
    characters: int
    forgotten: bool  # whether the memory that the story expects to be forgotten is


class Forgetting:
    """One agent's forgetting: its passes, and one memory through all of them."""

    def __init__(self, demo_agent: DemoAgent) -> None:
        """Choose the memory to watch, and record the initial sizes."""
        self.demo_agent = demo_agent
        nodes = demo_agent.memories()
        self._made = len(nodes)
        self._written = max(1, sum(node.original_length for node in nodes))
        watched = next(
            (each for each in nodes if demo_agent.story.watched in each.content), nodes[0]
        )
        self._watched = watched.id
        self.passes: list[Pass] = []
        self.states = [
            MemoryState(
                demo_agent.agent.about().passes, watched.importance, watched.length, watched.content
            )
        ]

    def run_pass(self) -> None:
        """Run one pass, and record its result."""
        agent = self.demo_agent.agent
        agent.compress(reason="demo")
        number = agent.wait_idle(timeout_s=TIMEOUT_S).passes
        nodes = self.demo_agent.memories()
        watched = next((node for node in nodes if node.id == self._watched), None)
        if watched and watched.length < self.states[-1].length:
            state = MemoryState(number, watched.importance, watched.length, watched.content)
            self.states.append(state)
        asked = agent.recall([self.demo_agent.story.forgotten], depth=DEPTH)
        gone = not asked.memories and (bool(asked.forgotten) or asked.miss is Miss.FORGOTTEN)
        self.passes.append(Pass(number, len(nodes), sum(node.length for node in nodes), gone))

    @property
    def is_done(self) -> bool:
        """Whether the expected memory has been forgotten for some passes."""
        return sum(each.forgotten for each in self.passes) > _PASSES_AFTER

    def is_printed(self, index: int) -> bool:
        """Return True for every few passes, and for the last."""
        last = len(self.passes) - 1
        return index == last or (index < last and index % _SHOW_EVERY == 0)

    def row(self, index: int) -> tuple[object, ...]:
        """Return a pass as a line of the table."""
        done = self.passes[index]
        share = done.characters / self._written
        left = f"{bar(share, _BAR_CELLS)} {share:.0%}"
        forgotten = self._made - done.memories
        return self.demo_agent.name, done.number, done.memories, forgotten, left


def forget(demo_agents: Sequence[DemoAgent], screen: Screen) -> None:
    """Run passes over each network until the expected memory is forgotten."""
    screen.step("Forget", "compression passes: links decay, memories that lean on them shrink")
    screen.say(
        f"A link keeps {DECAY_RATE} of its strength per pass here (decay_rate; the default is "
        "0.97), so that some twenty passes do what takes more than a hundred."
    )
    watches = [Forgetting(demo_agent) for demo_agent in demo_agents]
    with ThreadPoolExecutor(len(demo_agents)) as threads, working("passes …"):
        for _ in range(_MOST_PASSES):
            list(threads.map(Forgetting.run_pass, [each for each in watches if not each.is_done]))
    longest = max(len(each.passes) for each in watches)
    screen.table(
        ("lane", "pass", "memories", "forgotten", "of their text is left"),
        [watch.row(at) for at in range(longest) for watch in watches if watch.is_printed(at)],
    )
    for watch in watches:
        screen.heading(f"One memory of {watch.demo_agent.name}, each time that it shrank")
        screen.table(
            ("pass", "importance", "characters", "content"),
            [(*state[:3], shortened(state.content, _LONGEST_LINE)) for state in watch.states],
        )


_BUDGET_TOKENS = 800
_LINE = 160


def remember(demo_agents: Sequence[DemoAgent], screen: Screen) -> None:
    """Send both conversations, a request a day, and print the jobs in the order they ended."""
    screen.step("Remember", "each day of a conversation becomes a job in its agent's lane")
    sent = []
    for demo_agent in demo_agents:
        demo_agent.agent.configure({"decay_rate": DECAY_RATE})
        for day, messages in demo_agent.story.days().items():
            answer = demo_agent.agent.remember(messages, session_id=day)
            if answer.job_id is None:
                raise MemciError(f"{day} of {demo_agent.name} was stored before")
            sent.append((demo_agent, day, len(messages), answer.job_id))
    screen.say(f"{sum(count for _, _, count, _ in sent)} messages stored, {len(sent)} jobs queued")
    with working("workers make memories …"):
        done = [
            (demo_agent, day, count, _wait(demo_agent, job_id))
            for demo_agent, day, count, job_id in sent
        ]
    screen.table(
        ("lane", "day", "messages", "job", "waited ms", "worked ms", "state"),
        [
            (demo_agent.name, day, count, str(job.id)[:8], *_times_ms(job), job.state)
            for demo_agent, day, count, job in sorted(done, key=lambda row: str(row[3].finished_at))
        ],
    )
    for demo_agent in demo_agents:
        about = demo_agent.agent.wait_idle(timeout_s=TIMEOUT_S)
        screen.say(
            f"{demo_agent.name} ({demo_agent.story.language}): {about.nodes} nodes, "
            f"{about.links} links; in focus: {', '.join(about.focus)}"
        )


def recall(demo_agents: Sequence[DemoAgent], screen: Screen) -> None:
    """Ask each agent for something it knows, something it forgot, something it never knew."""
    screen.step("Recall", "found, forgotten, never known: three different answers")
    for demo_agent in demo_agents:
        for keyword in (demo_agent.story.found, demo_agent.story.forgotten, demo_agent.story.never):
            screen.heading(f"{demo_agent.name}: recall({keyword!r})")
            _print_recall(demo_agent.agent.recall([keyword], depth=DEPTH, limit=3), screen)


def assemble(demo_agents: Sequence[DemoAgent], screen: Screen) -> None:
    """Ask each agent for a message list that fits a budget, and print it with its receipt."""
    screen.step("Context", f"what a model is given for a question, in {_BUDGET_TOKENS} tokens")
    for demo_agent in demo_agents:
        story = demo_agent.story
        screen.heading(f"{demo_agent.name}: context({story.question!r})")
        print_context(
            demo_agent.agent.context(
                story.question, budget_tokens=_BUDGET_TOKENS, system=story.system, recent=2
            )
        )


def _wait(demo_agent: DemoAgent, job_id: UUID) -> JobAnswer:
    job = demo_agent.agent.wait(job_id, timeout_s=TIMEOUT_S)
    if job.state is not JobState.DONE:
        raise MemciError(f"job {job.id} of {demo_agent.name} is {job.state}: {job.error}")
    return job


def _times_ms(job: JobAnswer) -> tuple[int, int]:
    if job.started_at is None or job.finished_at is None:
        return 0, 0
    waited, worked = job.started_at - job.created_at, job.finished_at - job.started_at
    return round(waited.total_seconds() * 1000), round(worked.total_seconds() * 1000)


def _print_recall(found: RecallAnswer, screen: Screen) -> None:
    for memory in found.memories:
        screen.say(f"[memory] {shortened(memory.content, _LINE)}")
    for gone in found.forgotten:
        screen.say(f"[forgotten] {gone.relation}: {gone.hint}", style="yellow")
    if found.miss is not None:
        screen.say(miss_entry(found.miss, Language.ENGLISH), style="dim")


_READY = "memci is ready"
_LOOK_EVERY_S = 0.2


@contextmanager
def running_memci(
    settings: Settings, interrupts: Interrupts, on_line: Callable[[str], None]
) -> Iterator[str]:
    """Run `memci up` in a fresh folder and yield the address of its API.

    ``on_line`` is called with each line of its output. The folder is removed at the end and after
    Ctrl-C, but kept after an error, for its logs.
    """
    folder = settings.data_dir / "demo"
    _remove_left_over(folder)
    folder.mkdir(mode=0o700, parents=True)
    port, ready = free_port(), Event()
    running = _start(settings, folder, port)
    reader = Thread(target=_read_output, args=(running, on_line, ready), daemon=True)
    reader.start()
    try:
        try:
            while not ready.wait(_LOOK_EVERY_S):
                if not reader.is_alive():
                    raise MemciError(
                        f"the demo's own `memci up` has ended; its logs are in {folder / 'logs'}"
                    )
            yield f"http://127.0.0.1:{port}"
        finally:
            interrupts.impatient = False
            _stop(running, interrupts)
            reader.join()
    except KeyboardInterrupt:
        _remove(folder)
        raise
    _remove(folder)


def _start(settings: Settings, folder: Path, port: int) -> subprocess.Popen[str]:
    # `memci up` ends when this process is killed.
    wrapper = (sys.executable, "-m", "memci.cli.up.parent_death", str(os.getpid()))
    return subprocess.Popen(
        (*wrapper, sys.executable, "-m", "memci.cli", "up"),
        env=_environment(settings, folder, port),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )


def _environment(settings: Settings, folder: Path, port: int) -> Mapping[str, str]:
    """Return an environment without the user's own settings."""
    empty = folder / "memci.toml"
    empty.touch(mode=0o600)
    others = {name: value for name, value in os.environ.items() if not name.startswith("MEMCI_")}
    return {
        **others,
        "MEMCI_CONFIG": str(empty),
        "MEMCI_DATA_DIR": str(folder),
        "MEMCI_EMBEDDER_DIR": str(settings.embedder_folder),
        "MEMCI_PORT": str(port),
        "MEMCI_FLOWER_PORT": "0",
    }


def _read_output(
    running: subprocess.Popen[str], on_line: Callable[[str], None], ready: Event
) -> None:
    """Pass on the output of `memci up` line by line, and note when it is ready."""
    assert running.stdout is not None  # noqa: S101 - it was opened with a pipe
    with running.stdout as lines:
        for line in lines:
            on_line(line.rstrip())
            if line.startswith(_READY):
                ready.set()


def _stop(running: subprocess.Popen[str], interrupts: Interrupts) -> None:
    asked = -1
    while running.poll() is None:
        if interrupts.asked > asked:  # at first, and after each further Ctrl-C
            asked = interrupts.asked
            running.send_signal(signal.SIGINT)
        try:
            running.wait(_LOOK_EVERY_S)
        except subprocess.TimeoutExpired:
            continue


def _remove_left_over(folder: Path) -> None:
    """Remove the folder of a demo that was killed or failed."""
    if not folder.exists():
        return
    with embedded.own(folder):
        pass  # stops servers that still run
    _remove(folder)


def _remove(folder: Path) -> None:
    home = embedded.servers_of(folder).postgres.home.parent
    shutil.rmtree(folder)
    if home.exists():  # servers that root cannot run in a namespace have their own folder
        shutil.rmtree(home)


def run_demo(settings: Settings) -> int:
    """Run the demo; return the exit code."""
    screen = Screen()
    began = time.monotonic()
    try:
        with Interrupts() as interrupts:
            _run_steps(settings, interrupts, screen)
    except KeyboardInterrupt:
        screen.say("Stopped; the demo's folder is removed.")
        return INTERRUPTED
    screen.say(
        f"That was memci, in {time.monotonic() - began:.0f} seconds. `memci up` starts yours."
    )
    return 0


def _run_steps(settings: Settings, interrupts: Interrupts, screen: Screen) -> None:
    screen.say(
        "memci demo: two conversations, remembered, forgotten gently, recalled", style="bold"
    )
    screen.say("Everything below is real and goes through the public HTTP API.")
    screen.step("Start", "PostgreSQL, Redis, API, workers, beat and Flower")
    with running_memci(settings, interrupts, partial(screen.say, style="dim")) as url:
        with Memci(url, wait_ms=10_000) as memci:
            demo_agents = [DemoAgent(story, memci.agent(story.agent)) for story in STORIES]
            remember(demo_agents, screen)
            forget(demo_agents, screen)
            recall(demo_agents, screen)
            assemble(demo_agents, screen)
        screen.step("Stop", "everything, and remove the demo's folder")
