"""Looking at how the database goes about a query (style rule 14)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memci.storage.documents import see_collections
from memci.storage.session import Database

Plan = list[dict[str, Any]]


def explain(
    database: Database,
    statement: str,
    values: Mapping[str, Any],
    *,
    collections: Sequence[str] = (),
) -> Plan:
    """Run it for agent ``ada`` under row-level security, and return the nodes of its plan."""
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
    """Rows that were read of a table, kept or not."""
    return sum(
        (each["Actual Rows"] + each.get("Rows Removed by Filter", 0)) * each["Actual Loops"]
        for each in plan
        if each.get("Relation Name") == table
    )
