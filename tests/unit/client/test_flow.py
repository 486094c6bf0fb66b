"""Flows of client methods: which requests are sent, how often, and with which pauses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeVar, cast
from uuid import UUID

import httpx
import pytest

from memci.client.client import AgentMethods
from memci.client.method import ClientOptions
from memci.client.requests import ClientRequest, Flow, Outcome, Pause, Retries
from memci.errors import ConflictError, MemciError, UnavailableError

T = TypeVar("T")
APPENDED = {"job_id": None, "seq": 7, "accepted": 1, "duplicates": 0}
FOUND = {"hits": [], "seq": 7, "pending": 0}


def answer(status: int, body: object, **headers: str) -> httpx.Response:
    request = httpx.Request("POST", "http://test")
    return httpx.Response(status, json=body, headers=headers, request=request)


def problem(status: int, kind: str, **headers: str) -> httpx.Response:
    body = {"type": f"urn:memci:problem:{kind}", "title": "t", "status": status, "detail": "d"}
    return answer(status, body, **headers)


def play(flow: Flow[T], *outcomes: Outcome) -> tuple[T, list[ClientRequest | Pause]]:
    """Answer the requests with the outcomes, in order; return the result and all steps."""
    remaining: Iterator[Outcome] = iter(outcomes)
    steps: list[ClientRequest | Pause] = []
    outcome: Outcome = None
    while True:
        try:
            step = flow.send(outcome)
        except StopIteration as end:
            assert next(remaining, "none") == "none"
            return end.value, steps
        steps.append(step)
        outcome = None if isinstance(step, Pause) else next(remaining)


def body_of(step: ClientRequest | Pause) -> dict[str, Any]:
    assert isinstance(step, ClientRequest)
    assert step.body
    body: dict[str, Any] = json.loads(step.body)
    return body


class Steps:
    """A transport that runs nothing: methods return their flows."""

    def run(self, flow: Flow[T]) -> Flow[T]:
        return flow


def agent_of(agent_id: str, options: ClientOptions) -> Any:
    return AgentMethods(agent_id, options, cast("Any", Steps()))


@pytest.fixture
def memory() -> Any:
    return agent_of("alice", ClientOptions(wait_ms=1500))


MESSAGE = [{"role": "user", "content": "x"}]


def test_a_read_waits_for_the_writes_of_this_client(memory: Any) -> None:
    _, (before,) = play(memory.search("q"), answer(200, FOUND))
    assert body_of(before) == {"query": "q"}
    play(memory.remember(MESSAGE), answer(202, APPENDED))
    _, (after,) = play(memory.search("q"), answer(200, FOUND))
    assert body_of(after) == {"query": "q", "min_seq": 7, "wait_ms": 1500}
    assert isinstance(after, ClientRequest)
    assert after.extra_timeout_s == 1.5
    _, (own,) = play(memory.search("q", min_seq=3, wait_ms=0), answer(200, FOUND))
    assert body_of(own) == {"query": "q", "min_seq": 3, "wait_ms": 0}


def test_a_read_does_not_wait_for_writes_to_another_agent() -> None:
    options = ClientOptions()
    play(agent_of("alice", options).remember(MESSAGE), answer(202, APPENDED))
    _, (read,) = play(agent_of("bob", options).search("q"), answer(200, FOUND))
    assert "min_seq" not in body_of(read)


@pytest.mark.parametrize("status", [429, 503])
def test_a_refused_write_is_sent_again_with_the_same_key(memory: Any, status: int) -> None:
    kind = "rate-limited" if status == 429 else "unavailable"
    refused = problem(status, kind, **{"Retry-After": "4"})
    _, (first, pause, second) = play(memory.remember(MESSAGE), refused, answer(202, APPENDED))
    assert pause == Pause(4)
    assert first == second
    assert isinstance(first, ClientRequest)
    assert first.headers["Idempotency-Key"]


def test_each_write_has_its_own_idempotency_key(memory: Any) -> None:
    keys = set()
    for _ in range(3):
        _, (step,) = play(memory.remember(MESSAGE), answer(202, APPENDED))
        assert isinstance(step, ClientRequest)
        keys.add(step.headers["Idempotency-Key"])
    assert len(keys) == 3
    _, (step,) = play(memory.remember(MESSAGE, idempotency_key="mine"), answer(202, APPENDED))
    assert isinstance(step, ClientRequest)
    assert step.headers["Idempotency-Key"] == "mine"


def test_pauses_grow_and_the_third_failure_is_raised(memory: Any) -> None:
    lost = httpx.ReadError("lost")
    flow = memory.remember(MESSAGE)
    steps = [flow.send(outcome) for outcome in (None, lost, None, lost, None)]
    assert [step for step in steps if isinstance(step, Pause)] == [Pause(0.2), Pause(0.4)]
    with pytest.raises(UnavailableError, match="ReadError"):
        flow.send(lost)


def test_a_conflict_is_not_sent_again(memory: Any) -> None:
    with pytest.raises(ConflictError, match="d"):
        play(memory.remember(MESSAGE), problem(409, "conflict"))


def test_a_command_that_may_have_arrived_is_not_sent_again(memory: Any) -> None:
    job = UUID(int=1)
    with pytest.raises(UnavailableError):
        play(memory.cancel(job), httpx.ReadTimeout("late"))
    with pytest.raises(ConflictError):
        play(memory.cancel(job), httpx.ConnectError("not there"), problem(409, "conflict"))


def test_pauses_are_bounded() -> None:
    assert Retries(longest_pause_s=5).pause(1, 3600) == Pause(5)


def test_an_answer_of_another_server_gives_a_clear_error(memory: Any) -> None:
    for strange in (answer(200, {"hello": "world"}), answer(502, "bad gateway")):
        with pytest.raises(MemciError, match="is the address right"):
            play(memory.search("q"), strange)
