"""What the demo shows: each act asks the API, and prints what it answered."""

from __future__ import annotations

from collections.abc import Sequence

from memci.cli.commands.context import print_context
from memci.cli.commands.recall import REASONS
from memci.cli.demo.forgetting import DECAY_RATE
from memci.cli.demo.player import DEPTH, TIMEOUT_S, Player
from memci.cli.demo.screen import Screen
from memci.cli.output import shortened
from memci.domain.lane.job import JobState
from memci.domain.language import Language
from memci.errors import MemciError
from memci.shapes.agent import JobAnswer
from memci.shapes.read import RecallAnswer

_BUDGET_TOKENS = 800
_LINE = 160


def remember(cast: Sequence[Player], screen: Screen) -> None:
    """Hand in both conversations, a request a day, and show the jobs as they ended."""
    screen.act("Remember", "each day of a conversation becomes a job in its agent's lane")
    sent = []
    for player in cast:
        player.agent.configure({"decay_rate": DECAY_RATE})
        for day, messages in player.story.days().items():
            answer = player.agent.remember(messages, session_id=day)
            if answer.job_id is None:
                raise MemciError(f"{day} of {player.name} was stored before")
            sent.append((player, day, len(messages), answer.job_id))
    screen.say(f"{sum(count for _, _, count, _ in sent)} messages stored, {len(sent)} jobs queued")
    with screen.waiting("workers make memories …"):
        done = [
            (player, day, count, _done(player, player.agent.wait(job_id, timeout_s=TIMEOUT_S)))
            for player, day, count, job_id in sent
        ]
    screen.table(
        ("lane", "day", "messages", "job", "waited ms", "worked ms", "state"),
        [
            (player.name, day, count, str(job.id)[:8], *_times_ms(job), job.state)
            for player, day, count, job in sorted(done, key=lambda row: str(row[3].finished_at))
        ],
    )
    for player in cast:
        about = player.agent.wait_idle(timeout_s=TIMEOUT_S)
        screen.say(
            f"{player.name} ({player.story.language}): {about.nodes} nodes, {about.links} links; "
            f"in focus: {', '.join(about.focus)}"
        )


def recall(cast: Sequence[Player], screen: Screen) -> None:
    """Ask each agent for something it knows, something it forgot, something it never knew."""
    screen.act("Recall", "found, forgotten, never known: three different answers")
    for player in cast:
        for keyword in (player.story.found, player.story.forgotten, player.story.never):
            screen.heading(f"{player.name}: recall({keyword!r})")
            _print_recall(player.agent.recall([keyword], depth=DEPTH, limit=3), screen)


def assemble(cast: Sequence[Player], screen: Screen) -> None:
    """Ask each agent for a message list that fits a budget, and print it with its receipt."""
    screen.act("Context", f"what a model is given for a question, in {_BUDGET_TOKENS} tokens")
    for player in cast:
        story = player.story
        screen.heading(f"{player.name}: context({story.question!r})")
        print_context(
            player.agent.context(
                story.question, budget_tokens=_BUDGET_TOKENS, system=story.system, recent=2
            )
        )


def _done(player: Player, job: JobAnswer) -> JobAnswer:
    if job.state is not JobState.DONE:
        raise MemciError(f"job {job.id} of {player.name} is {job.state}: {job.error}")
    return job


def _times_ms(job: JobAnswer) -> tuple[int, int]:
    """Return how long a job waited, and how long it was worked on."""
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
        screen.say(f"({REASONS[Language.ENGLISH][found.miss]})", style="dim")
