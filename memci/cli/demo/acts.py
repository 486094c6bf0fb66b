"""What the demo shows: each act asks the API, and prints what it answered."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

from memci.cli.commands.context import print_context
from memci.cli.commands.recall import REASONS
from memci.cli.demo.screen import Screen, bar
from memci.cli.demo.stories import Story
from memci.cli.output import shortened
from memci.client import Agent
from memci.domain.lane.job import JobState
from memci.errors import MemciError
from memci.shapes.agent import AgentAnswer, JobAnswer, NodeAnswer
from memci.shapes.read import RecallAnswer

_DECAY_RATE = 0.85
_MOST_PASSES = 40
_PASSES_AFTER = 3  # after the first memory is known to be forgotten
_SHOW_EVERY = 4
_TIMEOUT_S = 120.0
_DEPTH = 10
_BUDGET_TOKENS = 800
_LINE = 96


class Sight(NamedTuple):
    """A memory as it was after a pass."""

    number: int
    content: str
    length: int
    importance: float


@dataclass(slots=True)
class Player:
    """A story, its agent, and what was seen of it so far."""

    story: Story
    agent: Agent
    made: int = 0  # memories
    written: int = 0  # characters in them when they were made
    watched: int | None = None
    sights: list[Sight] = field(default_factory=list)


def remember(cast: Sequence[Player], screen: Screen) -> None:
    """Hand in both conversations, a request a day, and show the jobs as they end."""
    screen.act("Remember", "each day of a conversation becomes a job in its agent's lane")
    jobs = []
    for player in cast:
        # All of this day's forgetting in seconds: passes are what counts, not the clock.
        player.agent.configure({"decay_rate": _DECAY_RATE})
        for day, messages in player.story.days().items():
            answer = player.agent.remember(messages, session_id=day)
            if answer.job_id is None:
                raise MemciError(f"{day} of {player.story.agent} was stored before")
            jobs.append((player, day, len(messages), answer.job_id))
    screen.say(f"{sum(count for _, _, count, _ in jobs)} messages stored, {len(jobs)} jobs queued")
    with screen.waiting("workers make memories …"):
        done = [
            (player, day, count, player.agent.wait(job_id, timeout_s=_TIMEOUT_S))
            for player, day, count, job_id in jobs
        ]
    _check_done([job for *_, job in done])
    screen.table(
        ("lane", "day", "messages", "job", "waited ms", "worked ms", "state"),
        [
            (player.story.agent, day, count, str(job.id)[:8], *_times_ms(job), job.state)
            for player, day, count, job in sorted(done, key=lambda row: str(row[3].finished_at))
        ],
    )
    for player in cast:
        about = player.agent.wait_idle(timeout_s=_TIMEOUT_S)
        screen.say(
            f"{player.story.agent} ({player.story.language}): {about.nodes} nodes, {about.links} "
            f"links; in focus: {', '.join(about.focus)}"
        )


def forget(cast: Sequence[Player], screen: Screen) -> None:
    """Run passes over both networks until something old is forgotten."""
    screen.act("Forget", "compression passes: links decay, memories that lean on them shrink")
    screen.say(
        f"decay_rate is {_DECAY_RATE} for these two agents instead of 0.97, so that "
        "some twenty passes do what takes a hundred"
    )
    rows: list[tuple[object, ...]] = []
    with ThreadPoolExecutor(len(cast)) as threads:
        for each in cast:
            _watch(each)
        gone = 0
        with screen.waiting("passes …"):
            for number in range(1, _MOST_PASSES + 1):
                seen = list(threads.map(_pass, cast))
                gone += all(forgotten for _, _, forgotten in seen)
                if number % _SHOW_EVERY == 1 or gone > _PASSES_AFTER:
                    rows += [
                        _progress(player, about, nodes)
                        for player, (about, nodes, _) in zip(cast, seen, strict=True)
                    ]
                if gone > _PASSES_AFTER:
                    break
    screen.table(
        ("lane", "pass", "memories", "forgotten", "of their characters are left", ""), rows
    )
    for player in cast:
        screen.heading(f"One memory of {player.story.agent}, pass by pass")
        screen.table(
            ("pass", "importance", "characters", "content"),
            [
                (sight.number, sight.importance, sight.length, shortened(sight.content, _LINE))
                for sight in player.sights
            ],
        )


def recall(cast: Sequence[Player], screen: Screen) -> None:
    """Ask each agent for something it knows, something it forgot, something it never knew."""
    screen.act("Recall", "found, forgotten, never known: three different answers")
    for player in cast:
        story = player.story
        for keyword in (story.found, story.forgotten, story.never):
            screen.heading(f"{story.agent}: recall({keyword!r})")
            _print_recall(player.agent.recall([keyword], depth=_DEPTH, limit=3), screen)


def assemble(cast: Sequence[Player], screen: Screen) -> None:
    """Ask each agent for a message list that fits a budget, and print it with its receipt."""
    screen.act("Context", f"what a model is given for a question, in {_BUDGET_TOKENS} tokens")
    for player in cast:
        story = player.story
        screen.heading(f"{story.agent}: context({story.question!r})")
        print_context(
            player.agent.context(
                story.question, budget_tokens=_BUDGET_TOKENS, system=story.system, recent=2
            )
        )


def _check_done(jobs: Sequence[JobAnswer]) -> None:
    for job in jobs:
        if job.state is not JobState.DONE:
            raise MemciError(f"job {job.id} is {job.state}: {job.error}")


def _times_ms(job: JobAnswer) -> tuple[int, int]:
    """Return how long a job waited, and how long it was worked on."""
    if job.started_at is None or job.finished_at is None:
        return 0, 0
    waited, worked = job.started_at - job.created_at, job.finished_at - job.started_at
    return round(waited.total_seconds() * 1000), round(worked.total_seconds() * 1000)


def _watch(player: Player) -> None:
    """Choose the memory to watch, and take note of how much there is."""
    nodes = _memories(player)
    player.made, player.written = len(nodes), sum(node.original_length for node in nodes)
    watched = next((node for node in nodes if player.story.watched in node.content), nodes[0])
    player.watched = watched.id
    player.sights.append(Sight(1, watched.content, watched.length, watched.importance))


def _pass(player: Player) -> tuple[AgentAnswer, list[NodeAnswer], bool]:
    """Run one pass; return what is left, and whether the oldest memory is known as forgotten."""
    player.agent.compress(reason="demo")
    about = player.agent.wait_idle(timeout_s=_TIMEOUT_S)
    nodes = _memories(player)
    watched = next((node for node in nodes if node.id == player.watched), None)
    if watched and watched.length < player.sights[-1].length:
        player.sights.append(
            Sight(about.passes, watched.content, watched.length, watched.importance)
        )
    asked = player.agent.recall([player.story.forgotten], depth=_DEPTH)
    return about, nodes, bool(asked.forgotten) and not asked.memories


def _progress(
    player: Player, about: AgentAnswer, nodes: Sequence[NodeAnswer]
) -> tuple[object, ...]:
    left = sum(node.length for node in nodes) / max(player.written, 1)
    gone = player.made - len(nodes)
    return player.story.agent, about.passes, len(nodes), gone, bar(left), f"{left:.0%}"


def _memories(player: Player) -> list[NodeAnswer]:
    return player.agent.nodes(kind="memory", limit=500).nodes


def _print_recall(found: RecallAnswer, screen: Screen) -> None:
    for memory in found.memories:
        screen.say(f"[memory] {shortened(memory.content, 160)}")
    for gone in found.forgotten:
        screen.say(f"[forgotten] {gone.relation}: {gone.hint}", style="yellow")
    if found.miss is not None:
        screen.say(f"({REASONS[found.miss.value]})", style="dim")
