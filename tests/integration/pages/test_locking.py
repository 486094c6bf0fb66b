"""Who works on an agent's pages at the same time waits for the others (P16)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from memci.storage.pages.tree import lock_tree
from memci.storage.session import Database
from memci.testing import open_database, wait_until
from tests.support.locks import waiting_for_locks
from tests.support.network import AgentUnderTest


def test_a_tree_that_goes_while_it_is_waited_for_is_locked_all_the_same(
    database: Database, database_url: str
) -> None:
    """With an agent that is erased its tree goes, and another life may begin at once."""
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
