"""Checkpoints are pruned while others are put."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from memci.commands import framework_storage
from memci.schemas.frameworks import ChannelValue, CheckpointIn, CheckpointPrune, Typed
from memci.storage.frameworks import checkpoints as stored
from memci.storage.pages.tree import lock_lane
from memci.storage.session import Connection, Database
from memci.testing import wait_until
from tests.support.locks import waiting_for_locks
from tests.support.servers import open_database

VERSIONS = {"messages": "1"}


def put_child(connection: Connection) -> None:
    """Put a checkpoint as ``put`` does: its only value was sent with the parent."""
    lock_lane(connection, "ada")
    fields = {
        "thread": "talk", "namespace": "", "id": "2", "parent": "1", "kind": "json", "body": b"{}",
        "versions": VERSIONS, "metadata": {"run_id": "later"},
    }  # fmt: skip
    stored.put_checkpoint(connection, "ada", fields, [])


def test_a_checkpoint_put_during_a_prune_keeps_the_values_of_its_parent(
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
        (remaining,) = stored.find_checkpoints(connection, "ada", {"thread": "talk"}, 9)
        assert remaining.id == "2"
        assert [each.body for each in stored.values_of(connection, "ada", remaining)] == [b"[]"]


def test_a_prune_of_an_unknown_agent_removes_nothing(database: Database):
    request = CheckpointPrune(threads=("talk",), keep_latest=True)
    assert framework_storage.prune_checkpoints(database, "nobody", request).checkpoints == 0
    with database.lane_transaction() as connection:
        assert connection.exec_driver_sql("SELECT FROM lane").first() is None
