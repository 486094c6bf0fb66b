"""Concurrent changes of an agent's pages wait for a lock (P16)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from memci.storage.pages.tree import lock_tree
from memci.storage.session import Database
from memci.testing import wait_until
from tests.support.locks import waiting_for_locks
from tests.support.network import AgentUnderTest
from tests.support.servers import open_database


def test_a_tree_deleted_during_the_wait_is_created_and_locked(
    database: Database, database_url: str
) -> None:
    """An erasure deletes the tree, and the agent may begin anew at once."""
    AgentUnderTest(database)

    def lock_and_count() -> int:
        with database.agent_transaction("ada") as connection:
            lock_tree(connection, "ada")
            return int(connection.exec_driver_sql("SELECT count(*) FROM page_tree").scalar_one())

    with open_database(database_url) as watching, ThreadPoolExecutor(1) as pool:
        assert lock_and_count() == 1
        with database.agent_transaction("ada") as connection:
            lock_tree(connection, "ada")
            locking = pool.submit(lock_and_count)
            wait_until(lambda: waiting_for_locks(watching) == 1, "it waits for the tree")
            connection.exec_driver_sql("DELETE FROM page_tree WHERE agent_id = 'ada'")
        assert locking.result(20) == 1
