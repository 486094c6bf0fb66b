"""A delayed call runs once for several requests; its thread stays while requests come."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import Queue

import pytest

from memci.reading import deferred_writes
from memci.reading.deferred_writes import DelayedCall

_TIMEOUT_S = 20


class Action:
    """Records the thread of each call; fails if `fails` is set."""

    def __init__(self) -> None:
        self.threads: Queue[threading.Thread] = Queue()
        self.fails = False

    def __call__(self) -> None:
        self.threads.put(threading.current_thread())
        if self.fails:
            raise OSError("no database")

    def next(self) -> threading.Thread:
        return self.threads.get(timeout=_TIMEOUT_S)


@pytest.fixture
def action() -> Action:
    return Action()


@pytest.fixture
def quick(action: Action) -> Iterator[DelayedCall]:
    made = DelayedCall(action, 0.01)
    yield made
    made.close()


def test_many_requests_give_one_call(action: Action):
    slow = DelayedCall(action, 1)
    for _ in range(50):
        slow.request()
    action.next()
    slow.close()
    assert action.threads.empty()


def test_the_same_thread_makes_the_next_call(action: Action, quick: DelayedCall):
    quick.request()
    first = action.next()
    quick.request()
    assert action.next() is first


def test_after_a_failure_the_next_request_gives_a_call(action: Action, quick: DelayedCall):
    action.fails = True
    quick.request()
    action.next()
    action.fails = False
    quick.request()
    action.next()


def test_an_idle_thread_ends(action: Action, quick: DelayedCall, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(deferred_writes, "_IDLE_S", 0.01)
    quick.request()
    first = action.next()
    first.join(_TIMEOUT_S)
    assert not first.is_alive()
    quick.request()
    assert action.next() is not first


def test_after_close_no_call_is_made(action: Action):
    slow = DelayedCall(action, 60)
    before = threading.enumerate()
    slow.request()
    (thread,) = set(threading.enumerate()).difference(before)
    slow.close()
    thread.join(_TIMEOUT_S)
    assert not thread.is_alive()
    slow.request()
    assert action.threads.empty()
