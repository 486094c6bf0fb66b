"""Items of an agent's programs: stored by namespace and key, indexed and searched."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row

from memci.domain.search import bm25
from memci.domain.search.bm25 import Collected
from memci.domain.store_items import is_comparison
from memci.storage.search.vectors import Vectors, to_text

# Of one agent; an expired item does not exist, whether or not it has been deleted.
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
_AT_PLACES = """(namespace, key) IN (
    SELECT ARRAY(SELECT jsonb_array_elements_text(place->'namespace')), place->>'key'
      FROM jsonb_array_elements(%(places)s::jsonb) AS place)"""
_GET = f"SELECT {COLUMNS} FROM item WHERE {THERE} AND {_AT_PLACES}"  # noqa: S608 - constants
_REFRESH = f"""
UPDATE item SET expires_at = now() + ttl_minutes * interval '1 minute'
WHERE agent_id = %(agent)s AND ttl_minutes IS NOT NULL AND expires_at > now() AND {_AT_PLACES}
"""  # noqa: S608 - a constant of this module
BELOW = "namespace[1:cardinality(%(prefix)s::text[])] = %(prefix)s::text[]"
_LIST = f"""
SELECT {COLUMNS} FROM item WHERE {THERE} AND {BELOW} {{conditions}}
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
    """Store or replace an item; the transaction must hold the lane."""
    values = {
        **_where(agent_id, place),
        "value": json.dumps(value),
        "text": text,
        "ttl": ttl_minutes,
    }
    connection.exec_driver_sql(_PUT, values)


def remove_item(connection: Connection, agent_id: str, place: Place) -> bool:
    """Delete an item; return True if it existed."""
    return connection.exec_driver_sql(_REMOVE, _where(agent_id, place)).rowcount > 0


def remove_expired(connection: Connection, agent_id: str) -> None:
    """Delete some of the expired items."""
    connection.exec_driver_sql(_EXPIRED, (agent_id, agent_id))


def get_items(
    connection: Connection, agent_id: str, places: Sequence[Place]
) -> dict[Place, Row[Any]]:
    """Return the items that exist, by place."""
    rows = connection.exec_driver_sql(_GET, {"agent": agent_id, "places": as_json(places)})
    return {place_of(row): row for row in rows}


def refresh_items(connection: Connection, agent_id: str, places: Sequence[Place]) -> None:
    """Extend the lifetime of items that expire."""
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
    """Return namespaces that meet all ``matches``, cut to ``max_depth`` labels.

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
    """Return the SQL conditions on item values, from ``AND`` on, and all bound values.

    ``THERE`` and ``BELOW`` take their values from the same mapping.
    """
    values: dict[str, Any] = {"agent": agent_id, "prefix": list(prefix)}
    parts = list(_conditions((), condition or {}, values))
    return "".join(f" AND {each}" for each in parts), values


def _conditions(
    path: tuple[str, ...], condition: Mapping[str, Any], values: dict[str, Any]
) -> Iterator[str]:
    """Yield SQL conditions on the value at a path, field by field; all values are bound."""
    for name, expected in condition.items():
        here = (*path, name)
        if isinstance(expected, Mapping) and is_comparison(expected):
            for operator, operand in expected.items():
                yield _comparison(here, operator, operand, values)
        elif isinstance(expected, Mapping) and expected:
            yield from _conditions(here, expected, values)
        else:
            yield _comparison(here, "$eq", expected, values)


def _comparison(
    path: tuple[str, ...], operator: str, operand: object, values: dict[str, Any]
) -> str:
    number = len(values)
    values[f"path{number}"] = list(path)
    values[f"operand{number}"] = json.dumps(operand)
    # A missing value is null, as in the framework.
    stored = f"coalesce(value #> %(path{number})s::text[], 'null')"
    bound = f"%(operand{number})s::jsonb"
    if operator == "$eq":
        return f"{stored} = {bound}"
    if operator == "$ne":
        return f"{stored} <> {bound}"
    same = f"jsonb_typeof({stored}) = jsonb_typeof({bound})"
    return f"({same} AND {stored} {_COMPARED[operator]} {bound})"


def place_of(row: Row[Any]) -> Place:
    """Return the place of a row's item."""
    return tuple(row.namespace), row.key


def as_json(places: Sequence[Place]) -> str:
    """Return places as JSON for statements: PostgreSQL's nested arrays must have one length."""
    return json.dumps([{"namespace": list(each), "key": key} for each, key in places])


def _where(agent_id: str, place: Place) -> dict[str, Any]:
    namespace, key = place
    return {"agent": agent_id, "namespace": list(namespace), "key": key}


_STALE = "text IS NOT NULL AND (terms IS NULL OR model IS DISTINCT FROM %(model)s)"
_UNINDEXED = f"""
SELECT namespace, key, text, updated_at FROM item WHERE agent_id = %(agent)s AND {_STALE}
ORDER BY updated_at DESC LIMIT %(limit)s
"""  # noqa: S608 - a constant of this module
# An item that was written again meanwhile is indexed by the job of that write.
_INDEX = """
UPDATE item SET terms = new.terms, length = new.length, model = %(model)s,
                embedding = new.embedding::halfvec
FROM (SELECT ARRAY(SELECT jsonb_array_elements_text(each->'namespace')) AS namespace,
             each->>'key' AS key, (each->>'updated_at')::timestamptz AS updated_at,
             each->'terms' AS terms, (each->>'length')::integer AS length,
             each->>'embedding' AS embedding
        FROM jsonb_array_elements(%(rows)s::jsonb) AS each) AS new
WHERE item.agent_id = %(agent)s AND item.namespace = new.namespace AND item.key = new.key
  AND item.updated_at = new.updated_at
"""
_TAIL = f"""
SELECT {COLUMNS}, text, terms IS NOT NULL AS counted
FROM item WHERE {THERE} AND {BELOW} AND {_STALE} {{conditions}}
ORDER BY updated_at DESC, namespace, key LIMIT %(most)s
"""  # noqa: S608 - constants of this package
# As ``bm25.score``; a common word may have more texts than are requested.
_BY_WORDS = f"""
SELECT {COLUMNS}, length, hits.counts AS hits
FROM item CROSS JOIN LATERAL (
    SELECT jsonb_object_agg(asked.term, tf) AS counts,
           sum(asked.weight * tf * (%(k1)s + 1)
               / (tf + %(k1)s * (1 - %(b)s + %(b)s * length / %(mean)s))) AS score
      FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS asked(term, weight)
     CROSS JOIN LATERAL (SELECT (terms->>asked.term)::float8 AS tf OFFSET 0) AS held
     WHERE tf IS NOT NULL) AS hits
WHERE {THERE} AND {BELOW} AND terms ?| %(terms)s::text[] {{conditions}}
ORDER BY hits.score DESC, updated_at DESC, namespace, key LIMIT %(most)s
"""  # noqa: S608 - as above
_BY_MEANING = f"""
SELECT {COLUMNS}, -(embedding <#> %(vector)s::halfvec) AS cosine
FROM item WHERE {THERE} AND {BELOW} AND model = %(model)s {{conditions}}
ORDER BY embedding <#> %(vector)s::halfvec, namespace, key LIMIT %(most)s
"""  # noqa: S608 - as above
_COUNT = f"""
SELECT count(*) AS texts, coalesce(avg(length), 1)::float8 AS mean FROM item
WHERE {THERE} AND {BELOW} AND terms IS NOT NULL
"""  # noqa: S608 - as above
_FREQUENCY = f"""
SELECT asked.term, count(*) AS texts FROM item
 CROSS JOIN LATERAL (SELECT term FROM unnest(%(terms)s::text[]) AS asked(term)
                      WHERE terms ? term OFFSET 0) AS asked
WHERE {THERE} AND {BELOW} AND terms ?| %(terms)s::text[] GROUP BY asked.term
"""  # noqa: S608 - as above


@dataclass(frozen=True, slots=True)
class ItemQuestion:
    """A query: the namespace, the conditions on values, the words and the vector."""

    prefix: Sequence[str]
    condition: Mapping[str, Any] | None
    terms: Sequence[str]
    vector: Vectors | None
    model: str
    most: int
    tail: int


@dataclass(frozen=True, slots=True)
class FoundItems:
    """Rows by channel."""

    by_words: list[Row[Any]]
    by_meaning: list[Row[Any]]
    tail: list[Row[Any]]  # not indexed yet
    others: list[Row[Any]]  # the latest of all
    collected: Collected  # of all indexed items below the namespace, whatever their values


def unindexed_items(
    connection: Connection, agent_id: str, model: str, limit: int
) -> list[Row[Any]]:
    """Return places, texts and times of items without an index of this model, the newest first."""
    values = {"agent": agent_id, "model": model, "limit": limit}
    return list(connection.exec_driver_sql(_UNINDEXED, values))


def index_items(
    connection: Connection,
    agent_id: str,
    items: Sequence[Row[Any]],
    terms: Iterable[Mapping[str, int]],
    vectors: Vectors,
    model: str,
) -> int:
    """Write the index of texts, row by row of ``vectors``; return how many still exist."""
    if not items:
        return 0
    rows = [
        {
            "namespace": each.namespace,
            "key": each.key,
            "updated_at": each.updated_at.isoformat(),
            "terms": counts,
            "length": sum(counts.values()),
            "embedding": vector,
        }
        for each, counts, vector in zip(items, terms, to_text(vectors), strict=True)
    ]
    values = {"agent": agent_id, "rows": json.dumps(rows), "model": model}
    return connection.exec_driver_sql(_INDEX, values).rowcount


def find_items(connection: Connection, agent_id: str, question: ItemQuestion) -> FoundItems:
    """Return candidates of each channel."""
    below = (agent_id, question.prefix, question.condition)
    conditions, values = where_below(*below)
    values |= {"terms": list(question.terms), "model": question.model}

    def rows(statement: str, most: int) -> list[Row[Any]]:
        query = statement.format(conditions=conditions)
        return list(connection.exec_driver_sql(query, {**values, "most": most}))

    collected = _collected(connection, values)
    by_words, by_meaning = [], []
    if question.terms:
        values |= _weights(question.terms, collected)
        by_words = rows(_BY_WORDS, question.most)
    if question.vector is not None:
        values["vector"] = to_text(question.vector[None, :])[0]
        by_meaning = rows(_BY_MEANING, question.most)
    return FoundItems(
        by_words=by_words,
        by_meaning=by_meaning,
        tail=rows(_TAIL, question.tail),
        others=list_items(connection, *below, limit=question.most, offset=0),
        collected=collected,
    )


def _collected(connection: Connection, values: Mapping[str, Any]) -> Collected:
    counted = connection.exec_driver_sql(_COUNT, values).one()
    found = connection.exec_driver_sql(_FREQUENCY, values) if values["terms"] else ()
    frequency = {row.term: float(row.texts) for row in found}
    return Collected(float(counted.texts), max(counted.mean, 1.0), frequency)


def _weights(terms: Sequence[str], collected: Collected) -> dict[str, Any]:
    """Return the values that ``_BY_WORDS`` takes from the collection."""
    frequency, texts = collected.frequency, collected.texts
    weights = [bm25.rarity(min(frequency.get(term, 0.0), texts), texts) for term in terms]
    return {"weights": weights, "mean": collected.mean_length, "k1": bm25.K1, "b": bm25.B}
