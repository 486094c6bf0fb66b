"""Reads the plans of queries (style rule 14)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memci.storage.documents import see_collections
from memci.storage.session import Database
from tests.support.databases import as_owner

Plan = list[dict[str, Any]]


def analyze(database: Database, tables: str, *, vacuum: bool = False) -> None:
    """Update the planner's statistics of these tables, as autovacuum does later.

    Only their owner may: PostgreSQL ignores the request of any other role, with a warning.
    """
    with as_owner(database.engine.url) as connection:
        connection.exec_driver_sql(f"{'VACUUM ' if vacuum else ''}ANALYZE {tables}")


def explain(
    database: Database,
    statement: str,
    values: Mapping[str, Any],
    *,
    collections: Sequence[str] = (),
) -> Plan:
    """Run a query for agent ``ada`` with row-level security; return the nodes of its plan."""
    with database.agent_snapshot("ada") as connection:
        see_collections(connection, collections)
        asked = "EXPLAIN (ANALYZE, FORMAT JSON) " + statement
        (found,) = connection.exec_driver_sql(asked, dict(values)).scalar_one()
        return list(_nodes(found["Plan"]))


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", []):
        yield from _nodes(inner)


def indexes(plan: Plan) -> set[str]:
    return {each["Index Name"] for each in plan if "Index Name" in each}


def read(plan: Plan, table: str) -> float:
    """The number of rows read from a table, also those that were filtered out."""
    return sum(
        (each["Actual Rows"] + each.get("Rows Removed by Filter", 0)) * each["Actual Loops"]
        for each in plan
        if each.get("Relation Name") == table
    )
