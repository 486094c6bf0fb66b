"""Items of an agent's programs: kept by namespace and key."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row

from memci.domain.item_operators import is_comparison

# Of one agent; an item whose time is over is gone, whether or not somebody has removed it.
THERE = "agent_id = %(agent)s AND (expires_at IS NULL OR expires_at > now())"
COLUMNS = "namespace, key, value, created_at, updated_at"

_PUT = """
INSERT INTO item AS held (agent_id, namespace, key, value, text, ttl_minutes, expires_at)
VALUES (%(agent)s, %(namespace)s, %(key)s, %(value)s, %(text)s, %(ttl)s,
        now() + %(ttl)s::double precision * interval '1 minute')
ON CONFLICT (agent_id, namespace, key) DO UPDATE
SET value = excluded.value, ttl_minutes = excluded.ttl_minutes, expires_at = excluded.expires_at,
    updated_at = excluded.updated_at,
    created_at = CASE WHEN held.expires_at <= now() THEN now() ELSE held.created_at END,
    text = excluded.text,
    terms = CASE WHEN held.text = excluded.text THEN held.terms END,
    length = CASE WHEN held.text = excluded.text THEN held.length END,
    embedding = CASE WHEN held.text = excluded.text THEN held.embedding END,
    model = CASE WHEN held.text = excluded.text THEN held.model END
"""
_REMOVE = """
DELETE FROM item WHERE agent_id = %(agent)s AND namespace = %(namespace)s AND key = %(key)s
"""
_GET = f"""
SELECT {COLUMNS} FROM item
WHERE {THERE} AND (namespace, key) IN (
    SELECT ARRAY(SELECT jsonb_array_elements_text(place->'namespace')), place->>'key'
      FROM jsonb_array_elements(%(places)s::jsonb) AS place)
"""  # noqa: S608 - constants of this module
_REFRESH = """
UPDATE item SET expires_at = now() + ttl_minutes * interval '1 minute'
WHERE agent_id = %(agent)s AND ttl_minutes IS NOT NULL AND expires_at > now()
  AND (namespace, key) IN (
    SELECT ARRAY(SELECT jsonb_array_elements_text(place->'namespace')), place->>'key'
      FROM jsonb_array_elements(%(places)s::jsonb) AS place)
"""
_BELOW = "namespace[1:cardinality(%(prefix)s::text[])] = %(prefix)s::text[]"
_LIST = f"""
SELECT {COLUMNS} FROM item WHERE {THERE} AND {_BELOW} {{conditions}}
ORDER BY updated_at DESC, namespace, key LIMIT %(limit)s OFFSET %(offset)s
"""  # noqa: S608 - as above
_NAMESPACES = f"""
SELECT DISTINCT namespace[1:%(depth)s] AS cut FROM item WHERE {THERE} {{conditions}}
ORDER BY cut LIMIT %(limit)s OFFSET %(offset)s
"""  # noqa: S608 - as above
_EXPIRED = """
DELETE FROM item WHERE agent_id = %s AND ctid = ANY(ARRAY(
    SELECT ctid FROM item WHERE agent_id = %s AND expires_at <= now() LIMIT 1000))
"""
_DEEPEST = 32
_COMPARED = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}

# Namespace and key.
Place = tuple[tuple[str, ...], str]


def put_item(
    connection: Connection,
    agent_id: str,
    place: Place,
    value: Mapping[str, Any],
    *,
    text: str | None,
    ttl_minutes: float | None,
) -> None:
    """Keep an item in the place of what was there; the transaction must hold the lane."""
    values = {
        **_where(agent_id, place),
        "value": json.dumps(value),
        "text": text,
        "ttl": ttl_minutes,
    }
    connection.exec_driver_sql(_PUT, values)


def remove_item(connection: Connection, agent_id: str, place: Place) -> bool:
    """Take an item away; tell whether there was one."""
    return connection.exec_driver_sql(_REMOVE, _where(agent_id, place)).rowcount > 0


def remove_expired(connection: Connection, agent_id: str) -> None:
    """Take some of those away whose time is over."""
    connection.exec_driver_sql(_EXPIRED, (agent_id, agent_id))


def get_items(
    connection: Connection, agent_id: str, places: Sequence[Place]
) -> dict[Place, Row[Any]]:
    """Return those of these items that there are."""
    rows = connection.exec_driver_sql(_GET, {"agent": agent_id, "places": as_json(places)})
    return {place_of(row): row for row in rows}


def refresh_items(connection: Connection, agent_id: str, places: Sequence[Place]) -> None:
    """Put off when these items go, of those that do."""
    connection.exec_driver_sql(_REFRESH, {"agent": agent_id, "places": as_json(places)})


def list_items(
    connection: Connection,
    agent_id: str,
    prefix: Sequence[str],
    condition: Mapping[str, Any] | None,
    *,
    limit: int,
    offset: int,
) -> list[Row[Any]]:
    """Return items below a namespace, the latest first."""
    conditions, values = where_below(agent_id, prefix, condition)
    statement = _LIST.format(conditions=conditions)
    values |= {"limit": limit, "offset": offset}
    return list(connection.exec_driver_sql(statement, values))


def list_namespaces(
    connection: Connection,
    agent_id: str,
    matches: Sequence[tuple[str, Sequence[str]]],
    *,
    max_depth: int | None,
    limit: int,
    offset: int,
) -> list[list[str]]:
    """Return namespaces that match all of these, cut to ``max_depth`` labels.

    A match is how a namespace begins (``prefix``) or ends (``suffix``).
    """
    values: dict[str, Any] = {
        "agent": agent_id,
        "depth": max_depth or _DEEPEST,
        "limit": limit,
        "offset": offset,
    }
    parts = []
    for number, (kind, path) in enumerate(matches):
        values[f"size{number}"] = len(path)
        parts.append(f"AND cardinality(namespace) >= %(size{number})s")
        for at, label in enumerate(path):
            if label != "*":
                name = f"label{number}_{at}"
                values[name] = label
                index = (
                    at + 1 if kind == "prefix" else f"cardinality(namespace) - {len(path) - at - 1}"
                )
                parts.append(f"AND namespace[{index}] = %({name})s")
    statement = _NAMESPACES.format(conditions=" ".join(parts))
    return [list(row.cut) for row in connection.exec_driver_sql(statement, values)]


def where_below(
    agent_id: str, prefix: Sequence[str], condition: Mapping[str, Any] | None
) -> tuple[str, dict[str, Any]]:
    """Return SQL for what an item's value must be like, after ``AND``, and all its values.

    With it go ``THERE`` and ``BELOW``, which take their values from the same mapping.
    """
    values: dict[str, Any] = {"agent": agent_id, "prefix": list(prefix)}
    parts = list(_conditions((), condition or {}, values))
    return "".join(f" AND {each}" for each in parts), values


BELOW = _BELOW


def _conditions(
    path: tuple[str, ...], condition: Mapping[str, Any], values: dict[str, Any]
) -> Iterator[str]:
    """Yield conditions on the value at a path, field by field; all values are bound."""
    for name, expected in condition.items():
        here = (*path, name)
        if isinstance(expected, Mapping) and is_comparison(expected):
            for operator, operand in expected.items():
                yield _compared(here, operator, operand, values)
        elif isinstance(expected, Mapping) and expected:
            yield from _conditions(here, expected, values)
        else:
            yield _compared(here, "$eq", expected, values)


def _compared(path: tuple[str, ...], operator: str, operand: object, values: dict[str, Any]) -> str:
    number = len(values)
    values[f"path{number}"] = list(path)
    values[f"operand{number}"] = json.dumps(operand)
    # What is missing is null, as to the framework.
    held = f"coalesce(value #> %(path{number})s::text[], 'null')"
    given = f"%(operand{number})s::jsonb"
    if operator == "$eq":
        return f"{held} = {given}"
    if operator == "$ne":
        return f"{held} <> {given}"
    same = f"jsonb_typeof({held}) = jsonb_typeof({given})"
    return f"({same} AND {held} {_COMPARED[operator]} {given})"


def place_of(row: Row[Any]) -> Place:
    """Return where a row's item is."""
    return tuple(row.namespace), row.key


def as_json(places: Sequence[Place]) -> str:
    """Return places as statements take them: arrays of arrays have one length in PostgreSQL."""
    return json.dumps([{"namespace": list(each), "key": key} for each, key in places])


def _where(agent_id: str, place: Place) -> dict[str, Any]:
    namespace, key = place
    return {"agent": agent_id, "namespace": list(namespace), "key": key}
