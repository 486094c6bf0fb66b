"""The runtime makes each of its parts once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Barrier

from memci.config.settings import Settings
from memci.runtime import Runtime, _Part

THREADS = 8


class Slow(Runtime):
    """Makes its part so slowly that all threads ask for it in the meantime."""

    @_Part
    def part(self):
        self.stopping.wait(0.05)
        return object()


def test_threads_that_ask_at_the_same_time_get_the_same_part():
    # Nothing connects before it is used.
    settings = Settings(
        database_url="postgresql://nobody@127.0.0.1:1/none", broker_url="redis://127.0.0.1:1/0"
    )
    begin = Barrier(THREADS)

    def ask(runtime):
        begin.wait(10)
        return runtime.part

    with closing(Slow(settings)) as runtime, ThreadPoolExecutor(THREADS) as threads:
        assert len(set(threads.map(ask, [runtime] * THREADS))) == 1
