"""An agent that comes to another server is the agent that it was."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime
from typing import Any

import pytest
from pydantic import SecretStr

from memci.commands import erase
from memci.commands.erase import ErasureSelection
from memci.config.settings import Settings
from memci.domain.pages.parameters import PageRules
from memci.errors import ConflictError
from memci.jobs import compression_pass
from memci.reading.context_window import Windows
from memci.reading.reader import ReadingModels, Tokenizers
from memci.reading.registry import Readings
from memci.schemas.archive import MANIFEST, ArchiveManifest
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.storage.archive.export import EXPORTED_TABLES
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.session import Database
from memci.storage.vectors import VectorModel, claim_model
from tests.support.archives import (
    RecordedWakeups,
    arrived,
    exported,
    files_of,
    forged,
    imported,
    tables_of,
    use_model,
)
from tests.support.archives import each as of_each
from tests.support.complete_agent import SAID_AT
from tests.support.mailbox import Mailbox
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same


def test_every_table_that_is_carried_is_looked_at_by_these_tests(ada: AgentUnderTest) -> None:
    manifest = ArchiveManifest.model_validate_json(files_of(exported(ada.database))[MANIFEST])
    assert [each.name for each in EXPORTED_TABLES if not manifest.tables[each.name].rows] == []
    assert set(manifest.left_out) == {"edition", "message_context_vector", "model_usage"}
    assert manifest.agent_id == "ada"


def test_the_export_of_an_import_is_the_export(ada: AgentUnderTest, elsewhere: Database) -> None:
    use_model(elsewhere, ada)
    ada.ask_for_pass()
    archive = exported(ada.database)
    wakeups = RecordedWakeups()
    answer = imported(elsewhere, archive, wakeups=wakeups)
    assert answer.reembed_job_id is None
    assert tables_of(exported(elsewhere)) == tables_of(archive)
    assert answer.rows["message"] == len(ada.rows("SELECT FROM message WHERE agent_id = %s"))
    # What waited is woken.
    assert (answer.queued > 0, wakeups.lanes, wakeups.compressions) == (True, ["ada"], ["ada"])


def test_what_language_models_took_comes_along(ada: AgentUnderTest, elsewhere: Database) -> None:
    use_model(elsewhere, ada)
    archive = exported(ada.database)
    for table in ("job", "pass_log"):
        lines = files_of(archive)[f"tables/{table}.jsonl"].splitlines()
        taken = [row["models"] for row in map(json.loads, lines) if row["models"]]
        assert [(each["task"], each["cost"]) for each in taken[0]] == [
            ("annotate", None), ("compress", 0.25),
        ]  # fmt: skip
    imported(elsewhere, archive)
    assert tables_of(exported(elsewhere)) == tables_of(archive)


def test_what_was_said_keeps_its_offset(ada: AgentUnderTest, elsewhere: Database) -> None:
    looked = (
        "SELECT said_at, said_offset FROM message WHERE agent_id = %s ORDER BY seq",
        "SELECT said_at, said_offset FROM node WHERE agent_id = %s ORDER BY id",
        "SELECT said_at, said_offset FROM node_version WHERE agent_id = %s ORDER BY node_id",
    )
    before = [ada.rows(each) for each in looked]
    assert all(any(row.said_offset == 345 for row in rows) for rows in before)
    assert any(row.said_offset is None for row in before[0])
    archive = exported(ada.database)
    first = json.loads(files_of(archive)["tables/message.jsonl"].splitlines()[0])
    assert first["said_at"] == SAID_AT.isoformat()
    imported(elsewhere, archive)
    assert [arrived(ada, elsewhere).rows(each) for each in looked] == before


@pytest.mark.parametrize(
    ("written", "offset"),
    [
        ("2026-11-18T06:30:00-08:30", -510),
        ("2026-11-18T06:30:00.25+00:00", None),  # as all archives had it, before there were offsets
        ("2026-11-18T06:30:00Z", None),
        ("2026-11-18T06:30:00+0800", None),
        ("2026-11-18T06:30:00+08:00:30", None),
    ],
)
def test_an_archive_tells_an_offset_or_is_of_utc(
    ada: AgentUnderTest, elsewhere: Database, written: str, offset: int | None
) -> None:
    imported(elsewhere, forged(exported(ada.database), "message", of_each(said_at=written)))
    rows = arrived(ada, elsewhere).rows(
        "SELECT DISTINCT said_at, said_offset FROM message WHERE agent_id = %s"
    )
    assert [tuple(row) for row in rows] == [(datetime.fromisoformat(written), offset)]


def test_it_can_come_under_another_name_beside_the_first(ada: AgentUnderTest) -> None:
    use_model(ada.database, ada)
    before = tables_of(exported(ada.database))
    imported(ada.database, exported(ada.database), "grace")
    assert tables_of(exported(ada.database, "grace")) == before
    assert tables_of(exported(ada.database)) == before
    grace = arrived(ada, ada.database, "grace")
    grace.compress(3)
    assert tables_of(exported(ada.database)) == before


def test_of_two_that_come_at_once_one_is_taken(ada: AgentUnderTest, elsewhere: Database) -> None:
    archive = exported(ada.database)

    def bring(_: int) -> str:
        try:
            return imported(elsewhere, archive).agent_id
        except ConflictError:
            return "refused"

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(bring, range(2))) == ["ada", "refused"]


def test_work_goes_on_as_it_would_have(ada: AgentUnderTest, elsewhere: Database) -> None:
    use_model(elsewhere, ada)
    imported(elsewhere, exported(ada.database))
    there = arrived(ada, elsewhere)
    for each in (ada, there):
        mailbox = Mailbox(each)
        mailbox.run()
        mailbox.append("later on a storm came [Grace]")
        mailbox.run()
        each.compress(2)
    assert network_of(there) == network_of(ada)
    assert there.lane().message_seq == ada.lane().message_seq
    assert there.lane().last_node_id == ada.lane().last_node_id


READS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("recall", {"keywords": [], "format": "structured", "depth": 4}),
    ("recall", {"keywords": ["Luigi"], "format": "structured", "depth": 4}),
    ("recall", {"keywords": ["violin"], "format": "text"}),
    ("recall", {"keywords": ["never"], "format": "structured"}),
    ("search", {"query": "a violin for guineas", "explain": True}),
    ("search", {"query": "灯塔 Grace", "k": 3}),
    ("assemble", {"query": "who counts ships?", "budget_tokens": 400}),
    ("window", {"format": "native"}),
)


def windows(database: Database) -> Windows:
    counter = OfflineTokenCounter()
    return Windows(database, PostgresPageStore(database), counter, PageRules())


def test_reads_answer_the_same(ada: AgentUnderTest, elsewhere: Database) -> None:
    use_model(elsewhere, ada)
    imported(elsewhere, exported(ada.database))
    models = ReadingModels(
        ada.models.embedder,
        ada.models.lexicon,
        Tokenizers(OfflineTokenCounter),
        OfflineSummarizer(),
    )
    settings = Settings(
        database_url=SecretStr("postgresql://x/x"), broker_url=SecretStr("redis://x")
    )
    with (
        closing(Readings(ada.database, models, settings, windows(ada.database))) as here,
        closing(Readings(elsewhere, models, settings, windows(elsewhere))) as there,
    ):
        for use, fields in READS:
            answers = [each.answer(use, "ada", fields) for each in (here, there)]
            for answer in answers:
                answer.pop("receipt_id", None)
                (answer.get("explain") or {}).pop("timings_ms", None)
            assert answers[0] == answers[1]
            found = {"memories", "forgotten", "text", "hits", "messages", "miss"}
            assert any(answers[0].get(each) for each in found), fields


def test_it_can_be_rebuilt_there(ada: AgentUnderTest, elsewhere: Database) -> None:
    use_model(elsewhere, ada)
    imported(elsewhere, exported(ada.database))
    for each in (ada, arrived(ada, elsewhere)):
        Mailbox(each).run()
    here, there = Rebuilding(ada), Rebuilding(arrived(ada, elsewhere))
    found = [each.rebuilt() for each in (here, there)]
    assert is_same(found[0]) == is_same(found[1])
    assert found[0] == found[1]


def test_what_was_erased_is_refused_there(ada: AgentUnderTest, elsewhere: Database) -> None:
    imported(elsewhere, exported(ada.database))
    rows = arrived(ada, elsewhere).rows(
        "SELECT encode(digest, 'hex') AS digest FROM erased_message WHERE agent_id = %s"
    )
    assert len(rows) == 1
    assert b"secret one" not in b"".join(files_of(exported(ada.database)).values())


def told_of_twice(database: Database) -> AgentUnderTest:
    """An agent whose second message names the entity that its first one brought."""
    ada = AgentUnderTest(database)
    ada.remember("A story [Grace]")
    ada.remember("B thing with [Grace]")
    return ada


def seqs_of_grace(ada: AgentUnderTest) -> list[int]:
    (grace,) = [node for node in ada.nodes("entity") if node.content == "Grace"]
    return list(grace.message_seqs)


def test_an_agent_goes_elsewhere_of_which_something_was_erased(
    database: Database, elsewhere: Database
) -> None:
    """An entity that stays had been made of the message that goes."""
    ada = told_of_twice(database)
    use_model(elsewhere, ada)
    assert seqs_of_grace(ada) == [1]
    wakeups: Any = RecordedWakeups()
    erase.run(database, PostgresPageStore(database), wakeups, "ada", ErasureSelection(("m1",)))
    imported(elsewhere, exported(database))
    there = arrived(ada, elsewhere)
    assert seqs_of_grace(there) == [2]
    erase.run(elsewhere, PostgresPageStore(elsewhere), wakeups, "ada", ErasureSelection(("m2",)))
    assert there.nodes() == [], "it goes with the last message that names it"


def test_an_agent_goes_elsewhere_in_the_middle_of_a_pass(
    database: Database, elsewhere: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression_pass, "BATCH", 1)
    ada = told_of_twice(database)
    use_model(elsewhere, ada)
    ada.ask_for_pass()
    assert ada.compression().step(ada.lease(), budget_ms=0)
    assert ada.lane().compress_cursor is not None
    imported(elsewhere, exported(database))
    there = arrived(ada, elsewhere)
    for each in (ada, there):
        while each.compression().step(each.lease(), budget_ms=0):
            pass
    assert network_of(there) == network_of(ada)
    assert there.lane().compress_cursor is None


def test_vectors_of_another_embedder_are_made_anew(
    ada: AgentUnderTest, elsewhere: Database
) -> None:
    with elsewhere.lane_transaction() as connection:
        claim_model(connection, VectorModel("another", 3))
    answer = imported(elsewhere, exported(ada.database))
    job = arrived(ada, elsewhere).row(
        "SELECT kind, state FROM job WHERE agent_id = %s AND id = %s", answer.reembed_job_id
    )
    assert (job.kind, job.state) == ("memci.vector.reembed", "queued")


def test_the_agent_that_is_exported_goes_on(ada: AgentUnderTest) -> None:
    first = tables_of(exported(ada.database))
    assert tables_of(exported(ada.database)) == first
    Mailbox(ada).run()
    assert tables_of(exported(ada.database)) != first


def test_a_rebuilt_network_stays_behind_with_its_job(
    ada: AgentUnderTest, elsewhere: Database
) -> None:
    use_model(elsewhere, ada)
    Rebuilding(ada).begin()
    archive = exported(ada.database)
    jobs = tables_of(archive)["tables/job.jsonl"].splitlines()
    assert "memci.memory.rebuild" not in {json.loads(each)["kind"] for each in jobs}
    imported(elsewhere, archive)
    assert tables_of(exported(elsewhere)) == tables_of(archive)


def network_of(ada: AgentUnderTest) -> list[object]:
    nodes = [(n.id, n.content, n.phrase, n.scan_count, n.last_pass) for n in ada.nodes()]
    links = [(key, row.relation, row.strength, row.hint) for key, row in ada.links().items()]
    return [nodes, links, ada.focus(), ada.memory_states()]
