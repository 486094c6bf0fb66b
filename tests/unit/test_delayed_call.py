"""What is wanted soon is done once, by a thread that stays while it is wanted again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import Queue

import pytest

from memci.reading import deferred_writes
from memci.reading.deferred_writes import DelayedCall

_PATIENCE_S = 20


class Acts:
    """Notes each time in which thread it acted; fails when it is told to."""

    def __init__(self) -> None:
        self.done: Queue[threading.Thread] = Queue()
        self.fails = False

    def __call__(self) -> None:
        self.done.put(threading.current_thread())
        if self.fails:
            raise OSError("no database")

    def next(self) -> threading.Thread:
        return self.done.get(timeout=_PATIENCE_S)


@pytest.fixture
def acts() -> Acts:
    return Acts()


@pytest.fixture
def quick(acts: Acts) -> Iterator[DelayedCall]:
    made = DelayedCall(acts, 0.01)
    yield made
    made.close()


def test_however_often_it_is_wanted_it_is_done_once(acts: Acts):
    slow = DelayedCall(acts, 1)
    for _ in range(50):
        slow.request()
    acts.next()
    slow.close()
    assert acts.done.empty()


def test_the_thread_stays(acts: Acts, quick: DelayedCall):
    quick.request()
    first = acts.next()
    quick.request()
    assert acts.next() is first


def test_what_fails_is_done_again_when_it_is_wanted_again(acts: Acts, quick: DelayedCall):
    acts.fails = True
    quick.request()
    acts.next()
    acts.fails = False
    quick.request()
    acts.next()


def test_a_thread_of_which_nothing_is_wanted_ends(
    acts: Acts, quick: DelayedCall, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(deferred_writes, "_IDLE_S", 0.01)
    quick.request()
    first = acts.next()
    first.join(_PATIENCE_S)
    assert not first.is_alive()
    quick.request()
    assert acts.next() is not first


def test_once_closed_nothing_is_done(acts: Acts):
    slow = DelayedCall(acts, 60)
    before = threading.enumerate()
    slow.request()
    (thread,) = set(threading.enumerate()).difference(before)
    slow.close()
    thread.join(_PATIENCE_S)
    assert not thread.is_alive()
    slow.request()
    assert acts.done.empty()
