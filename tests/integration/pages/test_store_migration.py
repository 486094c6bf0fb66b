"""Texts move from one store to another while notes are written, read and erased (P14)."""

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
    """Threads that go on until they are told to stop; what failed in them is kept."""

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
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self.failed.append(error)


@pytest.mark.parametrize(
    ("former", "new"), [("postgres", "files"), ("files", "s3"), ("s3", "postgres")]
)
def test_nothing_is_lost_and_no_reader_fails_meanwhile(ada, request, former, new):
    """One process still writes to the former store, one to the new; both read, without a cache."""
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


def test_a_snapshot_that_does_not_show_the_copy_yet_hinders_nobody(ada, tmp_path):
    """A reader of the former store whose snapshot of the database is older than the copy in it."""
    source, target = FilePageStore(tmp_path), PostgresPageStore(ada.database)
    source.save(KEY, "On its way")
    with ada.database.agent_snapshot("ada") as connection:
        connection.exec_driver_sql("SELECT")
        TextMigration(ada.database, source, target).run(clear=True, report=ignore)
        for pair in ((source, target), (target, source)):
            reader = MovingPageStore(*pair).in_transaction(connection)
            assert reader.load(KEY) == "On its way"
            assert reader.exists(KEY)


def test_it_goes_on_where_it_was_and_does_nothing_twice(ada, tmp_path):
    source, target = MemoryPageStore(), FilePageStore(tmp_path)
    AgentUnderTest(ada.database, "ben")
    keys = [KEY._replace(version=number) for number in range(1, 6)]
    for key in keys:
        source.save(key, f"Text {key.version}")
    source.save(KEY._replace(agent_id="ben"), "Of Ben")
    target.save(keys[0], "Text 1")
    heard: list[int] = []
    moved = TextMigration(ada.database, source, target).run(
        clear=False, report=lambda counts: heard.append(counts.agents)
    )
    assert (moved.agents, moved.copied, moved.present, moved.cleared) == (2, 5, 1, 0)
    assert heard == [1, 2]
    again = TextMigration(ada.database, source, target).run(clear=True, report=ignore)
    assert (again.copied, again.present, again.cleared) == (0, 6, 6)
    assert [target.load(key) for key in keys] == [f"Text {key.version}" for key in keys]
    assert list(source.list("ada")) == []


def test_what_is_erased_while_it_is_copied_stays_erased(ada):
    """Between being read from the one and written to the other."""

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
    """A store whose texts go just before they are read back, and those of another one first."""

    def __init__(self, *first: MemoryPageStore) -> None:
        super().__init__()
        self._from = (*first, self)

    def load(self, key: TextKey) -> str:
        for store in self._from:
            store.delete(key)
        return super().load(key)


def test_what_is_erased_while_it_is_cleared_away_hinders_nothing(ada):
    """Between being read from the one and read back from the other."""
    source = MemoryPageStore()
    target = Forgetful(source)
    source.save(KEY, "To be gone")
    moved = TextMigration(ada.database, source, target).run(clear=True, report=ignore)
    assert (moved.copied, moved.cleared) == (1, 0)
    assert list(target.list("ada")) == []


def test_a_text_whose_copy_is_lost_is_not_given_up(ada):
    source = MemoryPageStore()
    source.save(KEY, "What was written")
    with pytest.raises(PageStoreError, match="not removed from the source"):
        TextMigration(ada.database, source, Forgetful()).run(clear=True, report=ignore)
    assert source.load(KEY) == "What was written"


def test_a_copy_that_is_another_text_is_not_what_the_text_is_given_up_for(ada):
    source, target = MemoryPageStore(), MemoryPageStore()
    source.save(KEY, "What was written")
    target.save(KEY, "What somebody else put there")
    with pytest.raises(PageStoreError, match="not removed from the source"):
        TextMigration(ada.database, source, target).run(clear=True, report=ignore)
    assert source.load(KEY) == "What was written"


def test_what_moves_between_two_looks_is_found(ada, tmp_path):
    """Also by who looks at the database as it was before."""

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
    code, _, said = memci("--to", "files", store="postgres")
    assert code == 1
    assert "First set MEMCI_PAGE_STORE_READS_ALSO=files for every process" in said
    assert "then set MEMCI_PAGE_STORE=files and MEMCI_PAGE_STORE_READS_ALSO=postgres" in said
    code, _, said = memci("--to", "files", store="postgres", also="files")
    assert code == 1
    assert "new texts still go to postgres" in said
    code, _, said = memci("--to", "files", store="files")
    assert code == 1
    assert "the page store is files already" in said
    code, _, said = memci("--to", "memory", store="files")
    assert code == 2


@pytest.mark.parametrize(
    ("to", "address"), [("s3", "s3://notes/memci"), ("files", "files:///srv/notes")]
)
def test_the_command_names_whole_addresses(memci, to, address):
    code, _, said = memci("--to", to, store="postgres", also=address)
    assert code == 1
    assert f"set MEMCI_PAGE_STORE={address} and MEMCI_PAGE_STORE_READS_ALSO=postgres for" in said
    code, _, said = memci("--to", "s3", store=address if to == "files" else "postgres")
    assert code == 1
    assert "set MEMCI_PAGE_STORE_READS_ALSO=s3://BUCKET/PREFIX for every process" in said


def test_the_command_moves_all_and_says_what_comes_next(memci, ada, tmp_path):
    taker = NoteTaker(ada.database, PostgresPageStore(ada.database))
    taker.note("First")
    taker.note("Second")
    code, said, hinted = memci("--to", "files", store="files", also="postgres")
    assert (code, said) == (
        0,
        "2 texts copied from postgres to files, 0 there before, of 1 agent\n",
    )
    assert "run it once more" in hinted
    code, said, hinted = memci("--to", "files", store="files", also="postgres")
    assert "0 texts copied" in said
    assert "--clear removes them" in hinted
    code, said, hinted = memci("--to", "files", "--clear", store="files", also="postgres")
    assert "2 texts removed from postgres" in said
    assert "remove MEMCI_PAGE_STORE_READS_ALSO for every process" in hinted
    code, said, _ = memci("--to", "files", "--json", store="files", also="postgres")
    assert json.loads(said) == {
        "from": "postgres", "to": "files", "agents": 1, "copied": 0, "present": 0, "cleared": 0,
        "missing": 0,
    }  # fmt: skip
    alone = NoteTaker(ada.database, FilePageStore(tmp_path / "pages")).window()
    assert "First" in alone
    assert "Second" in alone
