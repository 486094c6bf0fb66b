"""M25: an agent goes for good, is worked at by nobody, and begins another life with other ids."""

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
from memci.testing import open_database, wait_until
from tests.support.erasing import Eraser, bury, erased
from tests.support.locks import waiting_for_locks
from tests.support.mailbox import Mailbox
from tests.support.models import BagOfWords


def test_an_agent_goes_and_its_ids_never_come_back(told: Mailbox, eraser: Eraser) -> None:
    ada = told.ada
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
    after = ada.lane()
    assert (after.epoch, after.message_seq) == (before.epoch + 1, before.message_seq)
    with pytest.raises(NotFoundError):
        eraser.erase_agent()

    told.append("later [Rome]", ids=["m4"])
    told.run()
    about = listings.agent("ada")
    assert (about.messages, about.nodes, about.focus, about.passes) == (1, 2, ["Rome"], 0)
    assert [row.seq for row in ada.rows("SELECT seq FROM message WHERE agent_id = %s")] == [4]
    assert min(node.id for node in ada.nodes()) > highest
    assert listings.agents(pattern="*", cursor=None, limit=9).agents[0].messages == 1
    with pytest.raises(ErasedError):
        told.append("one is about [Grace] in [Oslo]", ids=["m1"])


def test_a_paused_agent_can_be_erased_and_is_paused_no_more(told: Mailbox, eraser: Eraser) -> None:
    told.ada.execute("UPDATE lane SET paused = true WHERE agent_id = %s")
    eraser.erase("m1")
    assert told.ada.lane().paused
    eraser.erase_agent()
    assert not told.ada.lane().paused


def test_an_erased_agent_that_somebody_reads_gets_no_pass(told: Mailbox, eraser: Eraser) -> None:
    told.ada.compress()
    eraser.erase_agent()
    told.ada.execute("UPDATE lane SET read_at = now() WHERE agent_id = %s")
    assert request_due_passes(eraser.database, period_s=1, idle_passes_per_day=24) == 0
    told.append("later [Rome]", ids=["m4"])
    assert request_due_passes(eraser.database, period_s=1, idle_passes_per_day=24) == 1


def test_an_erased_agent_gets_no_work(told: Mailbox, eraser: Eraser) -> None:
    eraser.erase_agent()
    with eraser.database.lane_transaction() as connection:
        assert request_link_drop(connection, "ada", [1])
    assert rebuild.run(eraser.database, BagOfWords()) == 0
    assert told.ada.rows("SELECT FROM job WHERE agent_id = %s") == []


def test_who_is_being_erased_is_asked_for_vectors_afterwards(
    told: Mailbox, eraser: Eraser, database_url: str
) -> None:
    """Whoever is only rid of some messages is asked; whoever is gone is not."""
    for erase, asked in ((lambda _: None, 1), (lambda open_: erase_agent(open_, "ada"), 0)):
        with (
            open_database(database_url) as watching,
            ThreadPoolExecutor(1) as pool,
        ):
            with eraser.database.agent_transaction("ada") as connection:
                lock_for_erasure(connection, "ada")
                running = pool.submit(rebuild.run, eraser.database, BagOfWords())
                wait_until(lambda: waiting_for_locks(watching) == 1, "it waits for the erasure")
                erase(connection)
            assert running.result(20) == asked
        told.ada.execute("DELETE FROM job WHERE agent_id = %s")


# Ids and numbers go on where they were, and whoever works at the lane goes on with it.
STAYING = {
    "agent_id", "created_at", "message_seq", "last_node_id", "compress_req", "fence", "lease_owner",
    "lease_until", "wake_at", "compress_at", "last_document_id", "last_chunk_id",
}  # fmt: skip


def test_the_lane_of_an_erased_agent_tells_nothing_of_it(told: Mailbox, eraser: Eraser) -> None:
    odd = {
        "BIGINT": "7", "INTEGER": "7", "BOOLEAN": "true", "JSONB": "'{\"pass\": 1}'",
        "UUID": "gen_random_uuid()", "TIMESTAMP WITH TIME ZONE": "now() - interval '9 days'",
    }  # fmt: skip
    columns = {each.name: each for each in lane.columns if each.name not in STAYING}
    set_ = ", ".join(
        f"{name} = {odd[each.type.compile(postgresql.dialect())]}" for name, each in columns.items()
    )
    told.ada.execute(f"UPDATE lane SET {set_}, compress_req = 9 WHERE agent_id = %s")
    told.ada.execute("INSERT INTO lane (agent_id) SELECT 'fresh' WHERE %s <> ''")
    eraser.erase_agent()
    with told.ada.database.lane_transaction() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM lane ORDER BY agent_id").mappings().all()
    erased_lane, fresh = (dict(row) for row in rows)
    told_of = {name for name in columns if erased_lane[name] != fresh[name]}
    assert told_of == {"epoch", "erased_messages", "compress_done"}
    assert erased_lane["epoch"] == 8
    assert erased_lane["erased_messages"] == erased_lane["message_seq"]
    assert erased_lane["compress_done"] == erased_lane["compress_req"]


def test_no_term_ends_for_an_agent_that_is_gone(told: Mailbox, eraser: Eraser) -> None:
    over = "UPDATE lane SET expire_at = now() - interval '1 hour' WHERE agent_id = %s"
    told.ada.execute(over)
    eraser.erase_agent()
    assert request_due_consolidations(eraser.database) == 0
    told.ada.execute(over)
    assert request_due_consolidations(eraser.database) == 0
    assert told.waiting() == []


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
def test_no_command_works_on_an_erased_agent(told: Mailbox, eraser: Eraser, command: str) -> None:
    told.ada.execute("UPDATE message SET session_id = 's' WHERE agent_id = %s")
    node = told.ada.memories()["two"].id
    eraser.erase_agent()
    before = told.ada.lane()
    with pytest.raises(NotFoundError):
        COMMANDS[command](eraser, node)
    assert told.ada.nodes() == []
    assert told.waiting() == []
    assert told.ada.lane() == before, "as if nobody had asked"


def test_commands_work_in_the_next_life(told: Mailbox, eraser: Eraser) -> None:
    eraser.erase_agent()
    told.append("later [Rome]", ids=["m4"])
    told.run()
    found = COMMANDS["mention"](eraser, 0)
    assert isinstance(found, FocusList)
    assert [each.name for each in found.focus] == ["Oslo", "Rome"]
    assert COMMANDS["consolidate"](eraser, 0)


def test_an_agent_larger_than_a_bite_goes_whole(
    told: Mailbox, eraser: Eraser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memci.storage.erasure.erase._MOST_ROWS", 2)
    # Known to be refused before it is erased, as after an import.
    bury(told.ada.database, "ada", "m1", "m2")
    assert eraser.erase_agent().body["rows"]["message"] == 3
    assert told.ada.nodes() == []
    assert erased(told.ada, "m1", "m2", "m3") == {"m1", "m2", "m3"}


def test_another_agent_is_not_touched(told: Mailbox, eraser: Eraser) -> None:
    eraser.agent_id = "bob"
    for act in (eraser.erase_agent, lambda: eraser.erase("m1")):
        with pytest.raises(NotFoundError):
            act()
    assert len(told.ada.memories()) == 3
