"""Plans of the statements that a read of the agent "big" runs (style rule 14)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from memci.storage.session import Database
from tests.support.stored import Reader

OWNED = (
    "message",
    "message_vector",
    "message_term",
    "node",
    "node_vector",
    "node_term",
    "link",
)


def plans(reader: Reader, read: Callable[[], object]) -> list[dict[str, Any]]:
    """Plans of all statements of a read: the generic plan of a search, others with their values."""
    asked: list[tuple[str, Any]] = []
    reader.activity.flush()  # so that this read writes nothing of earlier ones
    with listening(asked):
        read()
    found = []
    for statement, values in asked:
        if "_dense AS MATERIALIZED" in statement:
            found.append(one_plan(reader.database, statement))
        elif statement.lstrip().startswith(("SELECT", "WITH")) and "set_config" not in statement:
            with reader.database.agent_snapshot("big") as connection:
                row = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", values)
                found.append(row.scalar_one()[0]["Plan"])
    return found


@contextmanager
def listening(asked: list[tuple[str, Any]]) -> Iterator[None]:
    """Record the statements of the driver, since hot statements bypass SQLAlchemy."""
    execute = psycopg.Cursor.execute

    def listen(cursor: Any, statement: Any, values: Any = None, **options: Any) -> Any:
        asked.append((statement, values))
        return execute(cursor, statement, values, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Cursor, "execute", listen)
        yield


def scans(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The nodes of a plan that read a table or an index."""
    if "Relation Name" in plan or plan["Node Type"] == "Bitmap Index Scan":
        yield plan
    for below in plan.get("Plans", ()):
        yield from scans(below)


def check(found: list[dict[str, Any]]) -> list[str]:
    """Check that each scan of a content table selects the agent; return the tables read."""
    read = []
    for scan in (each for plan in found for each in scans(plan)):
        table = scan.get("Relation Name", "")
        if table in OWNED:
            assert scan["Node Type"] != "Seq Scan", scan
            read.append(table)
        if scan["Node Type"] in {"Index Scan", "Index Only Scan", "Bitmap Index Scan"}:
            assert "agent_id = " in scan.get("Index Cond", ""), scan
    return read


def one_plan(database: Database, statement: str) -> dict[str, Any]:
    """Return the generic plan of a statement."""
    asked = f"EXPLAIN (GENERIC_PLAN, FORMAT JSON) {numbered(statement)}"
    with database.agent_snapshot("big", planned=True) as connection:
        driver = connection.connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        row = driver.execute(asked.encode()).fetchone()
    assert row is not None
    plan: dict[str, Any] = row[0][0]["Plan"]
    return plan


def numbered(statement: str) -> str:
    """Return a statement with numbered parameters, as the server has it."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))
    return re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", statement)
