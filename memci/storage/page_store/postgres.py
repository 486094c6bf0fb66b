"""Texts of notes in Postgres: the store that is used unless another is named."""

from __future__ import annotations

from collections.abc import Iterator

from memci.errors import NotFoundError
from memci.storage.page_store.port import BodyKey
from memci.storage.session import Database

_SAVE = """
INSERT INTO page_body (agent_id, page_id, version, text) VALUES (%s, %s, %s, %s)
ON CONFLICT (agent_id, page_id, version) DO UPDATE SET text = excluded.text
"""
_LOAD = "SELECT text FROM page_body WHERE agent_id = %s AND page_id = %s AND version = %s"
_DELETE = "DELETE FROM page_body WHERE agent_id = %s AND page_id = %s AND version = %s"
_LIST = "SELECT page_id, version FROM page_body WHERE agent_id = %s"


class PostgresPageStore:
    """One row a version; ``DatabaseUnavailableError`` when the database does not answer."""

    def __init__(self, database: Database) -> None:
        """Keep them in the agent's own rows."""
        self._database = database

    def save(self, key: BodyKey, text: str) -> None:
        """Do as ``PageStore.save``."""
        with self._database.agent_transaction(key.agent_id) as connection:
            connection.exec_driver_sql(_SAVE, (*key, text))

    def load(self, key: BodyKey) -> str:
        """Do as ``PageStore.load``."""
        with self._database.agent_snapshot(key.agent_id) as connection:
            row = connection.exec_driver_sql(_LOAD, tuple(key)).first()
        if row is None:
            raise NotFoundError(f"page {key.page} has no text of version {key.version}")
        return str(row.text)

    def delete(self, key: BodyKey) -> None:
        """Do as ``PageStore.delete``."""
        with self._database.agent_transaction(key.agent_id) as connection:
            connection.exec_driver_sql(_DELETE, tuple(key))

    def exists(self, key: BodyKey) -> bool:
        """Do as ``PageStore.exists``."""
        with self._database.agent_snapshot(key.agent_id) as connection:
            return connection.exec_driver_sql(_LOAD, tuple(key)).first() is not None

    def list(self, agent_id: str) -> Iterator[BodyKey]:
        """Do as ``PageStore.list``."""
        with self._database.agent_snapshot(agent_id) as connection:
            rows = connection.exec_driver_sql(_LIST, (agent_id,)).all()
        return (BodyKey(agent_id, row.page_id, row.version) for row in rows)
