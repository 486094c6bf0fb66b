"""An agent imported on another server is the same agent."""

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
from memci.storage.search.vectors import VectorModel, claim_model
from memci.storage.session import Database
from tests.support.archives import (
    RecordedWakeups,
    export_agent,
    files_of,
    forged,
    import_agent,
    imported_agent,
    tables_of,
    use_model,
)
from tests.support.archives import each as of_each
from tests.support.complete_agent import SAID_AT
from tests.support.mailbox import Mailbox
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same


def test_the_exported_agent_has_rows_in_every_exported_table(ada: AgentUnderTest) -> None:
    manifest = ArchiveManifest.model_validate_json(files_of(export_agent(ada.database))[MANIFEST])
    assert [each.name for each in EXPORTED_TABLES if not manifest.tables[each.name].rows] == []
    assert set(manifest.left_out) == {"edition", "event", "model_usage"}
    assert manifest.agent_id == "ada"


def test_the_export_of_an_import_is_identical(ada: AgentUnderTest, elsewhere: Database) -> None:
    use_model(elsewhere, ada)
    ada.ask_for_pass()
    archive = export_agent(ada.database)
    wakeups = RecordedWakeups()
    answer = import_agent(elsewhere, archive, wakeups=wakeups)
    assert answer.reembed_job_id is None
    assert tables_of(export_agent(elsewhere)) == tables_of(archive)
    assert answer.rows["message"] == len(ada.rows("SELECT FROM message WHERE agent_id = %s"))
    # Lanes with queued work are woken.
    assert (answer.queued > 0, wakeups.lanes, wakeups.compressions) == (True, ["ada"], ["ada"])


def test_the_use_of_language_models_is_exported(ada: AgentUnderTest, elsewhere: Database) -> None:
    use_model(elsewhere, ada)
    archive = export_agent(ada.database)
    for table in ("job", "pass_log"):
        lines = files_of(archive)[f"tables/{table}.jsonl"].splitlines()
        used = [row["models"] for row in map(json.loads, lines) if row["models"]]
        assert [(each["task"], each["cost"]) for each in used[0]] == [
            ("annotate", None), ("compress", 0.25),
        ]  # fmt: skip
    import_agent(elsewhere, archive)
    assert tables_of(export_agent(elsewhere)) == tables_of(archive)


def test_messages_and_nodes_keep_their_offsets(ada: AgentUnderTest, elsewhere: Database) -> None:
    queries = (
        "SELECT said_at, said_offset FROM message WHERE agent_id = %s ORDER BY seq",
        "SELECT said_at, said_offset FROM node WHERE agent_id = %s ORDER BY id",
        "SELECT said_at, said_offset FROM node_version WHERE agent_id = %s ORDER BY node_id",
    )
    before = [ada.rows(each) for each in queries]
    assert all(any(row.said_offset == 345 for row in rows) for rows in before)
    assert any(row.said_offset is None for row in before[0])
    archive = export_agent(ada.database)
    first = json.loads(files_of(archive)["tables/message.jsonl"].splitlines()[0])
    assert first["said_at"] == SAID_AT.isoformat()
    import_agent(elsewhere, archive)
    assert [imported_agent(ada, elsewhere).rows(each) for each in queries] == before


@pytest.mark.parametrize(
    ("written", "offset"),
    [
        ("2026-11-18T06:30:00-08:30", -510),
        ("2026-11-18T06:30:00.25+00:00", None),  # as in archives from before offsets
        ("2026-11-18T06:30:00Z", None),
        ("2026-11-18T06:30:00+0800", None),
        ("2026-11-18T06:30:00+08:00:30", None),
    ],
)
def test_a_time_in_an_archive_has_an_offset_or_is_utc(
    ada: AgentUnderTest, elsewhere: Database, written: str, offset: int | None
) -> None:
    import_agent(elsewhere, forged(export_agent(ada.database), "message", of_each(said_at=written)))
    rows = imported_agent(ada, elsewhere).rows(
        "SELECT DISTINCT said_at, said_offset FROM message WHERE agent_id = %s"
    )
    assert [tuple(row) for row in rows] == [(datetime.fromisoformat(written), offset)]


def test_an_agent_is_imported_under_another_name_next_to_the_original(ada: AgentUnderTest) -> None:
    use_model(ada.database, ada)
    before = tables_of(export_agent(ada.database))
    import_agent(ada.database, export_agent(ada.database), "grace")
    assert tables_of(export_agent(ada.database, "grace")) == before
    assert tables_of(export_agent(ada.database)) == before
    grace = imported_agent(ada, ada.database, "grace")
    grace.compress(3)
    assert tables_of(export_agent(ada.database)) == before


def test_of_two_concurrent_imports_one_succeeds(ada: AgentUnderTest, elsewhere: Database) -> None:
    archive = export_agent(ada.database)

    def import_archive(_: int) -> str:
        try:
            return import_agent(elsewhere, archive).agent_id
        except ConflictError:
            return "refused"

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(import_archive, range(2))) == ["ada", "refused"]


def test_work_after_an_import_has_equal_results(ada: AgentUnderTest, elsewhere: Database) -> None:
    use_model(elsewhere, ada)
    import_agent(elsewhere, export_agent(ada.database))
    there = imported_agent(ada, elsewhere)
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


def test_reads_of_an_import_have_the_same_answers(ada: AgentUnderTest, elsewhere: Database) -> None:
    use_model(elsewhere, ada)
    import_agent(elsewhere, export_agent(ada.database))
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


def test_an_imported_network_can_be_rebuilt(ada: AgentUnderTest, elsewhere: Database) -> None:
    use_model(elsewhere, ada)
    import_agent(elsewhere, export_agent(ada.database))
    for each in (ada, imported_agent(ada, elsewhere)):
        Mailbox(each).run()
    here, there = Rebuilding(ada), Rebuilding(imported_agent(ada, elsewhere))
    found = [each.rebuilt() for each in (here, there)]
    assert is_same(found[0]) == is_same(found[1])
    assert found[0] == found[1]


def test_hashes_of_erased_messages_are_imported(ada: AgentUnderTest, elsewhere: Database) -> None:
    import_agent(elsewhere, export_agent(ada.database))
    rows = imported_agent(ada, elsewhere).rows(
        "SELECT encode(digest, 'hex') AS digest FROM erased_message WHERE agent_id = %s"
    )
    assert len(rows) == 1
    assert b"secret one" not in b"".join(files_of(export_agent(ada.database)).values())


def agent_with_shared_entity(database: Database) -> AgentUnderTest:
    """Return an agent whose two messages name the same entity."""
    ada = AgentUnderTest(database)
    ada.remember("A story [Grace]")
    ada.remember("B thing with [Grace]")
    return ada


def seqs_of_grace(ada: AgentUnderTest) -> list[int]:
    (grace,) = [node for node in ada.nodes("entity") if node.content == "Grace"]
    return list(grace.message_seqs)


def test_an_agent_with_an_erased_message_is_moved(database: Database, elsewhere: Database) -> None:
    """The entity stays, although the erased message had created it."""
    ada = agent_with_shared_entity(database)
    use_model(elsewhere, ada)
    assert seqs_of_grace(ada) == [1]
    wakeups: Any = RecordedWakeups()
    erase.run(database, PostgresPageStore(database), wakeups, "ada", ErasureSelection(("m1",)))
    import_agent(elsewhere, export_agent(database))
    there = imported_agent(ada, elsewhere)
    assert seqs_of_grace(there) == [2]
    erase.run(elsewhere, PostgresPageStore(elsewhere), wakeups, "ada", ErasureSelection(("m2",)))
    assert there.nodes() == [], "it goes with the last message that names it"


def test_an_agent_is_moved_in_the_middle_of_a_pass(
    database: Database, elsewhere: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression_pass, "BATCH", 1)
    ada = agent_with_shared_entity(database)
    use_model(elsewhere, ada)
    ada.ask_for_pass()
    assert ada.compression().step(ada.lease(), budget_ms=0)
    assert ada.lane().compress_cursor is not None
    import_agent(elsewhere, export_agent(database))
    there = imported_agent(ada, elsewhere)
    for each in (ada, there):
        while each.compression().step(each.lease(), budget_ms=0):
            pass
    assert network_of(there) == network_of(ada)
    assert there.lane().compress_cursor is None


def test_an_import_with_another_embedder_queues_new_vectors(
    ada: AgentUnderTest, elsewhere: Database
) -> None:
    with elsewhere.lane_transaction() as connection:
        claim_model(connection, VectorModel("another", 3))
    answer = import_agent(elsewhere, export_agent(ada.database))
    job = imported_agent(ada, elsewhere).row(
        "SELECT kind, state FROM job WHERE agent_id = %s AND id = %s", answer.reembed_job_id
    )
    assert (job.kind, job.state) == ("memci.vector.reembed", "queued")


def test_an_export_leaves_the_agent_usable(ada: AgentUnderTest) -> None:
    first = tables_of(export_agent(ada.database))
    assert tables_of(export_agent(ada.database)) == first
    Mailbox(ada).run()
    assert tables_of(export_agent(ada.database)) != first


def test_a_rebuilt_network_and_its_job_are_not_exported(
    ada: AgentUnderTest, elsewhere: Database
) -> None:
    use_model(elsewhere, ada)
    Rebuilding(ada).begin()
    archive = export_agent(ada.database)
    jobs = tables_of(archive)["tables/job.jsonl"].splitlines()
    assert "memci.memory.rebuild" not in {json.loads(each)["kind"] for each in jobs}
    import_agent(elsewhere, archive)
    assert tables_of(export_agent(elsewhere)) == tables_of(archive)


def network_of(ada: AgentUnderTest) -> list[object]:
    nodes = [(n.id, n.content, n.phrase, n.scan_count, n.last_pass) for n in ada.nodes()]
    links = [(key, row.relation, row.strength, row.hint) for key, row in ada.links().items()]
    return [nodes, links, ada.focus(), ada.memory_states()]
