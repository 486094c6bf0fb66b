"""A call that ends in time, whatever the other side does."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

T = TypeVar("T")

# The client's own time-out comes first where it works: it closes the connection.
_GRACE_S = 1.0


def within(timeout_s: float, call: Callable[[], T]) -> T:
    """Return what ``call`` does, or raise ``TimeoutError`` soon after ``timeout_s``.

    Time-outs of sockets begin anew with every byte, and some providers send blanks for as long as
    a model thinks. The call that is given up ends in its own thread, and nobody hears of it.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # noqa: BLE001 - it is raised where it was called
            outcome.set_exception(error)

    Thread(target=run, name="model-call", daemon=True).start()
    return outcome.result(timeout_s + _GRACE_S)
