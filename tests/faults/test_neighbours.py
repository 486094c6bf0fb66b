"""Hostile and long input of one agent does not keep others from their answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Thread

import pytest

from memci.client import Agent, Memci
from memci.errors import InvalidInputError
from tests.support import parts

HOSTILE = {
    "words of service": "需要" * 2_050,
    "commas": "，" * 100_000,
    "one word": "你" * 100_000,
    "tabs": "\t" * 50_000 + "x",
    "list items": "- x\n" * 20_000,
    "numbers": "1, " * 30_000,
    "conjunctions": "and " * 25_000,
    "letters": "a" * 200_000,
    "emoji": "😀" * 100_000,
    "quotation marks": '"' * 100_000,
    "talk": "I went to the park and saw flowers. Then I went to the library. " * 1_500,
    "Chinese talk": "我今天去了公园，看到了很多花。然后去了图书馆。" * 1_500,
}
# What others may wait for, on a busy machine too; alone a search takes some hundredths of this.
_SEARCH_S, _MEMORY_S = 1.5, 10.0


@pytest.fixture
def memci(database_url: str, broker_url: str, tmp_path: Path) -> Iterator[Memci]:
    with ExitStack() as stack:
        api, *workers = (
            stack.enter_context(parts.start(name, database_url, broker_url, tmp_path))
            for name in ("api", "lane", "context")
        )
        for each in (api, *workers):
            each.wait_ready()
        with Memci(f"http://127.0.0.1:{api.environment['MEMCI_PORT']}", timeout_s=120) as memci:
            yield memci
        assert [each.process.poll() for each in workers] == [None, None]


@pytest.mark.long
@pytest.mark.timeout(600)
def test_others_are_answered_while_hostile_input_is_processed(memci: Memci):
    good = memci.agent("good")
    made(good, [f"I bought {n} red apples at the market" for n in range(20)], timeout_s=60)
    slow: dict[str, float] = {}
    for at, (name, text) in enumerate(HOSTILE.items()):
        hostile = memci.agent(f"hostile-{at}")
        job = hostile.remember(text).job_id
        assert job is not None
        working = Thread(target=ask, args=(hostile, text))
        working.start()
        longest = 0.0
        while working.is_alive():
            longest = max(longest, seconds(lambda: good.search("apples at the market")))
        working.join()
        if longest > _SEARCH_S:
            slow[name] = longest
        made(good, f"I like the number {at}", timeout_s=_MEMORY_S)
        hostile.wait(job, timeout_s=120)
    assert slow == {}


def made(agent: Agent, messages: str | list[str], timeout_s: float) -> None:
    """Store messages; fail unless they are in memory in time."""
    job = agent.remember(messages).job_id
    assert job is not None
    agent.wait(job, timeout_s=timeout_s)


def ask(agent: Agent, text: str) -> None:
    """Ask for a context with a long question of the same kind, twice."""
    for _ in range(2):
        try:
            agent.context(text[:4_000], budget_tokens=8_000, wait_ms=0)
        except InvalidInputError:  # the question alone has more tokens
            return


def seconds(do: Callable[[], object]) -> float:
    began = time.monotonic()
    do()
    return time.monotonic() - began
