"""R9: what becomes of a document in the database, whoever else writes at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
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
from tests.support.archives import RecordedWakeups, exported, imported
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
    found = Listings(shelf.database).document(shelf.owner, document)
    return found.state, found.indexed_chunks, found.chunks, found.error


def test_a_document_is_read_once_and_found(shelf: Shelf):
    added = shelf.add("docs/guide.md", GUIDE)
    assert (added.state, added.unchanged, added.chunks) == (DocumentState.QUEUED, False, 0)
    assert shelf.run() == 1
    assert state(shelf, added.id) == (DocumentState.READY, 2, 2, None)
    assert shelf.rows("SELECT path, first_line FROM chunk WHERE agent_id = %s ORDER BY id") == [
        ("Guide › Install", 5), ("Guide › 卸载", 9),
    ]  # fmt: skip
    # Where a chunk stands is searched with it.
    assert shelf.models.embedder.embedded[0] == "guide.md › Guide › Install\nRun make once."
    assert shelf.counters() == shelf.counted() == (1, 2, shelf.counted()[2])
    assert shelf.rows("SELECT FROM document_body WHERE agent_id = %s") == []


def test_the_same_content_again_changes_nothing(shelf: Shelf):
    first = shelf.add("a.md", GUIDE)
    assert shelf.add("a.md", GUIDE).unchanged
    shelf.run()
    again = shelf.add("a.md", GUIDE)
    assert (again.unchanged, again.id, again.job_id) == (True, first.id, first.job_id)
    assert shelf.waiting() == []


def test_new_content_is_found_in_place_of_the_old_when_it_was_read(shelf: Shelf):
    first = shelf.add("a.md", "old words")
    shelf.run()
    second = shelf.add("a.md", "new words, and more of them")
    assert (second.id, second.state) == (first.id, DocumentState.QUEUED)
    assert shelf.texts() == ["old words"]
    shelf.run()
    assert shelf.texts() == ["new words, and more of them"]
    assert shelf.counters() == shelf.counted()


def test_a_large_document_comes_in_bites(database: Database):
    shelf = Shelf(database, bite=4)
    added = shelf.add("a.md", SECTIONS)
    shelf.run(most=1)
    assert state(shelf, added.id) == (DocumentState.INDEXING, 4, 10, None)
    assert shelf.run() == 2
    assert state(shelf, added.id)[:3] == (DocumentState.READY, 10, 10)
    assert shelf.counters() == shelf.counted()


def test_content_that_comes_while_the_old_is_read_wins(shelf: Shelf):
    shelf.add("a.md", "old words")
    (job,) = shelf.waiting()
    effect = shelf.handler.prepare(job)
    added = shelf.add("a.md", "new words")
    assert shelf.finish(job, effect)["outdated"]
    shelf.run()
    assert shelf.texts() == ["new words"]
    assert state(shelf, added.id)[0] is DocumentState.READY


def test_new_content_between_two_bites_wins_too(database: Database):
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


def test_jobs_of_one_document_may_come_in_any_order(database: Database):
    """One that waits for another try is overtaken by those of other documents, and of its own."""
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


def test_a_document_that_is_removed_while_it_is_read_stays_removed(shelf: Shelf):
    added = shelf.add("a.md", GUIDE)
    (job,) = shelf.waiting()
    effect = shelf.handler.prepare(job)
    documents.remove(shelf.database, "ada", added.id)
    shelf.finish(job, effect)
    assert shelf.run() == 0
    assert shelf.counters() == shelf.counted() == (0, 0, 0)


def test_a_broken_file_says_so_and_stops_no_other(shelf: Shelf):
    broken = shelf.add("a.docx", b"PK\x03\x04 broken")
    good = shelf.add("b.md", GUIDE)
    shelf.run()
    failed = state(shelf, broken.id)
    assert failed[0] is DocumentState.FAILED
    assert "damaged" in str(failed[3])
    assert state(shelf, good.id)[0] is DocumentState.READY
    # What has failed is tried again.
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


def test_removal_by_name_counts_down(shelf: Shelf):
    for name in ("docs/a.md", "docs/b.md", "docs2/c.md", "文档/d.md"):
        shelf.add(name, GUIDE)
    shelf.run()
    gone = documents.remove_named(shelf.database, "ada", "docs/")
    assert (gone.documents, gone.chunks) == (2, 4)
    assert shelf.counters() == shelf.counted() == (2, 4, shelf.counted()[2])
    assert documents.remove_named(shelf.database, "ada", "文档/").documents == 1
    assert documents.remove_named(shelf.database, "ada", "").documents == 1
    assert shelf.counters() == (0, 0, 0)


def test_indexers_side_by_side_keep_the_counters_right(database: Database):
    """Each writes other documents, and all of them one and the same."""
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
    # Another life begins with its first document.
    shelf.add("c.md", GUIDE)
    shelf.run()
    listed = Listings(shelf.database).documents("ada", prefix="", cursor=None, limit=9)
    assert [each.name for each in listed.documents] == ["c.md"]
    assert listed.documents[0].id == 3


def test_an_agent_with_nothing_but_documents_can_move(shelf: Shelf):
    shelf.add("a.md", GUIDE)
    shelf.run()
    shelf.add("b.py", CODE)
    imported(shelf.database, exported(shelf.database), "eve")
    moved = Shelf(shelf.database, "eve")
    moved.run()
    assert len(moved.texts()) == 5
    assert moved.counters() == moved.counted()


def test_nobody_reads_a_collection_that_was_not_named(database: Database):
    Shelf(database, "collection/a").add("a.md", GUIDE)
    Shelf(database, "collection/a").run()
    Shelf(database, "collection/b").add("b.md", GUIDE)
    Shelf(database, "collection/b").run()
    Shelf(database, "eve").add("c.md", GUIDE)
    Shelf(database, "eve").run()
    with database.agent_snapshot("ada") as connection:
        seen = "SELECT DISTINCT agent_id FROM chunk"
        assert connection.exec_driver_sql(seen).all() == []
        assert see_collections(connection, ["a"]) == ["collection/a"]
        assert connection.exec_driver_sql(seen).scalars().all() == ["collection/a"]
        assert connection.exec_driver_sql("SELECT FROM document_body").all() == []
        # An agent's id is no way to its documents.
        connection.exec_driver_sql("SELECT set_config('memci.collections', 'eve', true)")
        assert connection.exec_driver_sql(seen).all() == []
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


def test_what_no_document_is(shelf: Shelf):
    for name in ("", " ", "a\nb", "x" * 513, "\ud800"):
        with pytest.raises(InvalidInputError, match="name"):
            documents.new_document(name, b"x", max_bytes=10)
    with pytest.raises(TooLargeError, match="MEMCI_HTTP_MAX_DOCUMENT_BYTES"):
        documents.new_document("a", b"x" * 11, max_bytes=10)
    with pytest.raises(InvalidInputError, match="empty"):
        documents.new_document("a", b"", max_bytes=10)
    assert documents.new_document("./docs\\指南.md", b"x", max_bytes=10).name == "docs/指南.md"
    for owner, said in (("nobody", "no agent"), ("collection/x", "no collection x")):
        with pytest.raises(NotFoundError, match=said):
            documents.remove(shelf.database, owner, 1)
