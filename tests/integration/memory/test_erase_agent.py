"""M25: an erased agent gets no work and has other ids in its next life."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy.dialects import postgresql

from memci.commands import jobs, network_changes, rebuild
from memci.domain.memory.parameters import MemoryParameters
from memci.errors import ErasedError, NotFoundError
from memci.queue.job_requests import request_link_drop
from memci.queue.sweep import request_due_consolidations, request_due_passes
from memci.reading.lists.listings import Listings
from memci.schemas.agents import FocusList
from memci.storage.erasure.erase import erase_agent, lock_for_erasure
from memci.storage.schema.work import lane
from memci.testing import wait_until
from tests.support.erasing import Eraser, erased, mark_as_erased
from tests.support.locks import waiting_for_locks
from tests.support.mailbox import Mailbox
from tests.support.models import BagOfWords
from tests.support.servers import open_database


def test_an_erased_agents_ids_are_never_used_again(seeded: Mailbox, eraser: Eraser) -> None:
    ada = seeded.ada
    ada.compress(2)
    ada.execute(
        "INSERT INTO agent_setting (agent_id, parameters) VALUES (%s, %s)", '{"focus_limit": 3}'
    )
    before = ada.lane()
    highest = max(node.id for node in ada.nodes())
    receipt = eraser.erase_agent()
    assert receipt.body["rows"]["message"] == 3
    assert receipt.body["erased"] == "agent"
    listings = Listings(ada.database)
    with pytest.raises(NotFoundError):
        listings.agent("ada")
    assert listings.agents(pattern="*", cursor=None, limit=9).agents == []
    assert listings.receipt("ada", receipt.id).body == receipt.body
    told = listings.events("ada", cursor=None, limit=9).events
    assert [each.type for each in told] == ["agent.erased"], "others are erased too"
    assert (told[0].data["receipt_id"], told[0].data["messages"]) == (str(receipt.id), 3)
    after = ada.lane()
    assert (after.epoch, after.message_seq) == (before.epoch + 1, before.message_seq)
    with pytest.raises(NotFoundError):
        eraser.erase_agent()

    seeded.append("later [Rome]", ids=["m4"])
    seeded.run()
    about = listings.agent("ada")
    assert (about.messages, about.nodes, about.focus, about.passes) == (1, 2, ["Rome"], 0)
    assert [row.seq for row in ada.rows("SELECT seq FROM message WHERE agent_id = %s")] == [4]
    assert min(node.id for node in ada.nodes()) > highest
    assert listings.agents(pattern="*", cursor=None, limit=9).agents[0].messages == 1
    with pytest.raises(ErasedError):
        seeded.append("one is about [Grace] in [Oslo]", ids=["m1"])


def test_an_erased_agent_is_no_longer_paused(seeded: Mailbox, eraser: Eraser) -> None:
    seeded.ada.execute("UPDATE lane SET paused = true WHERE agent_id = %s")
    eraser.erase("m1")
    assert seeded.ada.lane().paused
    eraser.erase_agent()
    assert not seeded.ada.lane().paused


def test_an_erased_agent_that_somebody_reads_gets_no_pass(seeded: Mailbox, eraser: Eraser) -> None:
    seeded.ada.compress()
    eraser.erase_agent()
    seeded.ada.execute("UPDATE lane SET read_at = now() WHERE agent_id = %s")
    assert request_due_passes(eraser.database, period_s=1, idle_passes_per_day=24) == 0
    seeded.append("later [Rome]", ids=["m4"])
    assert request_due_passes(eraser.database, period_s=1, idle_passes_per_day=24) == 1


def test_an_erased_agent_gets_no_work(seeded: Mailbox, eraser: Eraser) -> None:
    eraser.erase_agent()
    with eraser.database.lane_transaction() as connection:
        assert request_link_drop(connection, "ada", [1])
    assert rebuild.run(eraser.database, BagOfWords()) == 0
    assert seeded.ada.rows("SELECT FROM job WHERE agent_id = %s") == []


def test_a_request_for_new_vectors_waits_for_an_erasure(
    seeded: Mailbox, eraser: Eraser, database_url: str
) -> None:
    """A job is requested unless the agent itself was erased."""
    for erase, jobs_made in ((lambda _: None, 1), (lambda open_: erase_agent(open_, "ada"), 0)):
        with (
            open_database(database_url) as watching,
            ThreadPoolExecutor(1) as pool,
        ):
            with eraser.database.agent_transaction("ada") as connection:
                lock_for_erasure(connection, "ada")
                running = pool.submit(rebuild.run, eraser.database, BagOfWords())
                wait_until(lambda: waiting_for_locks(watching) == 1, "it waits for the erasure")
                erase(connection)
            assert running.result(20) == jobs_made
        seeded.ada.execute("DELETE FROM job WHERE agent_id = %s")


# Ids and numbers continue, and the worker of the lane keeps its lease.
STAYING = {
    "agent_id", "created_at", "message_seq", "last_node_id", "compress_req", "fence", "lease_owner",
    "lease_until", "wake_at", "compress_at", "last_document_id", "last_chunk_id",
}  # fmt: skip


def test_the_lane_of_an_erased_agent_is_like_a_new_one(seeded: Mailbox, eraser: Eraser) -> None:
    odd = {
        "BIGINT": "7", "INTEGER": "7", "BOOLEAN": "true", "JSONB": "'{\"pass\": 1}'",
        "UUID": "gen_random_uuid()", "TIMESTAMP WITH TIME ZONE": "now() - interval '9 days'",
    }  # fmt: skip
    columns = {each.name: each for each in lane.columns if each.name not in STAYING}
    set_ = ", ".join(
        f"{name} = {odd[each.type.compile(postgresql.dialect())]}" for name, each in columns.items()
    )
    seeded.ada.execute(f"UPDATE lane SET {set_}, compress_req = 9 WHERE agent_id = %s")
    seeded.ada.execute("INSERT INTO lane (agent_id) SELECT 'fresh' WHERE %s <> ''")
    eraser.erase_agent()
    with seeded.ada.database.lane_transaction() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM lane ORDER BY agent_id").mappings().all()
    erased_lane, fresh = (dict(row) for row in rows)
    different = {name for name in columns if erased_lane[name] != fresh[name]}
    assert different == {"epoch", "erased_messages", "compress_done"}
    assert erased_lane["epoch"] == 8
    assert erased_lane["erased_messages"] == erased_lane["message_seq"]
    assert erased_lane["compress_done"] == erased_lane["compress_req"]


def test_an_erased_agent_gets_no_consolidation(seeded: Mailbox, eraser: Eraser) -> None:
    expire = "UPDATE lane SET expire_at = now() - interval '1 hour' WHERE agent_id = %s"
    seeded.ada.execute(expire)
    eraser.erase_agent()
    assert request_due_consolidations(eraser.database) == 0
    seeded.ada.execute(expire)
    assert request_due_consolidations(eraser.database) == 0
    assert seeded.waiting() == []


COMMANDS: dict[str, Callable[[Eraser, int], object]] = {
    "mention": lambda by, _: network_changes.mention_in_focus(
        by.database, by.wakeups, "ada", "Oslo", MemoryParameters()
    ),
    "rebuild": lambda by, _: rebuild.begin(by.database, by.wakeups, "ada", up_to_seq=None),
    "show": lambda by, _: rebuild.show(by.database, "ada"),
    "switch": lambda by, _: rebuild.switch(by.database, by.wakeups, "ada"),
    "drop": lambda by, _: rebuild.drop(by.database, by.wakeups, "ada"),
    "restore": lambda by, node: network_changes.restore_memory(
        by.database, by.wakeups, "ada", node
    ),
    "consolidate": lambda by, _: network_changes.consolidate(by.database, by.wakeups, "ada"),
    "end": lambda by, _: network_changes.end_session(by.database, by.wakeups, "ada", "s"),
    "pause": lambda by, _: jobs.pause(by.database, "ada"),
    "resume": lambda by, _: jobs.resume(by.database, by.wakeups, "ada"),
    "cancel": lambda by, _: jobs.cancel_compression(by.database, "ada"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_works_on_an_erased_agent(seeded: Mailbox, eraser: Eraser, command: str) -> None:
    seeded.ada.execute("UPDATE message SET session_id = 's' WHERE agent_id = %s")
    node = seeded.ada.memories()["two"].id
    eraser.erase_agent()
    before = seeded.ada.lane()
    with pytest.raises(NotFoundError):
        COMMANDS[command](eraser, node)
    assert seeded.ada.nodes() == []
    assert seeded.waiting() == []
    assert seeded.ada.lane() == before, "as if nobody had asked"


def test_commands_work_in_the_next_life(seeded: Mailbox, eraser: Eraser) -> None:
    eraser.erase_agent()
    seeded.append("later [Rome]", ids=["m4"])
    seeded.run()
    found = COMMANDS["mention"](eraser, 0)
    assert isinstance(found, FocusList)
    assert [each.name for each in found.focus] == ["Oslo", "Rome"]
    assert COMMANDS["consolidate"](eraser, 0)


def test_an_agent_larger_than_one_batch_is_erased_completely(
    seeded: Mailbox, eraser: Eraser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memci.storage.erasure.erase._MOST_ROWS", 2)
    # Some ids are refused already, as after an import.
    mark_as_erased(seeded.ada.database, "ada", "m1", "m2")
    assert eraser.erase_agent().body["rows"]["message"] == 3
    assert seeded.ada.nodes() == []
    assert erased(seeded.ada, "m1", "m2", "m3") == {"m1", "m2", "m3"}


def test_another_agent_is_not_touched(seeded: Mailbox, eraser: Eraser) -> None:
    eraser.agent_id = "bob"
    for operation in (eraser.erase_agent, lambda: eraser.erase("m1")):
        with pytest.raises(NotFoundError):
            operation()
    assert len(seeded.ada.memories()) == 3
