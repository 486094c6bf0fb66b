"""R9: documents are indexed correctly, also with concurrent writers."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.exc import ProgrammingError

from memci.commands import documents, erase
from memci.domain.documents import DocumentState
from memci.errors import InvalidInputError, NotFoundError, TooLargeError
from memci.reading.lists.listings import Listings
from memci.storage.documents import see_collections
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.session import Database
from tests.support.archives import RecordedWakeups, export_agent, import_agent
from tests.support.documents import Shelf

GUIDE = "# Guide\n\n## Install\n\nRun make once.\n\n## 卸载\n\n删除文件夹即可。\n"
SECTIONS = "\n\n".join(f"# Part {n}\n\nabout topic{n}" for n in range(10))
CODE = (
    "class Parser:\n    depth = 0\n\n    def read(self):\n        return 1\n\n\n"
    "def read():\n    pass\n"
)


@pytest.fixture
def shelf(database: Database) -> Shelf:
    return Shelf(database)


def state(shelf: Shelf, document: int) -> tuple[DocumentState, int, int, str | None]:
    listed = Listings(shelf.database).document(shelf.owner, document)
    return listed.state, listed.indexed_chunks, listed.chunks, listed.error


def test_a_document_is_read_once_and_found(shelf: Shelf):
    added = shelf.add("docs/guide.md", GUIDE)
    assert (added.state, added.unchanged, added.chunks) == (DocumentState.QUEUED, False, 0)
    assert shelf.run() == 1
    assert state(shelf, added.id) == (DocumentState.READY, 2, 2, None)
    assert shelf.rows("SELECT path, first_line FROM chunk WHERE agent_id = %s ORDER BY id") == [
        ("Guide › Install", 5), ("Guide › 卸载", 9),
    ]  # fmt: skip
    # The name and path of a chunk are embedded with its text.
    assert shelf.models.embedder.embedded[0] == "guide.md › Guide › Install\nRun make once."
    assert shelf.counters() == shelf.counted() == (1, 2, shelf.counted()[2])
    assert shelf.rows("SELECT FROM document_body WHERE agent_id = %s") == []


def test_values_in_documents_are_redacted_when_they_are_read(shelf: Shelf):
    shelf.handler = replace(shelf.handler, redact="email")
    text = "# Of ann@example.org\n\nWrite to ann@example.org or bo@example.org."
    shelf.add("a.md", text)
    shelf.run()
    assert shelf.texts() == ["Write to [EMAIL_2] or [EMAIL_1]."] or shelf.texts() == [
        "Write to [EMAIL_1] or [EMAIL_2]."
    ]
    for table in ("chunk", "chunk_term", "document_body"):
        found = str(shelf.rows(f"SELECT * FROM {table} WHERE agent_id = %s"))
        assert "example.org" not in found
    assert "ann@" not in str(shelf.models.embedder.embedded)
    assert shelf.add("a.md", text).unchanged


def test_a_value_is_redacted_as_a_whole_before_a_document_is_cut(shelf: Shelf):
    shelf.handler = replace(shelf.handler, redact="secret")
    lines = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7" for _ in range(25))
    key = f"-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----"
    for name in ("key.md", "key.py", "key.json"):
        shelf.add(name, json.dumps({"key": key}) if name == "key.json" else f"# Key\n\n{key}\n")
        shelf.run()
    assert len(shelf.texts()) == 3
    assert all("[SECRET_1]" in each and "MII" not in each for each in shelf.texts())


def test_the_same_content_again_changes_nothing(shelf: Shelf):
    first = shelf.add("a.md", GUIDE)
    assert shelf.add("a.md", GUIDE).unchanged
    shelf.run()
    again = shelf.add("a.md", GUIDE)
    assert (again.unchanged, again.id, again.job_id) == (True, first.id, first.job_id)
    assert shelf.waiting() == []


def test_new_content_replaces_the_old_after_it_was_indexed(shelf: Shelf):
    first = shelf.add("a.md", "old words")
    shelf.run()
    second = shelf.add("a.md", "new words, and more of them")
    assert (second.id, second.state) == (first.id, DocumentState.QUEUED)
    assert shelf.texts() == ["old words"]
    shelf.run()
    assert shelf.texts() == ["new words, and more of them"]
    assert shelf.counters() == shelf.counted()


def test_a_large_document_is_indexed_in_several_jobs(database: Database):
    shelf = Shelf(database, bite=4)
    added = shelf.add("a.md", SECTIONS)
    shelf.run(most=1)
    assert state(shelf, added.id) == (DocumentState.INDEXING, 4, 10, None)
    assert shelf.run() == 2
    assert state(shelf, added.id)[:3] == (DocumentState.READY, 10, 10)
    assert shelf.counters() == shelf.counted()


def test_content_sent_while_the_old_is_indexed_replaces_it(shelf: Shelf):
    shelf.add("a.md", "old words")
    (job,) = shelf.waiting()
    effect = shelf.handler.prepare(job)
    added = shelf.add("a.md", "new words")
    assert shelf.finish(job, effect)["outdated"]
    shelf.run()
    assert shelf.texts() == ["new words"]
    assert state(shelf, added.id)[0] is DocumentState.READY


def test_content_sent_between_two_jobs_replaces_the_old(database: Database):
    shelf = Shelf(database, bite=4)
    shelf.add("a.md", SECTIONS)
    shelf.run(most=1)
    (job,) = shelf.waiting()
    effect = shelf.handler.prepare(job)
    added = shelf.add("a.md", "new words")
    shelf.finish(job, effect)
    shelf.run()
    assert shelf.texts() == ["new words"]
    assert state(shelf, added.id) == (DocumentState.READY, 1, 1, None)
    assert shelf.counters() == shelf.counted()


def test_jobs_of_one_document_may_run_in_any_order(database: Database):
    """Later jobs run before a job that waits for a retry."""
    shelf = Shelf(database, bite=4)
    shelf.add("a.md", "old words")
    (early,) = shelf.waiting()
    added = shelf.add("a.md", SECTIONS)
    late = shelf.waiting()[1]
    shelf.finish(late, shelf.handler.prepare(late))
    assert shelf.finish(early, shelf.handler.prepare(early))["indexed"] == 4
    shelf.run()
    assert state(shelf, added.id) == (DocumentState.READY, 10, 10, None)
    assert shelf.texts() == [f"about topic{n}" for n in range(10)]
    assert shelf.counters() == shelf.counted()


def test_a_document_removed_while_it_is_indexed_stays_removed(shelf: Shelf):
    added = shelf.add("a.md", GUIDE)
    (job,) = shelf.waiting()
    effect = shelf.handler.prepare(job)
    documents.remove(shelf.database, "ada", added.id)
    shelf.finish(job, effect)
    assert shelf.run() == 0
    assert shelf.counters() == shelf.counted() == (0, 0, 0)


def test_a_broken_file_fails_and_stops_no_other(shelf: Shelf):
    broken = shelf.add("a.docx", b"PK\x03\x04 broken")
    good = shelf.add("b.md", GUIDE)
    shelf.run()
    failed = state(shelf, broken.id)
    assert failed[0] is DocumentState.FAILED
    assert "damaged" in str(failed[3])
    assert state(shelf, good.id)[0] is DocumentState.READY
    # A failed document is tried again.
    assert not shelf.add("a.docx", b"PK\x03\x04 broken").unchanged


def test_a_document_whose_job_is_dead_has_failed(shelf: Shelf):
    added = shelf.add("a.md", GUIDE)
    with shelf.database.lane_transaction() as connection:
        connection.exec_driver_sql(
            "UPDATE job SET state = 'dead', last_error = 'worker_lost' WHERE id = %s",
            (added.job_id,),
        )
    assert state(shelf, added.id) == (DocumentState.FAILED, 0, 0, "worker_lost")
    assert not shelf.add("a.md", GUIDE).unchanged
    shelf.run()
    assert state(shelf, added.id)[0] is DocumentState.READY


def test_a_removal_by_name_lowers_the_counters(shelf: Shelf):
    for name in ("docs/a.md", "docs/b.md", "docs2/c.md", "文档/d.md"):
        shelf.add(name, GUIDE)
    shelf.run()
    removed = documents.remove_named(shelf.database, "ada", "docs/")
    assert (removed.documents, removed.chunks) == (2, 4)
    assert shelf.counters() == shelf.counted() == (2, 4, shelf.counted()[2])
    assert documents.remove_named(shelf.database, "ada", "文档/").documents == 1
    assert documents.remove_named(shelf.database, "ada", "").documents == 1
    assert shelf.counters() == (0, 0, 0)


def test_concurrent_indexers_keep_the_counters_correct(database: Database):
    """Each writes its own document, and all write one shared document."""
    shelves = [Shelf(database, "collection/shared") for _ in range(4)]

    def work(number: int) -> None:
        for turn in range(5):
            shelves[number].add(f"own{number}.md", f"text {number} of turn {turn} " * (turn + 1))
            shelves[number].add("same.md", f"words {number} {turn}")
            if turn % 2:
                documents.remove_named(database, "collection/shared", f"own{number}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    shelves[0].run()
    assert shelves[0].counters() == shelves[0].counted()
    listed = Listings(database).documents("collection/shared", prefix="", cursor=None, limit=9)
    assert {each.name for each in listed.documents} == {
        "same.md", *(f"own{number}.md" for number in range(4)),
    }  # fmt: skip
    assert {each.state for each in listed.documents} == {DocumentState.READY}


def test_an_agent_that_is_erased_has_no_documents(shelf: Shelf, client: Any):
    from memci.broker.redis_queues import RedisAgentQueues

    shelf.add("a.md", GUIDE)
    shelf.run()
    shelf.add("b.md", SECTIONS)
    wakeups: Any = RecordedWakeups()
    store = PostgresPageStore(shelf.database)
    erase.run_agent(shelf.database, store, wakeups, RedisAgentQueues(client), "ada")
    assert shelf.counters() == shelf.counted() == (0, 0, 0)
    with pytest.raises(NotFoundError, match="no agent ada"):
        Listings(shelf.database).documents("ada", prefix="", cursor=None, limit=1)
    # The agent begins anew with its first document.
    shelf.add("c.md", GUIDE)
    shelf.run()
    listed = Listings(shelf.database).documents("ada", prefix="", cursor=None, limit=9)
    assert [each.name for each in listed.documents] == ["c.md"]
    assert listed.documents[0].id == 3


def test_an_agent_with_only_documents_can_be_moved(shelf: Shelf):
    shelf.add("a.md", GUIDE)
    shelf.run()
    shelf.add("b.py", CODE)
    import_agent(shelf.database, export_agent(shelf.database), "eve")
    moved = Shelf(shelf.database, "eve")
    moved.run()
    assert len(moved.texts()) == 5
    assert moved.counters() == moved.counted()


def test_a_collection_is_readable_only_if_it_was_named(database: Database):
    Shelf(database, "collection/a").add("a.md", GUIDE)
    Shelf(database, "collection/a").run()
    Shelf(database, "collection/b").add("b.md", GUIDE)
    Shelf(database, "collection/b").run()
    Shelf(database, "eve").add("c.md", GUIDE)
    Shelf(database, "eve").run()
    with database.agent_snapshot("ada") as connection:
        owners = "SELECT DISTINCT agent_id FROM chunk"
        assert connection.exec_driver_sql(owners).all() == []
        assert see_collections(connection, ["a"]) == ["collection/a"]
        assert connection.exec_driver_sql(owners).scalars().all() == ["collection/a"]
        assert connection.exec_driver_sql("SELECT FROM document_body").all() == []
        # The id of another agent gives no access to its documents.
        connection.exec_driver_sql("SELECT set_config('memci.collections', 'eve', true)")
        assert connection.exec_driver_sql(owners).all() == []
    with database.agent_transaction("ada") as connection:
        see_collections(connection, ["a"])
        assert connection.exec_driver_sql("DELETE FROM chunk").rowcount == 0
        assert connection.exec_driver_sql("UPDATE document SET name = 'x'").rowcount == 0
        with pytest.raises(ProgrammingError, match="row-level security"):
            connection.exec_driver_sql(
                "INSERT INTO chunk_vector (agent_id, chunk_id, embedding, model)"
                " VALUES ('collection/a', 9, '[1]', 'x')"
            )
        connection.rollback()


def test_invalid_names_sizes_and_owners_are_refused(shelf: Shelf):
    for name in ("", " ", "a\nb", "x" * 513, "\ud800"):
        with pytest.raises(InvalidInputError, match="name"):
            documents.new_document(name, b"x", max_bytes=10)
    with pytest.raises(TooLargeError, match="MEMCI_HTTP_MAX_DOCUMENT_BYTES"):
        documents.new_document("a", b"x" * 11, max_bytes=10)
    with pytest.raises(InvalidInputError, match="empty"):
        documents.new_document("a", b"", max_bytes=10)
    assert documents.new_document("./docs\\指南.md", b"x", max_bytes=10).name == "docs/指南.md"
    for owner, message in (("nobody", "no agent"), ("collection/x", "no collection x")):
        with pytest.raises(NotFoundError, match=message):
            documents.remove(shelf.database, owner, 1)
