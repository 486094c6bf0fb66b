"""Evidence found before and after compression passes without new input.

``python -m benchmarks.forgetting --data locomo_dev.json [--plot FILE] [--json FILE]``

Conversations are remembered by real workers, over HTTP; then passes run, and at some of them every
question is searched for: among memories alone, and among memories and messages together. A turn
of evidence counts as found when a hit inside the token budget was made of it. Of memories it is
told as well how often the words of a short answer still stand in those made of its evidence.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import string
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.compare import say
from benchmarks.questions import Question, Talk, read_locomo
from benchmarks.stage import LANE_POOL, Stage, open_servers, open_stage
from memci import Memci
from memci.broker.names import COMPRESS_QUEUE, LANE_QUEUE, READ_QUEUE, UPKEEP_QUEUE
from memci.client.client import Agent
from memci.schemas.agents import AgentAnswer
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.testing import wait_until

PASSES = (10, 30, 100)
BUDGETS = (500, 1_000, 2_000)
_SOURCES = {"memories": ["memory"], "all": ["memory", "chat"]}
_MESSAGES_AT_ONCE = 20
_WAIT_S = 900.0
_LONGEST_ANSWER = 6
_ANSWERED = frozenset((1, 2, 4))
_DROPPED = frozenset(("a", "an", "the", "and"))
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation + "‘’“”–—…", " "))


@dataclass(frozen=True, slots=True)
class State:
    """The evidence left after so many passes; shares are 0 to 1, means over questions."""

    passes: int
    memories: int
    text_left: float
    found: dict[str, dict[int, float]]  # by source and token budget
    answers_left: float


def main() -> int:
    """Measure, print the table, and write the requested files."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    talks = read_locomo(arguments.data)[: arguments.conversations]
    with open_servers() as servers, open_stage(servers) as stage:
        states = list(_measure(stage, talks, arguments.passes))
    _print(states)
    if arguments.json:
        rows = [{name: getattr(each, name) for name in State.__slots__} for each in states]
        arguments.json.write_text(json.dumps(rows, indent=1))
    if arguments.plot:
        plot(states, arguments.plot)
    return 0


def _measure(stage: Stage, talks: Sequence[Talk], passes: Sequence[int]) -> Iterator[State]:
    api, port = stage.start_api()
    workers = [
        stage.start_worker("workers", LANE_QUEUE, *LANE_POOL, name="lane"),
        stage.start_worker("workers", READ_QUEUE, "-P", "threads", "-c", "4", name="context"),
        stage.start_worker("workers", UPKEEP_QUEUE, "-P", "solo", name="upkeep"),
        stage.start("beat", "-m", "celery", "-A", "workers", "beat"),
    ]
    with ExitStack() as stack:
        memci = stack.enter_context(Memci(f"http://127.0.0.1:{port}", timeout_s=60.0))
        agents = {talk.id: memci.agent(talk.id) for talk in talks}
        for talk in talks:
            _remember(agents[talk.id], talk)
        _wait(agents.values(), lambda about: about.queued == 0)
        # Nothing was forgotten until here.
        compress = ("-P", "threads", "-c", "2")
        original = {talk.id: _length(agents[talk.id]) for talk in talks}
        yield _state(0, talks, agents, original)
        workers.append(stage.start_worker("workers", COMPRESS_QUEUE, *compress, name="compress"))
        for number in range(1, max(passes) + 1):
            _run_pass(agents.values(), number)
            if number in passes:
                yield _state(number, talks, agents, original)
    stage.stop([*workers, api])


def _remember(agent: Agent, talk: Talk) -> None:
    for session, messages in talk.sessions.items():
        for start in range(0, len(messages), _MESSAGES_AT_ONCE):
            agent.remember(messages[start : start + _MESSAGES_AT_ONCE], session_id=session)
    say(f"{talk.id}: {sum(map(len, talk.sessions.values()))} messages sent")


def _run_pass(agents: Collection[Agent], number: int) -> None:
    """Run one whole pass of each agent; creations requested the first one."""
    for agent in agents:
        if number > 1:
            agent.compress(reason="benchmark")
    _wait(agents, lambda about: about.idle)
    if number % 10 == 0:
        say(f"pass {number}")


def _wait(agents: Iterable[Agent], done: Callable[[AgentAnswer], bool]) -> None:
    for agent in agents:
        wait_until(lambda agent=agent: done(agent.about()), "the agent is done", timeout_s=_WAIT_S)


def _state(
    passes: int, talks: Sequence[Talk], agents: dict[str, Agent], original: dict[str, int]
) -> State:
    contents = {talk.id: _contents(agents[talk.id]) for talk in talks}
    asked = [(agents[talk.id], talk.id, each) for talk in talks for each in talk.questions]
    found = {
        source: _found([(agent, each) for agent, _, each in asked], source) for source in _SOURCES
    }
    answers = [
        _is_answered(each, contents[talk_id]) for _, talk_id, each in asked if _is_short(each)
    ]
    left = sum(len(text) for held in contents.values() for text, _ in held)
    state = State(
        passes,
        sum(map(len, contents.values())),
        left / max(1, sum(original.values())),
        found,
        fmean(answers),
    )
    say(str(state))
    return state


def _found(asked: Sequence[tuple[Agent, Question]], source: str) -> dict[int, float]:
    """Return the mean share of the evidence inside each budget."""
    tokens = OfflineTokenCounter("o200k_base")
    shares: dict[int, list[float]] = {budget: [] for budget in BUDGETS}
    for agent, question in asked:
        hits = agent.search(question.text, k=100, sources=_SOURCES[source]).hits
        for budget in BUDGETS:
            left, seen = budget, set[str]()
            for hit in hits:
                cost = tokens.count(hit.text)
                if cost <= left:
                    left -= cost
                    seen.update(hit.message_ids)
            shares[budget].append(len(question.evidence & seen) / len(question.evidence))
    return {budget: fmean(values) for budget, values in shares.items()}


def _contents(agent: Agent) -> list[tuple[str, frozenset[str]]]:
    """Return the text of each memory and the messages that it was made of."""
    held, cursor = [], None
    while True:
        page = agent.nodes(kind="memory", limit=200, **({"cursor": cursor} if cursor else {}))
        held += [(node.content, frozenset(node.message_ids)) for node in page.nodes]
        cursor = page.next_cursor
        if cursor is None:
            return held


def _length(agent: Agent) -> int:
    return sum(len(text) for text, _ in _contents(agent))


def _is_short(question: Question) -> bool:
    return question.category in _ANSWERED and 0 < len(_words(question.answer)) <= _LONGEST_ANSWER


def _is_answered(question: Question, held: Sequence[tuple[str, frozenset[str]]]) -> bool:
    memory_texts = " ".join(text for text, ids in held if ids & question.evidence)
    return _words(question.answer) <= _words(memory_texts)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.sub(r"\s+", " ", text.lower()).translate(_PUNCTUATION).split()) - _DROPPED


def _print(states: Sequence[State]) -> None:
    table = Table("passes", "memories", "text left", title="What forgetting costs")
    for source in _SOURCES:
        for budget in BUDGETS:
            table.add_column(f"{source} {budget:,}")
    table.add_column("answers left in memories")
    for each in states:
        shares = [each.found[source][budget] for source in _SOURCES for budget in BUDGETS]
        cells = [each.text_left, *shares, each.answers_left]
        table.add_row(
            str(each.passes), f"{each.memories:,}", *(f"{100 * cell:.1f} %" for cell in cells)
        )
    Console(width=150).print(table)


def plot(states: Sequence[State], path: Path) -> None:
    """Draw the shares over passes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    passes = [each.passes for each in states]
    for budget, style in zip(BUDGETS, (":", "--", "-"), strict=True):
        for source, colour in zip(_SOURCES, ("tab:blue", "tab:green"), strict=True):
            shares = [100 * each.found[source][budget] for each in states]
            axes.plot(
                passes,
                shares,
                style,
                color=colour,
                marker="o",
                label=f"{source}, {budget:,} tokens",
            )
    axes.plot(
        passes, [100 * each.text_left for each in states], color="tab:grey", label="text left"
    )
    axes.plot(
        passes, [100 * each.answers_left for each in states], color="tab:red", marker="s",
        label="answers left in memories",
    )  # fmt: skip
    axes.set(
        xlabel="passes without new input", ylabel="%", ylim=(0, 100), title="What forgetting costs"
    )
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=150)


def _arguments() -> Any:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.forgetting", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="FILE", help="LoCoMo's JSON")
    parser.add_argument("--conversations", type=int, metavar="N", help="only the first so many")
    parser.add_argument("--passes", type=int, nargs="+", default=PASSES, metavar="N",
                        help="after which to measure; default: %(default)s")  # fmt: skip
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it here")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
