"""Texts of notes in Postgres: the default page store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from memci.storage.page_store.port import PageStore, TextKey, encode_text
from memci.storage.session import Connection, Database

_SAVE = """
INSERT INTO page_text (agent_id, page_id, version, text) VALUES (%s, %s, %s, %s)
ON CONFLICT (agent_id, page_id, version) DO NOTHING
"""
_PAIRS = "unnest(%(pages)s::text[], %(versions)s::bigint[]) AS wanted (page_id, version)"
_LOAD_MANY = f"""
SELECT note.* FROM {_PAIRS} CROSS JOIN LATERAL (
    SELECT page_id, version, text FROM page_text
     WHERE agent_id = %(agent)s AND page_id = wanted.page_id AND version = wanted.version
    OFFSET 0) AS note
"""  # noqa: S608 - a constant of this module
_DELETE_MANY = f"""
DELETE FROM page_text AS body USING {_PAIRS}
WHERE agent_id = %(agent)s AND (body.page_id, body.version) = (wanted.page_id, wanted.version)
"""  # noqa: S608 - as above
_LIST = """
SELECT page_id, version FROM page_text
WHERE agent_id = %s AND created_at <= clock_timestamp() - make_interval(secs => %s)
"""


class PostgresPageStore(PageStore):
    """One row a version; raises ``DatabaseUnavailableError`` if the database does not answer.

    ``in_transaction`` makes it part of a transaction on the agent's rows: a text commits with the
    page that shows it, and no holder of a connection waits for another one, which could deadlock
    the pool.
    """

    def __init__(self, database: Database, joined: Connection | None = None) -> None:
        """Use the agent's own rows; ``joined``: an open transaction of that agent."""
        self._database = database
        self._joined = joined

    def in_transaction(self, connection: Connection) -> PostgresPageStore:
        return PostgresPageStore(self._database, connection)

    def save(self, key: TextKey, text: str) -> None:
        values = (*key.checked(), encode_text(text).decode())
        with self._writing(key.agent_id) as connection:
            connection.exec_driver_sql(_SAVE, values)

    def load(self, key: TextKey) -> str:
        texts = self.load_many([key.checked()])
        if key not in texts:
            raise key.not_found()
        return texts[key]

    def list(self, agent_id: str, *, older_s: float = 0.0) -> Iterator[TextKey]:
        with self._reading(agent_id) as connection:
            rows = connection.exec_driver_sql(_LIST, (agent_id, older_s)).all()
        return (TextKey(agent_id, row.page_id, row.version) for row in rows)

    def load_many(self, keys: Sequence[TextKey]) -> dict[TextKey, str]:
        if not keys:
            return {}
        with self._reading(keys[0].agent_id) as connection:
            return load_texts(connection, keys)

    def delete_many(self, keys: Sequence[TextKey]) -> None:
        if keys:
            with self._writing(keys[0].agent_id) as connection:
                connection.exec_driver_sql(_DELETE_MANY, _values_of(keys))

    def _writing(self, agent_id: str) -> AbstractContextManager[Connection]:
        if self._joined is not None:  # row-level security admits no rows of other agents
            return nullcontext(self._joined)
        return self._database.agent_transaction(agent_id)

    def _reading(self, agent_id: str) -> AbstractContextManager[Connection]:
        if self._joined is not None:
            return nullcontext(self._joined)
        return self._database.agent_snapshot(agent_id)


def load_texts(connection: Connection, keys: Sequence[TextKey]) -> dict[TextKey, str]:
    """Return the texts of one agent that the database has."""
    if not keys:
        return {}
    rows = connection.exec_driver_sql(_LOAD_MANY, _values_of(keys))
    return {TextKey(keys[0].agent_id, row.page_id, row.version): row.text for row in rows}


def _values_of(keys: Sequence[TextKey]) -> dict[str, Any]:
    pages, versions = [key.page for key in keys], [key.version for key in keys]
    return {"agent": keys[0].agent_id, "pages": pages, "versions": versions}
