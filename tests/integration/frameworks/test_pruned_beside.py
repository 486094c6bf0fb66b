"""Checkpoints that are removed while others are put."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from memci.commands import framework_storage
from memci.schemas.frameworks import ChannelValue, CheckpointIn, CheckpointPrune, Typed
from memci.storage import checkpoints as stored
from memci.storage.pages.tree import lock_lane
from memci.storage.session import Connection, Database
from memci.testing import open_database, wait_until
from tests.support.locks import waiting_for_locks

VERSIONS = {"messages": "1"}


def put_child(connection: Connection) -> None:
    """As ``put`` does: its one value came with the parent, and is not sent again."""
    lock_lane(connection, "ada")
    fields = {
        "thread": "talk", "namespace": "", "id": "2", "parent": "1", "kind": "json", "body": b"{}",
        "versions": VERSIONS, "metadata": {"run_id": "later"},
    }  # fmt: skip
    stored.put_checkpoint(connection, "ada", fields, [])


def test_what_is_put_meanwhile_keeps_the_values_that_it_refers_to(
    database: Database, database_url: str
):
    first = CheckpointIn(
        id="1",
        checkpoint=Typed(kind="json", body=b"e30="),
        versions=VERSIONS,
        values=(ChannelValue(kind="json", body=b"W10=", channel="messages", version="1"),),
        metadata={"run_id": "earlier"},
    )
    framework_storage.put_checkpoint(database, "ada", "talk", first)
    of_run = CheckpointPrune(run_ids=("earlier",))
    with open_database(database_url) as watching, ThreadPoolExecutor(1) as pool:
        with database.agent_transaction("ada") as connection:
            put_child(connection)
            pruning = pool.submit(framework_storage.prune_checkpoints, database, "ada", of_run)
            wait_until(lambda: waiting_for_locks(watching) or pruning.done(), "it waits")
        assert pruning.result(20).checkpoints == 1
    with database.agent_snapshot("ada") as connection:
        (left,) = stored.find_checkpoints(connection, "ada", {"thread": "talk"}, 9)
        assert left.id == "2"
        assert [each.body for each in stored.values_of(connection, "ada", left)] == [b"[]"]


def test_nobody_has_nothing_to_remove(database: Database):
    asked = CheckpointPrune(threads=("talk",), keep_latest=True)
    assert framework_storage.prune_checkpoints(database, "nobody", asked).checkpoints == 0
    with database.lane_transaction() as connection:
        assert connection.exec_driver_sql("SELECT FROM lane").first() is None
