"""Tools about pages as methods of agents: one for each of the table, in both colours.

Beside it lies what type checkers and editors read; it is made of the same table.
"""

from __future__ import annotations

from memci.client.sync_async import awaitable, blocking
from memci.client.verbs.tools import operation
from memci.schemas.tools import TOOLS, About


class PageOperations:
    """What can be done to the pages of an agent, on the caller's thread.

    Errors are those of ``memci.errors``: ``NotFoundError`` for no agent or no such page,
    ``RefusedError``, which says why, for what may not be done.
    """


class AsyncPageOperations:
    """What can be done to the pages of an agent, on asyncio; raises likewise."""


for _tool in TOOLS:
    if _tool.about is About.PAGES:
        _verb = operation(_tool)
        setattr(PageOperations, _tool.name, blocking(_verb))
        setattr(AsyncPageOperations, _tool.name, awaitable(_verb))
