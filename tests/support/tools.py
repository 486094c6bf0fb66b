"""All tools on the pages of a test, with a real broker and without a worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from memci.broker.app import make_producer
from memci.broker.read_calls import RedisReads
from memci.broker.wakeup import RedisWakeups
from memci.commands.pages.perform import PageCommands
from memci.commands.tools.memory_reads import MemoryTools
from memci.commands.tools.memory_writes import MemoryWrites
from memci.commands.tools.tools import Tools
from memci.domain.memory.parameters import MemoryParameters
from memci.message import AppendLimits

LIMITS = AppendLimits(request_bytes=1 << 20, message_bytes=4_096, messages=10)


@contextmanager
def tools_over(pages: PageCommands, broker_url: str) -> Iterator[Tools]:
    """Lend the tools; they wait half a second for reads."""
    with (
        make_producer(broker_url) as celery,
        closing(RedisReads(celery, broker_url, 500)) as reads,
        closing(RedisWakeups(celery, broker_url)) as wakeups,
    ):
        yield Tools(
            pages,
            MemoryTools(pages, reads, wakeups),
            MemoryWrites(MemoryParameters(), LIMITS),
            wakeups,
        )
