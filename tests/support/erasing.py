"""Helpers that erase, and that search for erased text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import psycopg
import redis

from memci.broker.redis_queues import RedisAgentQueues
from memci.broker.wakeup import Wakeups
from memci.commands import erase
from memci.commands.erase import ErasureSelection, preview
from memci.language.detection import language_of
from memci.schemas.agents import ReceiptAnswer
from memci.schemas.archive import ErasurePreview
from memci.smallmodel.ports import TopicSegment
from memci.storage.erasure.erase import digest_of, erased_among
from memci.storage.page_store.port import PageStore
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.schema.network import EDITION_SCHEMA
from memci.storage.session import Database
from tests.support.network import AgentUnderTest

MARK = "Zyzzyva"  # occurs in no other text


@dataclass
class Eraser:
    """Runs commands of erasing on the servers of a test."""

    database: Database
    wakeups: Wakeups
    client: redis.Redis
    agent_id: str = "ada"
    texts: PageStore | None = None

    def erase(
        self,
        *ids: str,
        session: str | None = None,
        pages: Iterable[str] = (),
        pins: Iterable[int] = (),
    ) -> ReceiptAnswer:
        which = ErasureSelection(ids, session, tuple(pages), tuple(pins))
        return erase.run(self.database, self.store, self.wakeups, self.agent_id, which)

    def preview(
        self, *ids: str, session: str | None = None, pages: Iterable[str] = ()
    ) -> ErasurePreview:
        which = ErasureSelection(ids, session, tuple(pages))
        return preview(self.database, self.store, self.agent_id, which)

    def erase_agent(self) -> ReceiptAnswer:
        queues = RedisAgentQueues(self.client)
        return erase.run_agent(self.database, self.store, self.wakeups, queues, self.agent_id)

    @property
    def store(self) -> PageStore:
        return self.texts or PostgresPageStore(self.database)


@dataclass
class SegmentsOf:
    """A segmenter that makes one segment of so many consecutive messages."""

    count: int

    def segment(self, messages: Any, vectors: Any) -> list[TopicSegment]:
        groups = [messages[at : at + self.count] for at in range(0, len(messages), self.count)]
        texts = ["\n".join(each.text for each in group) for group in groups]
        return [
            TopicSegment(text, tuple(each.seq for each in group), language_of(text))
            for text, group in zip(texts, groups, strict=True)
        ]


def erased(ada: AgentUnderTest, *ids: str) -> set[str]:
    """The ids among these that are recorded as erased."""
    with ada.database.agent_snapshot("ada") as connection:
        return set(erased_among(connection, "ada", ids))


def mark_as_erased(database: Database, agent_id: str, *ids: str) -> None:
    """Record ids of messages as erased that never existed, as after an import."""
    with database.agent_transaction(agent_id) as connection:
        connection.exec_driver_sql(
            "INSERT INTO erased_message (agent_id, digest) SELECT %s, unnest(%s::bytea[])",
            (agent_id, [digest_of(each) for each in ids]),
        )


def found_in_database(superuser: psycopg.Connection, *marks: str) -> list[str]:
    """The places of the marks in all columns of all tables, also inside bytes.

    Tables of rebuilt networks are included; their schema is then named.
    """
    tables = superuser.execute(
        "SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns"
        " JOIN pg_tables ON schemaname = table_schema AND tablename = table_name"
        " WHERE table_schema IN ('public', %s)",
        (EDITION_SCHEMA,),
    ).fetchall()
    assert {schema for schema, *_ in tables} == {"public", EDITION_SCHEMA}
    found = []
    for schema, table, column, kind in tables:
        text = f"encode(\"{column}\", 'escape')" if kind == "bytea" else f'"{column}"::text'
        named = table if schema == "public" else f"{schema}.{table}"
        for mark in marks:
            row = superuser.execute(
                f'SELECT count(*) FROM "{schema}"."{table}" WHERE {text} ILIKE %s', (f"%{mark}%",)
            ).fetchone()
            if row and row[0]:
                found.append(f"{named}.{column}: {mark}")
    return found


def found_in_broker(client: redis.Redis, marks: Iterable[str]) -> list[str]:
    """Keys of any type whose name or value holds a mark."""
    wanted = [mark.encode() for mark in marks]
    return [
        key.decode()
        for key in client.scan_iter()
        for value in [key + (client.dump(key) or b"")]
        if any(mark in value for mark in wanted)
    ]
