"""Usage of language models, written as it happens and read for budgets and lists.

Usage is not an effect of a job: calls count even if the work that they were made for is lost. So it
is written outside the fence, and never holds text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import date
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy import Connection, RowMapping

from memci.domain.usage import Usage

_COUNTS = [each.name for each in fields(Usage) if each.name != "cost"]
_NAMES = [*_COUNTS, "cost"]
_COST_SUM = """
cost = CASE WHEN coalesce(old.cost, excluded.cost) IS NOT NULL
            THEN coalesce(old.cost, 0) + coalesce(excluded.cost, 0) END
"""
_SUMS = ", ".join([*(f"{name} = old.{name} + excluded.{name}" for name in _COUNTS), _COST_SUM])
_VALUES = ", ".join(f"%({name})s" for name in _NAMES)
# Nothing of an agent that was erased meanwhile is written again (M25).
_ADD = f"""
INSERT INTO model_usage AS old (agent_id, day, task, model, {", ".join(_NAMES)})
SELECT %(agent)s, %(day)s, %(task)s, %(model)s, {_VALUES}
WHERE EXISTS (SELECT FROM lane WHERE agent_id = %(agent)s)
ON CONFLICT (agent_id, day, task, model) DO UPDATE SET {_SUMS}
"""  # noqa: S608 - names of our own
_ADD_TOTAL = f"""
INSERT INTO model_total AS old (task, model, {", ".join(_NAMES)})
VALUES (%(task)s, %(model)s, {_VALUES})
ON CONFLICT (task, model) DO UPDATE SET {_SUMS}
"""  # noqa: S608 - names of our own
_TOTALS = ", ".join(f"coalesce(sum({name}), 0)::bigint AS {name}" for name in _COUNTS)
_OF_DAY = f"""
SELECT {_TOTALS}, sum(cost) AS cost FROM model_usage WHERE agent_id = %s AND day = %s
"""  # noqa: S608 - names of our own
_BY_DAY = f"""
SELECT day, task, model, {", ".join(_NAMES)} FROM model_usage
WHERE agent_id = %s AND day BETWEEN %s AND %s ORDER BY day DESC, task, model
"""  # noqa: S608 - names of our own
_ALL = f"SELECT task, model, {', '.join(_NAMES)} FROM model_total"  # noqa: S608 - names of our own
_PASSES = """
SELECT number, started_at, finished_at, models FROM pass_log
WHERE agent_id = %s AND models IS NOT NULL ORDER BY number DESC LIMIT %s
"""


class Use(NamedTuple):
    """One task, done by one model."""

    task: str
    model: str


def add_usage(connection: Connection, agent_id: str, day: date, use: Use, usage: Usage) -> None:
    """Add to the agent's day and to the total of all agents."""
    values = {"agent": agent_id, "day": day, **use._asdict(), **asdict(usage)}
    if connection.exec_driver_sql(_ADD, values).rowcount:
        # Last, since all agents share this row.
        connection.exec_driver_sql(_ADD_TOTAL, values)


def add_to_job(connection: Connection, agent_id: str, job_id: UUID, use: Use, usage: Usage) -> None:
    """Add usage to a job."""
    _add_to_row(connection, "job", "id", (agent_id, job_id), use, usage)


def add_to_pass(connection: Connection, agent_id: str, number: int, use: Use, usage: Usage) -> None:
    """Add usage to a pass."""
    _add_to_row(connection, "pass_log", "number", (agent_id, number), use, usage)


def _add_to_row(
    connection: Connection, table: str, key: str, row: tuple[Any, ...], use: Use, usage: Usage
) -> None:
    """Add to the column ``models``: a list with one entry for each task and model."""
    where = f"WHERE agent_id = %s AND {key} = %s"
    find = f"SELECT models FROM {table} {where} FOR UPDATE"  # noqa: S608 - names of our own
    found = connection.exec_driver_sql(find, row).first()
    if found is None:
        return
    uses = {Use(each.pop("task"), each.pop("model")): Usage(**each) for each in found.models or []}
    uses[use] = uses.get(use, Usage()) + usage
    models = [{**each._asdict(), **asdict(uses[each])} for each in sorted(uses)]
    write = f"UPDATE {table} SET models = %s {where}"  # noqa: S608 - names of our own
    connection.exec_driver_sql(write, (Jsonb(models), *row))


def usage_of_day(connection: Connection, agent_id: str, day: date) -> Usage:
    """Return the usage of all models for an agent on one day."""
    row = connection.exec_driver_sql(_OF_DAY, (agent_id, day)).mappings().one()
    return Usage(**row)


def usage_by_day(
    connection: Connection, agent_id: str, first: date, last: date
) -> Sequence[RowMapping]:
    """Return the usage by day, task and model, the latest day first."""
    return connection.exec_driver_sql(_BY_DAY, (agent_id, first, last)).mappings().all()


def passes_with_models(connection: Connection, agent_id: str, limit: int) -> Sequence[Any]:
    """Return the latest passes that asked a model: number, started_at, finished_at, models."""
    return connection.exec_driver_sql(_PASSES, (agent_id, limit)).mappings().all()


def total_usage(connection: Connection) -> list[tuple[Use, Usage]]:
    """Return the usage by model and task of all agents; needs an upkeep transaction."""
    rows = connection.exec_driver_sql(_ALL).mappings()
    return [(Use(row["task"], row["model"]), usage_in(row)) for row in rows]


def usage_in(row: Mapping[Any, Any]) -> Usage:
    """Return the usage in a row."""
    return Usage(**{name: row[name] for name in _NAMES})
