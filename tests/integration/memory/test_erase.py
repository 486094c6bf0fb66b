"""M25: messages or a session are erased with everything that was made of them."""

from __future__ import annotations

import pytest

from memci.domain.job import JobKind
from memci.errors import NotFoundError
from memci.reading.lists.listings import Listings
from tests.support.erasing import Eraser, SegmentsOf, erased
from tests.support.mailbox import Mailbox


def names(mailbox: Mailbox) -> list[str]:
    return sorted(node.content for node in mailbox.ada.nodes("entity"))


def test_a_message_goes_with_its_memory_links_and_index(seeded: Mailbox, eraser: Eraser) -> None:
    ada = seeded.ada
    erased_node = ada.memories()["two"].id
    receipt = eraser.erase("m2")
    assert sorted(ada.memories()) == ["one", "three"]
    assert [row.id for row in ada.rows("SELECT id FROM message WHERE agent_id = %s")] == [
        "m1", "m3",
    ]  # fmt: skip
    assert all(erased_node not in pair for pair in ada.links())
    for table, column, key in [
        ("message_term", "seq", 2), ("message_vector", "seq", 2),
        ("node_term", "node_id", erased_node), ("node_vector", "node_id", erased_node),
    ]:  # fmt: skip
        assert ada.rows(f"SELECT FROM {table} WHERE agent_id = %s AND {column} = %s", key) == []
        assert ada.rows(f"SELECT FROM {table} WHERE agent_id = %s") != []
    assert ada.trail(erased_node) == ["created", "erased"]
    assert receipt.body["message_ids"] == ["m2"]
    assert receipt.body["rows"]["message"] == 1
    assert Listings(ada.database).receipt("ada", receipt.id).body == receipt.body


def test_the_passages_of_a_long_message_go_with_it(seeded: Mailbox, eraser: Eraser) -> None:
    passages = "SELECT FROM message_passage WHERE agent_id = %s"
    seeded.ada.remember("[Ann] counts her hives. " * 200)
    (long,) = seeded.ada.rows(
        "SELECT id FROM message WHERE agent_id = %s ORDER BY seq DESC LIMIT 1"
    )
    assert seeded.ada.rows(passages)
    eraser.erase(long.id)
    assert not seeded.ada.rows(passages)


def test_the_counters_of_the_index_stay_right(seeded: Mailbox, eraser: Eraser) -> None:
    eraser.erase("m2", "m1")
    (row,) = seeded.ada.rows(
        "SELECT indexed_messages, indexed_terms, erased_messages, (SELECT sum(length) FROM"
        " (SELECT DISTINCT seq, length FROM message_term) AS each) AS terms FROM lane"
        " WHERE agent_id = %s"
    )
    assert (row.indexed_messages, row.indexed_terms, row.erased_messages) == (1, row.terms, 2)


def test_an_entity_stays_while_another_message_names_it(seeded: Mailbox, eraser: Eraser) -> None:
    assert names(seeded) == ["Grace", "Oslo"]
    eraser.erase("m1")
    assert names(seeded) == ["Grace", "Oslo"]
    # The third memory is linked to Oslo, a focus point, but does not name it.
    eraser.erase("m2")
    assert names(seeded) == ["Grace"]
    assert seeded.ada.focus() == ["Grace"]
    eraser.erase("m3")
    assert seeded.ada.nodes() == []
    assert seeded.ada.links() == {}


@pytest.mark.parametrize(
    ("name", "other"), [("Al", "also"), ("小红", "小 红"), ("ACME", "acme"), ("王", "和王说")]
)
def test_names_are_matched_as_whole_words(
    mailbox: Mailbox, eraser: Eraser, name: str, other: str
) -> None:
    mailbox.append(f"one about [{name}] here", f"two {other} about nothing", ids=["m1", "m2"])
    mailbox.run()
    eraser.erase("m1")
    assert (name in names(mailbox)) == (other in {"acme", "和王说"})


def test_messages_that_shared_a_memory_are_made_again(mailbox: Mailbox, eraser: Eraser) -> None:
    mailbox.ada.models.segmenter = SegmentsOf(2)
    mailbox.append("one [Grace]", "two [Oslo]", "three [Rome]", "four [Lima]", ids="abcd")
    mailbox.run()
    receipt = eraser.erase("a")
    assert (receipt.body["memories"], receipt.body["again"]) == (1, 1)
    assert mailbox.messages()[0] == ("pending", True)
    (job,) = mailbox.waiting()
    assert (job.kind, job.payload, str(job.id)) == (
        JobKind.CREATE, {"seqs": [2], "wanted": [2]}, receipt.body["job_id"],
    )  # fmt: skip
    mailbox.run()
    assert sorted(mailbox.ada.memories()) == ["three", "two"]
    assert [row.message_seqs for row in mailbox.ada.nodes("memory")] == [[3, 4], [2]]
    assert names(mailbox) == ["Lima", "Oslo", "Rome"]
    assert mailbox.messages() == [("made", True)] * 3


def test_all_memories_of_a_message_that_is_remembered_again_are_erased(
    mailbox: Mailbox, eraser: Eraser
) -> None:
    """Otherwise its words would be remembered twice."""
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


def test_links_to_a_forgotten_memory_are_erased(seeded: Mailbox, eraser: Eraser) -> None:
    erased_node = seeded.ada.memories()["two"].id
    seeded.ada.execute("DELETE FROM node WHERE agent_id = %s AND id = %s", erased_node)
    assert any(pair[1] == erased_node for pair in seeded.ada.links())
    assert eraser.preview("m2").forgotten == 1
    eraser.erase("m2")
    assert not any(erased_node in pair for pair in seeded.ada.links() if pair[1] == erased_node)
    assert seeded.ada.trail(erased_node) == ["created", "erased"]


def test_a_session_is_erased_completely_and_others_stay(seeded: Mailbox, eraser: Eraser) -> None:
    seeded.ada.execute("UPDATE message SET session_id = 's' WHERE agent_id = %s AND seq < 3")
    assert eraser.preview(session="s").message_ids == ["m1", "m2"]
    receipt = eraser.erase(session="s")
    assert receipt.body["message_ids"] == ["m1", "m2"]
    assert sorted(seeded.ada.memories()) == ["three"]
    with pytest.raises(NotFoundError, match="session"):
        eraser.erase(session="s")


OTHER_ROWS = (
    (
        "INSERT INTO pin (agent_id, number, kind, text, message_seq, pinned_by)"
        " VALUES ($, 1, 'task', 'one', 1, 'detector'), ($, 2, 'task', 'three', 3, 'detector')"
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


def test_the_preview_counts_rows_of_other_tables(seeded: Mailbox, eraser: Eraser) -> None:
    seeded.ada.execute("UPDATE message SET session_id = 's' WHERE agent_id = %s AND seq < 3")
    with seeded.ada.database.agent_transaction("ada") as connection:
        for statement in OTHER_ROWS:
            connection.exec_driver_sql(statement.replace("$", "'ada'"))
    before = Listings(seeded.ada.database).agent("ada")
    counts = (before.items, before.checkpoints, before.summaries, before.pins, before.plans)
    assert counts == (1, 2, 2, 2, 2)
    of_one = eraser.preview("m3")
    shares = (of_one.summaries, of_one.pinned_sentences, of_one.plan_steps, of_one.checkpoints)
    assert shares == (1, 1, 2, 0)
    preview = eraser.preview(session="s")
    rows = eraser.erase(session="s").body["rows"]
    assert preview.plan_steps == rows["plan_step"] == 2
    assert preview.checkpoints == rows["checkpoint"] == 1
    assert (preview.summaries, rows["summary"]) == (1, 2)  # one more for a single user
    after = Listings(seeded.ada.database).agent("ada")
    assert preview.pinned_sentences == before.pins - after.pins == 1
    assert (after.items, after.checkpoints, after.summaries, after.plans) == (1, 1, 1, 1)


def test_a_preview_writes_nothing(seeded: Mailbox, eraser: Eraser) -> None:
    before = seeded.ada.lane()
    found = eraser.preview("m1", "m2")
    assert (found.message_ids, found.memories, found.entities) == (["m1", "m2"], 2, 1)
    assert [each.excerpt for each in found.messages] == [
        "one is about [Grace] in [Oslo]", "two is about [Oslo] again",
    ]  # fmt: skip
    assert seeded.ada.lane() == before
    assert len(seeded.ada.memories()) == 3


def test_an_unknown_message_erases_nothing_and_the_lane_goes_on(
    seeded: Mailbox, eraser: Eraser
) -> None:
    with pytest.raises(NotFoundError, match="'never'"):
        eraser.erase("m1", "never")
    assert len(seeded.ada.memories()) == 3
    assert seeded.ada.lane().lease_owner is None
    assert erased(seeded.ada, "m1") == set()
