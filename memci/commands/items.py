"""Keep and take away items of an agent's programs (docs/frameworks.md)."""

from __future__ import annotations

from memci.broker.wakeup import Wakeups
from memci.queue.follow_up_jobs import ask_indexing
from memci.schemas.frameworks import ItemIn, ItemsAnswer, ItemsIn
from memci.storage.agents import check_there, is_there
from memci.storage.items import put_item, remove_expired, remove_item
from memci.storage.pages.tree import begin_agent, lock_lane
from memci.storage.session import Connection, Database


def run(database: Database, tokens: Wakeups, agent_id: str, request: ItemsIn) -> ItemsAnswer:
    """Keep some items and take others away, all or none.

    A first item makes an agent. Raises ``NotFoundError`` while the agent is being erased.
    """
    latest = {(each.namespace, each.key): each for each in request.items}
    kept = [each for each in latest.values() if each.value is not None]
    woken, removed = False, 0
    with database.agent_transaction(agent_id) as connection:
        if _enter(connection, agent_id, begins=bool(kept)):
            woken = any(each.text for each in kept) and ask_indexing(connection, agent_id)
            remove_expired(connection, agent_id)
            for place, each in latest.items():
                if each.value is None:
                    removed += remove_item(connection, agent_id, place)
                else:
                    _put(connection, agent_id, each)
    if woken:
        tokens.wake_lane(agent_id)
    return ItemsAnswer(stored=len(kept), removed=removed)


def _enter(connection: Connection, agent_id: str, *, begins: bool) -> bool:
    """Let nobody erase the agent meanwhile; False where there is none, and none begins."""
    if not begins:
        lock_lane(connection, agent_id)
        return is_there(connection, agent_id)
    begin_agent(connection, agent_id)
    lock_lane(connection, agent_id)
    check_there(connection, agent_id)
    return True


def _put(connection: Connection, agent_id: str, item: ItemIn) -> None:
    put_item(
        connection,
        agent_id,
        (item.namespace, item.key),
        item.value or {},
        text=item.text if item.text and item.text.strip() else None,
        ttl_minutes=item.ttl_minutes,
    )
