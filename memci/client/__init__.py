"""The Python client; it needs no server package.

::

    from memci import Memci

    memory = Memci("http://127.0.0.1:8000").agent("alice")
    memory.remember([{"role": "user", "content": "We meet on Tuesday."}])
    context = memory.context("When do we meet?", budget_tokens=2000)
"""

from memci.client.client import Agent, AsyncAgent, AsyncCollection, AsyncMemci, Collection, Memci
from memci.client.requests import Retries

__all__ = ["Agent", "AsyncAgent", "AsyncCollection", "AsyncMemci", "Collection", "Memci", "Retries"]
