"""Indexes over the vectors of large agents: HNSW graphs (R11; Malkov and Yashunin, 2018).

An exact search reads all vectors of an agent. Each agent with very many messages gets a partial
index of its own, so that writes of other agents pay nearly nothing while such agents are few. The
definition of an index holds the agent's id: it is dropped by the next ``build_indexes`` after the
agent was erased, and ``memci doctor`` reminds of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import psycopg
from psycopg import sql
from sqlalchemy import Connection, create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.pool import NullPool

from memci.storage.search.vectors import VectorModel, held_model
from memci.storage.session import Database, DatabaseRole

# Messages of an agent. Below it an exact search is as fast, and misses nothing.
LARGE_FROM = 50_000
# Candidates that the graph keeps while it is searched. Of the best hundred of a million messages it
# misses 1.6 with 800, and 5.5 with 200.
_CANDIDATES = 800
_NAME = "'message_vector_' || left(md5({agent}), 16)"
# For a read of an agent with an index: its plan depends on the agent.
USE = f"""
SELECT set_config('plan_cache_mode', 'force_custom_plan', true),
       set_config('hnsw.ef_search', '{_CANDIDATES}', true)
"""
HAS_INDEX = f"to_regclass({_NAME.format(agent='asked.agent_id')}) IS NOT NULL"

_LARGE = f"""
SELECT agent_id, {_NAME.format(agent="agent_id")}, indexed_messages
  FROM lane WHERE indexed_messages >= %s ORDER BY indexed_messages DESC, agent_id
"""  # noqa: S608 - constants of this module
_EXISTING = """
SELECT c.relname,
       i.indisvalid
       AND strpos(pg_get_expr(i.indpred, i.indrelid), 'model = ' || quote_literal(%s)) > 0
       AND strpos(pg_get_expr(i.indpred, i.indrelid), 'vector_dims(embedding) = ' || %s) > 0
           AS is_current
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
 WHERE i.indrelid = 'message_vector'::regclass AND i.indpred IS NOT NULL
"""
_BUILD = """
CREATE INDEX CONCURRENTLY {name} ON message_vector
 USING hnsw ((embedding::halfvec({dimension})) halfvec_ip_ops)
 WHERE agent_id = {agent} AND model = {model} AND vector_dims(embedding) = {dimension}
"""
# Of an index over ``halfvec``.
_MOST_NUMBERS = 4_000


@dataclass(frozen=True, slots=True)
class LargeAgent:
    """An agent with so many messages that its vectors need an index."""

    agent_id: str
    name: str  # of its index
    messages: int
    has_index: bool


def large_agents(database: Database, least: int = LARGE_FROM) -> list[LargeAgent]:
    """Return the agents with at least so many indexed messages, the largest first."""
    with database.upkeep_transaction() as connection:
        held = held_model(connection)
        if held is None or held.model.dimension > _MOST_NUMBERS:
            return []
        found = connection.exec_driver_sql(_LARGE, (least,)).all()
        current = {name for name, is_current in _existing(connection, held.model) if is_current}
    return [LargeAgent(agent_id, name, many, name in current) for agent_id, name, many in found]


def spare_indexes(database: Database, least: int = LARGE_FROM) -> list[str]:
    """Return the names of indexes of no large agent, or of another embedder's vectors."""
    needed = {each.name for each in large_agents(database, least) if each.has_index}
    with database.upkeep_transaction() as connection:
        return [name for name, _ in _existing(connection, None) if name not in needed]


def build_indexes(
    database: Database, database_url: str, least: int = LARGE_FROM
) -> Iterator[LargeAgent]:
    """Build the indexes that large agents lack, and drop those of others; yield whom before each.

    Reads and writes go on meanwhile. A build of a million vectors takes minutes, and is fastest if
    the graph fits into ``maintenance_work_mem``.
    """
    large = large_agents(database, least)
    spare = spare_indexes(database, least)
    with _owner(database_url) as connection:
        for name in spare:
            _run(connection, sql.SQL("DROP INDEX CONCURRENTLY {name}"), name=sql.Identifier(name))
        model = held_model(connection)
        for each in large:
            if model is not None and not each.has_index:
                yield each
                _run(
                    connection,
                    sql.SQL(_BUILD),
                    name=sql.Identifier(each.name),
                    dimension=sql.Literal(model.model.dimension),
                    agent=sql.Literal(each.agent_id),
                    model=sql.Literal(model.model.name),
                )


def _existing(connection: Connection, model: VectorModel | None) -> list[tuple[str, bool]]:
    """Return the names of all indexes, and if each is complete and of this model's vectors."""
    name, dimension = (model.name, str(model.dimension)) if model else ("", "")
    found = connection.exec_driver_sql(_EXISTING, (name, dimension)).all()
    return [(row.relname, row.is_current) for row in found]


@contextmanager
def _owner(database_url: str) -> Iterator[Connection]:
    """Connect as the owner of the tables, without a transaction: indexes are built concurrently."""
    url = make_url(database_url).set(drivername="postgresql+psycopg")
    engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("SELECT set_config('role', %s, false)", (DatabaseRole.OWNER,))
        yield connection


def _run(connection: Connection, statement: sql.SQL, **names: sql.Composable) -> None:
    # Not by SQLAlchemy, to which a "%" of a name is a parameter.
    cast("psycopg.Connection", connection.connection.driver_connection).execute(
        statement.format(**names)
    )
