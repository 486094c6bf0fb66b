"""Helpers that export, read, change and import archives of agents."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from hashlib import sha256
from typing import Any, TypeAlias
from zipfile import ZIP_DEFLATED, ZipFile

from memci.commands import transfer
from memci.schemas.archive import MANIFEST, ImportAnswer
from memci.storage.archive.consistency import check_consistency
from memci.storage.archive.export import EXPORTED_TABLES, table_lines
from memci.storage.archive.row_checks import checked_row
from memci.storage.page_store.port import PageStore
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.search.vectors import VectorModel, claim_model
from memci.storage.session import Database
from tests.support.databases import Databases
from tests.support.network import AgentUnderTest

MIB = 1024 * 1024
Change: TypeAlias = Callable[[list[Any]], Any]
TELLING = frozenset({"lane", "trail", "replay_log", "page", "page_tree", "page_step"})


class RecordedWakeups:
    """Records for which agents wakeups were published."""

    def __init__(self) -> None:
        self.lanes: list[str] = []
        self.compressions: list[str] = []

    def wake_lane(self, agent_id: str) -> None:
        self.lanes.append(agent_id)

    def wake_compress(self, agent_id: str) -> None:
        self.compressions.append(agent_id)


@contextmanager
def another_database(databases: Databases) -> Iterator[Database]:
    """Lend a second database, as on another server."""
    with databases.lend() as url, closing(Database(url)) as opened:
        yield opened


def export_agent(
    database: Database, agent_id: str = "ada", *, store: PageStore | None = None
) -> bytes:
    file = io.BytesIO()
    transfer.export(database, store or PostgresPageStore(database), agent_id, file)
    return file.getvalue()


def import_agent(
    database: Database,
    archive: bytes,
    agent_id: str = "ada",
    *,
    wakeups: RecordedWakeups | None = None,
    max_bytes: int = 64 * MIB,
    store: PageStore | None = None,
) -> ImportAnswer:
    waking: Any = wakeups or RecordedWakeups()
    texts = store or PostgresPageStore(database)
    return transfer.run(database, texts, waking, agent_id, io.BytesIO(archive), max_bytes=max_bytes)


def check_movable(database: Database, agent_id: str) -> None:
    """Raise the errors that an import would raise for the rows of an agent."""
    with database.agent_snapshot(agent_id) as connection:
        check_consistency(connection, agent_id)
        for table in EXPORTED_TABLES:
            lines = table_lines(connection, agent_id, table) if table.name in TELLING else ()
            for line in lines:
                checked_row(table, line)


def files_of(archive: bytes) -> dict[str, bytes]:
    with ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def tables_of(archive: bytes) -> dict[str, bytes]:
    return {name: text for name, text in files_of(archive).items() if name != MANIFEST}


def zipped(files: Mapping[str, bytes], compression: int = ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with ZipFile(file, "w", compression) as made:
        for name, text in files.items():
            made.writestr(name, text)
    return file.getvalue()


def forged(archive: bytes, table: str, change: Change) -> bytes:
    """The archive with the rows of a table changed, and a manifest that says so."""
    files = files_of(archive)
    name = f"tables/{table}.jsonl"
    rows = [json.loads(line) for line in files[name].splitlines()]
    change(rows)
    text = "".join(
        (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n"
        for row in rows
    ).encode()
    manifest = json.loads(files[MANIFEST])
    manifest["tables"][table] = {
        "rows": len(rows),
        "bytes": len(text),
        "sha256": sha256(text).hexdigest(),
    }
    return zipped({**files, name: text, MANIFEST: json.dumps(manifest).encode()})


def first(**changed: Any) -> Change:
    """Change the first row."""
    return lambda rows: rows[0].update(changed)


def each(**changed: Any) -> Change:
    """Change all rows."""
    return lambda rows: [row.update(changed) for row in rows]


def use_model(database: Database, ada: AgentUnderTest) -> None:
    """Make the database use the agent's embedder, so that an import keeps its vectors."""
    with database.lane_transaction() as connection:
        embedder = ada.models.embedder
        claim_model(connection, VectorModel(embedder.model, embedder.dimension))


def imported_agent(
    ada: AgentUnderTest, database: Database, agent_id: str = "ada"
) -> AgentUnderTest:
    """The agent after its import into another database."""
    return AgentUnderTest(
        database, agent_id, ada.parameters, models=ada.models, clock=ada.clock, known=True
    )
