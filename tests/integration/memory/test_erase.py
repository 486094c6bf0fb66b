"""M25: messages, a session or an agent go for good, with everything that was made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from sqlalchemy.dialects import postgresql

from memci.broker.app import make_app
from memci.broker.token import Tokens
from memci.commands import consolidate, focus, pause, rebuild, reembed, restore
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.message import Remember
from memci.errors import ErasedError, FencedOffError, NotFoundError
from memci.jobs.create import MEMORY_CREATE
from memci.queue import dead_letter
from memci.queue.drops import submit_drop
from memci.reading.listings import Listings
from memci.shapes.agent import FocusList
from memci.storage.erasure.barrier import stand_alone
from memci.storage.erasure.erase import erase_agent
from memci.storage.erasure.tombstones import erased_among
from memci.storage.rows import lane
from memci.storage.session import Database
from memci.testing import open_database, wait_until
from memci.upkeep.compress import request_due_passes
from memci.upkeep.consolidate import request_due_consolidations
from tests.support.erasing import Eraser, SegmentsOf, bury
from tests.support.locks import waiting_for_locks
from tests.support.mailbox import Mailbox
from tests.support.models import BagOfWords


@pytest.fixture
def eraser(database: Database, broker_url: str, client: redis.Redis) -> Iterator[Eraser]:
    with make_app(broker_url) as app:
        yield Eraser(database, Tokens(app), client)


@pytest.fixture
def told(mailbox: Mailbox) -> Mailbox:
    """Three memories: of [Grace] and [Oslo], of [Oslo], of [Grace]."""
    mailbox.append(
        "one is about [Grace] in [Oslo]", "two is about [Oslo] again", "three is about [Grace] now",
        ids=["m1", "m2", "m3"],
    )  # fmt: skip
    mailbox.run()
    return mailbox


def names(mailbox: Mailbox) -> list[str]:
    return sorted(node.content for node in mailbox.ada.nodes("entity"))


def test_a_message_goes_with_its_memory_links_and_index(told: Mailbox, eraser: Eraser) -> None:
    ada = told.ada
    gone = ada.memories()["two"].id
    receipt = eraser.erase("m2")
    assert sorted(ada.memories()) == ["one", "three"]
    assert [row.id for row in ada.rows("SELECT id FROM message WHERE agent_id = %s")] == [
        "m1", "m3",
    ]  # fmt: skip
    assert all(gone not in pair for pair in ada.links())
    for table, column, key in [
        ("message_term", "seq", 2), ("message_vector", "seq", 2),
        ("node_term", "node_id", gone), ("node_vector", "node_id", gone),
    ]:  # fmt: skip
        assert ada.rows(f"SELECT FROM {table} WHERE agent_id = %s AND {column} = %s", key) == []
        assert ada.rows(f"SELECT FROM {table} WHERE agent_id = %s") != []
    assert ada.trail(gone) == ["created", "erased"]
    assert receipt.body["message_ids"] == ["m2"]
    assert receipt.body["rows"]["message"] == 1
    assert Listings(ada.database).receipt("ada", receipt.id).body == receipt.body


def test_the_counters_of_the_index_stay_right(told: Mailbox, eraser: Eraser) -> None:
    eraser.erase("m2", "m1")
    (row,) = told.ada.rows(
        "SELECT indexed_messages, indexed_terms, erased_messages, (SELECT sum(length) FROM"
        " (SELECT DISTINCT seq, length FROM message_term) AS each) AS terms FROM lane"
        " WHERE agent_id = %s"
    )
    assert (row.indexed_messages, row.indexed_terms, row.erased_messages) == (1, row.terms, 2)


def test_a_name_stays_while_a_message_that_stays_names_it(told: Mailbox, eraser: Eraser) -> None:
    assert names(told) == ["Grace", "Oslo"]
    eraser.erase("m1")
    assert names(told) == ["Grace", "Oslo"]
    # The third memory is linked to Oslo, which was talked about then, but does not name it.
    eraser.erase("m2")
    assert names(told) == ["Grace"]
    assert told.ada.focus() == ["Grace"]
    eraser.erase("m3")
    assert told.ada.nodes() == []
    assert told.ada.links() == {}


@pytest.mark.parametrize(
    ("name", "other"), [("Al", "also"), ("小红", "小 红"), ("ACME", "acme"), ("王", "和王说")]
)
def test_names_are_told_apart_as_words(
    mailbox: Mailbox, eraser: Eraser, name: str, other: str
) -> None:
    mailbox.append(f"one about [{name}] here", f"two {other} about nothing", ids=["m1", "m2"])
    mailbox.run()
    eraser.erase("m1")
    assert (name in names(mailbox)) == (other in {"acme", "和王说"})


def test_what_shared_a_memory_is_remembered_anew(mailbox: Mailbox, eraser: Eraser) -> None:
    mailbox.ada.models.segmenter = SegmentsOf(2)
    mailbox.append("one [Grace]", "two [Oslo]", "three [Rome]", "four [Lima]", ids="abcd")
    mailbox.run()
    receipt = eraser.erase("a")
    assert (receipt.body["memories"], receipt.body["again"]) == (1, 1)
    assert mailbox.messages()[0] == ("pending", True)
    (job,) = mailbox.waiting()
    assert (job.kind, job.payload, str(job.id)) == (
        MEMORY_CREATE, {"seqs": [2], "wanted": [2]}, receipt.body["job_id"],
    )  # fmt: skip
    mailbox.run()
    assert sorted(mailbox.ada.memories()) == ["three", "two"]
    assert [row.message_seqs for row in mailbox.ada.nodes("memory")] == [[3, 4], [2]]
    assert names(mailbox) == ["Lima", "Oslo", "Rome"]
    assert mailbox.messages() == [("made", True)] * 3


def test_memories_that_share_what_is_remembered_anew_go_too(
    mailbox: Mailbox, eraser: Eraser
) -> None:
    """Or its words would be remembered twice."""
    mailbox.append("one [Grace]", "two [Oslo]\n\nmore [Oslo]", "three [Rome]", ids="abc")
    mailbox.run()
    mailbox.ada.execute(
        "UPDATE node SET message_seqs = '{1,2}' WHERE agent_id = %s AND content LIKE 'two%%'"
    )
    assert eraser.preview("a").memories == 3
    eraser.erase("a")
    mailbox.run()
    contents = sorted(node.content for node in mailbox.ada.nodes("memory"))
    assert contents == ["more [Oslo]", "three [Rome]", "two [Oslo]"]


def test_a_forgotten_memory_is_told_of_no_more(told: Mailbox, eraser: Eraser) -> None:
    gone = told.ada.memories()["two"].id
    told.ada.execute("DELETE FROM node WHERE agent_id = %s AND id = %s", gone)
    assert any(pair[1] == gone for pair in told.ada.links())
    assert eraser.preview("m2").forgotten == 1
    eraser.erase("m2")
    assert not any(gone in pair for pair in told.ada.links() if pair[1] == gone)
    assert told.ada.trail(gone) == ["created", "erased"]


def test_a_session_goes_as_a_whole_and_another_stays(told: Mailbox, eraser: Eraser) -> None:
    told.ada.execute("UPDATE message SET session_id = 's' WHERE agent_id = %s AND seq < 3")
    assert eraser.preview(session="s").message_ids == ["m1", "m2"]
    receipt = eraser.erase(session="s")
    assert receipt.body["message_ids"] == ["m1", "m2"]
    assert sorted(told.ada.memories()) == ["three"]
    with pytest.raises(NotFoundError, match="session"):
        eraser.erase(session="s")


BESIDE = (
    (
        "INSERT INTO pin (agent_id, number, kind, text, message_seq, pinned_by)"
        " VALUES ($, 1, 'fact', 'one', 1, 'detector'), ($, 2, 'fact', 'three', 3, 'detector')"
    ),
    "INSERT INTO plan (agent_id, made_seq) VALUES ($, 1), ($, 3)",
    (
        "INSERT INTO plan_step (agent_id, made_seq, position, text, said_seq, state)"
        " VALUES ($, 1, 1, '1', 1, 'open'), ($, 3, 1, '2', 2, 'open'), ($, 3, 2, '3', 3, 'open')"
    ),
    (
        "INSERT INTO summary (agent_id, session_id, user_id, text, through_seq)"
        " VALUES ($, 's', '', 'all', 2), ($, 's', 'bob', 'his', 2), ($, '', '', 'others', 3)"
    ),
    (
        "INSERT INTO checkpoint (agent_id, thread, namespace, id, kind, body, versions, metadata)"
        " SELECT $, thread, '', '1', 'json', '', '{}', '{}' FROM unnest(ARRAY['s', 't']) AS thread"
    ),
    (
        "INSERT INTO item (agent_id, namespace, key, value, expires_at)"
        " VALUES ($, '{a}', 'b', '{}', NULL), ($, '{a}', 'gone', '{}', now())"
    ),
)


def test_what_goes_beside_memories_is_told_before_it_goes(told: Mailbox, eraser: Eraser) -> None:
    told.ada.execute("UPDATE message SET session_id = 's' WHERE agent_id = %s AND seq < 3")
    with told.ada.database.agent_transaction("ada") as connection:
        for statement in BESIDE:
            connection.exec_driver_sql(statement.replace("$", "'ada'"))
    about = Listings(told.ada.database).agent("ada")
    held = (about.items, about.checkpoints, about.summaries, about.pins, about.plans)
    assert held == (1, 2, 2, 2, 2)
    of_one = eraser.preview("m3")
    beside = (of_one.summaries, of_one.pinned_sentences, of_one.plan_steps, of_one.checkpoints)
    assert beside == (1, 1, 2, 0)
    found = eraser.preview(session="s")
    rows = eraser.erase(session="s").body["rows"]
    assert found.plan_steps == rows["plan_step"] == 2
    assert found.checkpoints == rows["checkpoint"] == 1
    assert (found.summaries, rows["summary"]) == (1, 2)  # another for one of its users
    after = Listings(told.ada.database).agent("ada")
    assert found.pinned_sentences == about.pins - after.pins == 1
    assert (after.items, after.checkpoints, after.summaries, after.plans) == (1, 1, 1, 1)


def test_a_preview_writes_nothing(told: Mailbox, eraser: Eraser) -> None:
    before = told.ada.lane()
    found = eraser.preview("m1", "m2")
    assert (found.message_ids, found.memories, found.entities) == (["m1", "m2"], 2, 1)
    assert [each.excerpt for each in found.messages] == [
        "one is about [Grace] in [Oslo]", "two is about [Oslo] again",
    ]  # fmt: skip
    assert told.ada.lane() == before
    assert len(told.ada.memories()) == 3


def test_an_unknown_message_erases_nothing_and_the_lane_goes_on(
    told: Mailbox, eraser: Eraser
) -> None:
    with pytest.raises(NotFoundError, match="'never'"):
        eraser.erase("m1", "never")
    assert len(told.ada.memories()) == 3
    assert told.ada.lane().lease_owner is None
    assert erased(told.ada, "m1") == set()


def test_what_was_erased_is_passed_over_when_it_is_erased_again(
    told: Mailbox, eraser: Eraser
) -> None:
    eraser.erase("m1")
    assert eraser.erase("m1", "m2").body["message_ids"] == ["m2"]
    assert eraser.erase("m1").body["rows"] == {}


def erased(ada, *ids: str) -> set[str]:
    with ada.database.agent_snapshot("ada") as connection:
        return set(erased_among(connection, "ada", ids))


def test_an_erased_message_is_refused_with_all_that_came_with_it(
    told: Mailbox, eraser: Eraser
) -> None:
    eraser.erase("m1")
    assert erased(told.ada, "m1", "m2", "m9") == {"m1"}
    with pytest.raises(ErasedError, match=r"messages\[1\]: 'm1' was erased") as refused:
        told.append("new", "one is about [Grace] in [Oslo]", ids=["m9", "m1"])
    assert (refused.value.field, refused.value.places) == ("messages[1]", (1,))
    assert len(told.messages()) == 2
    with pytest.raises(ErasedError, match=r"message_ids\[0\]"):
        told.ask("m1", "m2")


def test_the_database_itself_refuses_whatever_brings_it_back(told: Mailbox, eraser: Eraser) -> None:
    eraser.erase("m1")
    statement = (
        "INSERT INTO message (agent_id, seq, id, role, said_at, remember)"
        " VALUES (%s, 9, %s, 'user', now(), 'now')"
    )
    with pytest.raises(Exception, match="erased for good"):
        told.ada.execute(statement, "m1")
    told.ada.execute(statement, "m8")


def test_a_job_that_waits_does_nothing_with_what_was_erased(
    mailbox: Mailbox, eraser: Eraser
) -> None:
    mailbox.append("one [Grace]", "two [Oslo]", ids=["m1", "m2"])
    eraser.erase("m1")
    mailbox.run()
    assert sorted(mailbox.ada.memories()) == ["two"]


def test_a_dead_job_run_again_does_nothing_with_what_was_erased(
    mailbox: Mailbox, eraser: Eraser
) -> None:
    job_id = mailbox.append("one [Grace]", "two [Oslo]", ids=["m1", "m2"])
    mailbox.bury(job_id)
    eraser.erase("m1")
    assert mailbox.decide(dead_letter.replay, job_id, at_tail=True)
    mailbox.run()
    assert sorted(mailbox.ada.memories()) == ["two"]


def test_jobs_name_it_no_more(mailbox: Mailbox, eraser: Eraser) -> None:
    mailbox.append("one [Grace]", "two [Oslo]", ids=["m1", "m2"], remember=Remember.NEVER)
    mailbox.run()
    mailbox.ask("m1", "m2")
    eraser.erase("m1")
    assert [job.payload for job in mailbox.waiting()] == [{"seqs": [2]}]


def test_a_job_under_way_is_fenced_off_and_done_anew(mailbox: Mailbox, eraser: Eraser) -> None:
    mailbox.append("one [Grace]", "two [Oslo]", ids=["m1", "m2"])
    (job,) = mailbox.waiting()
    lease = mailbox.ada.lease()
    effect = mailbox.ada.creation().prepare(job)
    eraser.erase("m1")
    with pytest.raises(FencedOffError), lease.effect() as connection:
        effect(connection)
    assert mailbox.ada.lane().wake_at is not None, "somebody is called to do it"
    mailbox.run()
    assert sorted(mailbox.ada.memories()) == ["two"]


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
        assert submit_drop(connection, "ada", [1])
    assert reembed.run(eraser.database, BagOfWords()) == 0
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
                stand_alone(connection, "ada")
                running = pool.submit(reembed.run, eraser.database, BagOfWords())
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
    "mention": lambda by, _: focus.run(by.database, by.tokens, "ada", "Oslo", MemoryParameters()),
    "rebuild": lambda by, _: rebuild.begin(by.database, by.tokens, "ada", up_to_seq=None),
    "show": lambda by, _: rebuild.show(by.database, "ada"),
    "switch": lambda by, _: rebuild.switch(by.database, by.tokens, "ada"),
    "drop": lambda by, _: rebuild.drop(by.database, by.tokens, "ada"),
    "restore": lambda by, node: restore.run(by.database, by.tokens, "ada", node),
    "consolidate": lambda by, _: consolidate.run(by.database, by.tokens, "ada"),
    "end": lambda by, _: consolidate.end(by.database, by.tokens, "ada", "s"),
    "pause": lambda by, _: pause.pause(by.database, "ada"),
    "resume": lambda by, _: pause.resume(by.database, by.tokens, "ada"),
    "cancel": lambda by, _: pause.cancel_compression(by.database, "ada"),
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
    monkeypatch.setattr("memci.storage.erasure.erase._BITE", 2)
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
