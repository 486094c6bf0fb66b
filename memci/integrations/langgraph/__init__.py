"""memci for LangGraph: a store and a checkpointer (the extra ``langgraph``).

::

    from memci import Memci
    from memci.integrations.langgraph import MemciSaver, MemciStore

    agent = Memci("http://127.0.0.1:8000").agent("alice")
    graph = builder.compile(checkpointer=MemciSaver(agent), store=MemciStore(agent))
"""

from memci.integrations.langgraph.saver import MemciSaver
from memci.integrations.langgraph.store import MemciStore

__all__ = ["MemciSaver", "MemciStore"]
