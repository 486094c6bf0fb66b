"""Texts are moved to another store while notes are written, read and erased (P14)."""

from __future__ import annotations

import json
from collections.abc import Callable
from threading import Event, Thread

import pytest

from memci.commands.pages.move_texts import TextCounts, TextMigration
from memci.errors import PageStoreError
from memci.storage.page_store.local import FilePageStore, MemoryPageStore
from memci.storage.page_store.port import TextKey
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.page_store.wrappers import CachedPageStore, MovingPageStore, TextCache
from memci.testing import wait_until
from tests.support.network import AgentUnderTest
from tests.support.notes import NoteTaker
from tests.support.page_stores import store_of

KEY = TextKey("ada", "usr-1", 7)


def ignore(counts: TextCounts) -> None: ...


@pytest.fixture
def ada(database):
    ada = AgentUnderTest(database)
    ada.say("Hello", session="s1")
    return ada


class Crowd:
    """Threads that repeat their work until they are stopped; collects their errors."""

    def __init__(self) -> None:
        self.failed: list[Exception] = []
        self._stop = Event()
        self._threads: list[Thread] = []

    def begin(self, work: Callable[[], None]) -> None:
        thread = Thread(target=self._run, args=[work])
        self._threads.append(thread)
        thread.start()

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, work: Callable[[], None]) -> None:
        try:
            while not self._stop.is_set():
                work()
        except Exception as error:  # noqa: BLE001 - the test asserts it
            self.failed.append(error)


@pytest.mark.parametrize(
    ("former", "new"), [("postgres", "files"), ("files", "s3"), ("s3", "postgres")]
)
def test_a_migration_loses_no_text_and_fails_no_reader(ada, request, former, new):
    """One process writes to the old store, one to the new; both read without a cache."""
    source, target = store_of(former, request), store_of(new, request)
    takers = [
        NoteTaker(ada.database, MovingPageStore(source, target)),
        NoteTaker(ada.database, MovingPageStore(target, source)),
    ]
    written: list[str] = []

    def write() -> None:
        text = f"Text {len(written)}."
        takers[len(written) % 2].note(text)
        written.append(text)

    def read() -> None:
        known = list(written)
        for taker in takers:
            window = taker.window()
            assert all(text in window for text in known)

    for _ in range(4):
        write()
    crowd = Crowd()
    crowd.begin(write)
    crowd.begin(read)
    migration = TextMigration(ada.database, source, target)
    try:
        for _ in range(4):
            seen = len(written)
            migration.run(clear=True, report=ignore)
            wait_until(
                lambda seen=seen: crowd.failed or len(written) > seen + 1, "notes are written"
            )
    finally:
        crowd.end()
    assert crowd.failed == []
    migration.run(clear=True, report=ignore)
    assert list(source.list("ada")) == []
    alone = NoteTaker(ada.database, target).window()
    assert all(text in alone for text in written)


def test_a_text_is_read_if_the_snapshot_is_older_than_its_copy(ada, tmp_path):
    """The copy is in PostgreSQL; the original is cleared."""
    source, target = FilePageStore(tmp_path), PostgresPageStore(ada.database)
    source.save(KEY, "On its way")
    with ada.database.agent_snapshot("ada") as connection:
        connection.exec_driver_sql("SELECT")
        TextMigration(ada.database, source, target).run(clear=True, report=ignore)
        for pair in ((source, target), (target, source)):
            reader = MovingPageStore(*pair).in_transaction(connection)
            assert reader.load(KEY) == "On its way"
            assert reader.exists(KEY)


def test_a_second_migration_copies_nothing_again(ada, tmp_path):
    source, target = MemoryPageStore(), FilePageStore(tmp_path)
    AgentUnderTest(ada.database, "ben")
    keys = [KEY._replace(version=number) for number in range(1, 6)]
    for key in keys:
        source.save(key, f"Text {key.version}")
    source.save(KEY._replace(agent_id="ben"), "Of Ben")
    target.save(keys[0], "Text 1")
    reported: list[int] = []
    moved = TextMigration(ada.database, source, target).run(
        clear=False, report=lambda counts: reported.append(counts.agents)
    )
    assert (moved.agents, moved.copied, moved.present, moved.cleared) == (2, 5, 1, 0)
    assert reported == [1, 2]
    again = TextMigration(ada.database, source, target).run(clear=True, report=ignore)
    assert (again.copied, again.present, again.cleared) == (0, 6, 6)
    assert [target.load(key) for key in keys] == [f"Text {key.version}" for key in keys]
    assert list(source.list("ada")) == []


def test_a_text_erased_while_it_is_copied_stays_erased(ada):
    """The erasure is between the read from the source and the write to the target."""

    class Slow(MemoryPageStore):
        def save(self, key, text):
            both.delete(key)
            super().save(key, text)

    source, target = MemoryPageStore(), Slow()
    both = MovingPageStore(target, source)
    source.save(KEY, "To be gone")
    moved = TextMigration(ada.database, source, target).run(clear=False, report=ignore)
    assert moved.copied == 0
    assert not both.exists(KEY)


class Forgetful(MemoryPageStore):
    """A store that deletes a text, also from other stores, before it is loaded."""

    def __init__(self, *first: MemoryPageStore) -> None:
        super().__init__()
        self._from = (*first, self)

    def load(self, key: TextKey) -> str:
        for store in self._from:
            store.delete(key)
        return super().load(key)


def test_a_text_erased_while_it_is_cleared_is_no_error(ada):
    """The erasure is between the read from the source and the check of the target."""
    source = MemoryPageStore()
    target = Forgetful(source)
    source.save(KEY, "To be gone")
    moved = TextMigration(ada.database, source, target).run(clear=True, report=ignore)
    assert (moved.copied, moved.cleared) == (1, 0)
    assert list(target.list("ada")) == []


def test_a_text_whose_copy_is_lost_is_not_removed(ada):
    source = MemoryPageStore()
    source.save(KEY, "What was written")
    with pytest.raises(PageStoreError, match="not removed from the source"):
        TextMigration(ada.database, source, Forgetful()).run(clear=True, report=ignore)
    assert source.load(KEY) == "What was written"


def test_a_text_is_not_removed_if_its_copy_differs(ada):
    source, target = MemoryPageStore(), MemoryPageStore()
    source.save(KEY, "What was written")
    target.save(KEY, "What somebody else put there")
    with pytest.raises(PageStoreError, match="not removed from the source"):
        TextMigration(ada.database, source, target).run(clear=True, report=ignore)
    assert source.load(KEY) == "What was written"


def test_a_text_that_is_moved_between_two_reads_is_found(ada, tmp_path):
    """An older snapshot of the database finds it, too."""

    class Moving(FilePageStore):
        def load(self, key):
            text = super().load(key)
            target.save(key, text)
            self.delete(key)
            return super().load(key)

    source, target = Moving(tmp_path), PostgresPageStore(ada.database)
    both = CachedPageStore(MovingPageStore(target, source), TextCache(0))
    source.save(KEY, "On its way")
    with ada.database.agent_snapshot("ada") as connection:
        connection.exec_driver_sql("SELECT")
        assert both.in_transaction(connection).load(KEY) == "On its way"
    assert both.exists(KEY)
    assert list(both.list("ada")) == [KEY]


@pytest.fixture
def memci(monkeypatch, database_url, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMCI_DATABASE_URL", database_url)
    monkeypatch.setenv("MEMCI_DATA_DIR", str(tmp_path))

    def run(*arguments, store, also=None):
        from memci.cli.app import run

        monkeypatch.setattr("sys.argv", ["memci", "pages", "migrate", *arguments])
        monkeypatch.setenv("MEMCI_PAGE_STORE", store)
        monkeypatch.delenv("MEMCI_PAGE_STORE_READS_ALSO", raising=False)
        if also is not None:
            monkeypatch.setenv("MEMCI_PAGE_STORE_READS_ALSO", also)
        code = run()
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_command_says_what_to_set_before_it_copies_anything(memci):
    code, _, error = memci("--to", "files", store="postgres")
    assert code == 1
    assert "First set MEMCI_PAGE_STORE_READS_ALSO=files for every process" in error
    assert "then set MEMCI_PAGE_STORE=files and MEMCI_PAGE_STORE_READS_ALSO=postgres" in error
    code, _, error = memci("--to", "files", store="postgres", also="files")
    assert code == 1
    assert "new texts still go to postgres" in error
    code, _, error = memci("--to", "files", store="files")
    assert code == 1
    assert "the page store is files already" in error
    code, _, error = memci("--to", "memory", store="files")
    assert code == 2


@pytest.mark.parametrize(
    ("to", "address"), [("s3", "s3://notes/memci"), ("files", "files:///srv/notes")]
)
def test_the_command_names_whole_addresses(memci, to, address):
    code, _, error = memci("--to", to, store="postgres", also=address)
    assert code == 1
    assert f"set MEMCI_PAGE_STORE={address} and MEMCI_PAGE_STORE_READS_ALSO=postgres for" in error
    code, _, error = memci("--to", "s3", store=address if to == "files" else "postgres")
    assert code == 1
    assert "set MEMCI_PAGE_STORE_READS_ALSO=s3://BUCKET/PREFIX for every process" in error


def test_the_command_moves_all_texts_and_names_the_next_step(memci, ada, tmp_path):
    taker = NoteTaker(ada.database, PostgresPageStore(ada.database))
    taker.note("First")
    taker.note("Second")
    code, output, hint = memci("--to", "files", store="files", also="postgres")
    assert (code, output) == (
        0,
        "2 texts copied from postgres to files, 0 there before, of 1 agent\n",
    )
    assert "run it once more" in hint
    code, output, hint = memci("--to", "files", store="files", also="postgres")
    assert "0 texts copied" in output
    assert "--clear removes them" in hint
    code, output, hint = memci("--to", "files", "--clear", store="files", also="postgres")
    assert "2 texts removed from postgres" in output
    assert "remove MEMCI_PAGE_STORE_READS_ALSO for every process" in hint
    code, output, _ = memci("--to", "files", "--json", store="files", also="postgres")
    assert json.loads(output) == {
        "from": "postgres", "to": "files", "agents": 1, "copied": 0, "present": 0, "cleared": 0,
        "missing": 0,
    }  # fmt: skip
    alone = NoteTaker(ada.database, FilePageStore(tmp_path / "pages")).window()
    assert "First" in alone
    assert "Second" in alone
