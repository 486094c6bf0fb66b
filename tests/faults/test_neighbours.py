"""Hostile and long input of one agent does not keep others from their answers.

The table that it prints: for each input, 95 % of another agent's searches alone and while the input
is worked on, their ratio, and the time until another agent's message is in memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from benchmarks.compare import percentile
from memci.testing import wait_until
from tests.support.command_line import up

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
# The goals are 3 and 10 seconds on an idle machine; other tests run beside this one.
_MOST_RATIO, _MEMORY_S = 8.0, 30.0
_SEARCHES = 60  # alone, and while each input is worked on
_QUERY = 65_536  # characters: the longest


@dataclass
class Service:
    """The API of a running memci; every answer is lawful."""

    url: str
    unlawful: list[str] = field(default_factory=list)

    def post(self, agent: str, path: str, **body: Any) -> httpx.Response:
        answer = httpx.post(f"{self.url}/v1/agents/{agent}/{path}", json=body, timeout=120)
        refused = answer.status_code == 503 and "Retry-After" in answer.headers
        if answer.status_code >= 500 and not refused:
            self.unlawful.append(f"{path}: {answer.status_code}")
        return answer

    def remember(self, agent: str, *texts: str) -> Callable[[], bool]:
        """Store messages; return whether they are in memory, to be asked."""
        messages = [{"role": "user", "content": each} for each in texts]
        stored = self.post(agent, "messages", messages=messages, remember="now").json()
        job = f"{self.url}/v1/agents/{agent}/jobs/{stored['job_id']}"
        return lambda: httpx.get(job, timeout=30).json()["state"] == "done"

    def search_s(self) -> float:
        """Return the seconds of another agent's search."""
        began = time.monotonic()
        assert self.post("good", "search", query="apples at the market").is_success
        return time.monotonic() - began


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with up(tmp_path / "data", tmp_path / "said") as running:
        running.wait_for_log("memci is ready at ")
        parts = running.parts()
        yield Service(running.log_text.partition("memci is ready at ")[2].split()[0])
        assert running.parts() == parts, "no part has ended"
        running.interrupt()
        running.process.wait(100)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_others_are_answered_while_hostile_input_is_processed(service: Service):
    said = (f"I bought {number} red apples at the market" for number in range(20))
    is_made = service.remember("good", *said)
    wait_until(is_made, "the first memories", timeout_s=60)
    slow = []
    for name, text in HOSTILE.items():
        alone = [service.search_s() for _ in range(_SEARCHES)]
        beside, memory_s, work_s = measure(service, name, text)
        ratio = percentile(beside, 0.95) / percentile(alone, 0.95)
        line = (
            f"{name:18} p95 alone {percentile(alone, 0.95) * 1000:6.0f} ms, beside"
            f" {percentile(beside, 0.95) * 1000:6.0f} ms, ratio {ratio:5.2f},"
            f" of {len(beside):4}; memory {memory_s:4.1f} s; worked on {work_s:5.1f} s"
        )
        print(line)  # noqa: T201 - the numbers of this machine
        if ratio > _MOST_RATIO or memory_s > _MEMORY_S:
            slow.append(line)
    assert service.unlawful == []
    assert not slow, "\n".join(slow)


def measure(service: Service, name: str, text: str) -> tuple[list[float], float, float]:
    """Measure while one agent has sent the input, and asks with it again and again.

    Returns the seconds of another agent's searches, of its memory, and of the work on the input.
    """
    agent = f"hostile-{name.replace(' ', '-')}"
    began = time.monotonic()
    is_done = service.remember(agent, text)
    is_over = False

    def ask() -> None:
        while not is_over:
            service.post(agent, "context", query=text[:4_000], budget_tokens=8_000)
            service.post(agent, "search", query=text[:_QUERY])

    asking = Thread(target=ask)
    asking.start()
    sent = time.monotonic()
    is_made, memory_s, work_s = service.remember("good", f"I like {name}"), 0.0, 0.0
    beside = []
    while len(beside) < _SEARCHES or not (memory_s and work_s):
        beside.append(service.search_s())
        memory_s = memory_s or (time.monotonic() - sent) * is_made()
        work_s = work_s or (time.monotonic() - began) * is_done()
    is_over = True
    asking.join()
    return beside, memory_s, work_s
