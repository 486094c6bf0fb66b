"""Texts of notes that no page needs are removed, and only those (P14)."""

from __future__ import annotations

import json
import os
import time

import pytest

from memci.storage.page_store.local import FilePageStore
from memci.storage.page_store.port import TextKey
from memci.testing import wait_until
from memci.upkeep.duties import remove_orphans
from tests.support.network import AgentUnderTest
from tests.support.notes import NoteTaker

ORPHAN = TextKey("ada", "usr-7", 7)
_STEP = """
INSERT INTO page_step (agent_id, number, operations, changes)
VALUES ('ada', 90, ARRAY['write'], %s::jsonb)
"""


@pytest.fixture
def ada(database):
    ada = AgentUnderTest(database)
    ada.say("Hello", session="s1")
    return ada


def test_old_orphans_are_removed_and_needed_texts_stay(ada, page_store):
    taker = NoteTaker(ada.database, page_store)
    taker.note("Needed")
    needed = set(page_store.list("ada"))
    was, became = ORPHAN._replace(version=8), ORPHAN._replace(version=9)
    changes = [
        {"index": "usr-1", "was": {"name": "A"}, "became": {"name": "B"}},
        {
            "index": "usr-7",
            "was": {"text_version": was.version},
            "became": {"text_version": became.version},
        },
        {"index": "usr-7", "was": {"text_version": None}, "became": {"text_version": None}},
    ]
    with ada.database.agent_transaction("ada") as connection:
        connection.exec_driver_sql(_STEP, (json.dumps(changes),))
    for key in (ORPHAN, was, became):
        page_store.save(key, "…")
    found = remove_orphans(ada.database, page_store, grace_s=3600)
    assert (found.removed, found.looked_at, found.after) == (0, 0, None), "all are young"
    wait_until(
        lambda: remove_orphans(ada.database, page_store, grace_s=1).removed, "the orphan is old"
    )
    assert set(page_store.list("ada")) == {*needed, was, became}
    assert "Needed" in taker.window()


def test_unfinished_files_of_a_dead_writer_are_removed_too(ada, tmp_path):
    store = FilePageStore(tmp_path)
    store.save(ORPHAN, "…")
    (file,) = (each for each in tmp_path.rglob("*") if each.is_file())
    unfinished = file.with_name(f"{file.name}.abc123.unfinished")
    file.rename(unfinished)
    assert list(store.list("ada")) == []
    assert not store.exists(ORPHAN)
    assert remove_orphans(ada.database, store, grace_s=3600).removed == 0
    os.utime(unfinished, (0, 0))
    assert remove_orphans(ada.database, store, grace_s=3600).removed == 1
    assert not unfinished.exists()


def test_all_agents_are_checked_in_batches(database, tmp_path):
    with database.lane_transaction() as connection:
        connection.exec_driver_sql(
            "INSERT INTO lane (agent_id) SELECT 'a' || lpad(n::text, 4, '0')"
            " FROM generate_series(1, 450) AS n"
        )
    store = FilePageStore(tmp_path)
    for number in (1, 200, 201, 450):
        store.save(ORPHAN._replace(agent_id=f"a{number:04}"), "…")
    removed, after, batches = 0, "", 0
    while after is not None:
        batch = remove_orphans(database, store, grace_s=1e-9, after=after)
        removed, after, batches = removed + batch.removed, batch.after, batches + 1
    assert removed == 4
    assert batches >= 3


def test_a_worker_removes_orphans_when_beat_requests_it(ada, fleet, tmp_path):
    folder = tmp_path / "notes"
    store = FilePageStore(folder)
    NoteTaker(ada.database, store).note("Needed")
    store.save(ORPHAN, "…")
    long_ago = time.time() - 2 * 86_400
    for file in folder.rglob("*.txt"):
        os.utime(file, (long_ago, long_ago))
    settings = {"MEMCI_PAGE_STORE": f"files://{folder}", "MEMCI_TEST_PERIOD_S": "1"}
    worker = fleet.start("memci.upkeep", ready=False, **settings)
    fleet.start_beat(**settings)
    wait_until(lambda: not store.exists(ORPHAN), "the orphan is removed", timeout_s=50)
    assert len(list(store.list("ada"))) == 1
    wait_until(lambda: "orphaned texts removed" in worker.log_text, "it is told")
