"""What finds items by a query: terms, lengths and vectors of their texts, beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row

from memci.domain.context import bm25
from memci.domain.context.bm25 import Collected
from memci.storage.items import BELOW, COLUMNS, THERE, Place, place_of, where_below
from memci.storage.vectors import Vectors, to_text

_STALE = "text IS NOT NULL AND (terms IS NULL OR model IS DISTINCT FROM %(model)s)"
_UNINDEXED = f"""
SELECT namespace, key, text, updated_at FROM item WHERE agent_id = %(agent)s AND {_STALE}
ORDER BY updated_at DESC LIMIT %(limit)s
"""  # noqa: S608 - a constant of this module
# One that was written again meanwhile is indexed by the job that this has asked for.
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
# As ``bm25.score``: of a common word there may be more than are asked for.
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
_OTHERS = f"""
SELECT {COLUMNS} FROM item WHERE {THERE} AND {BELOW} {{conditions}}
ORDER BY updated_at DESC, namespace, key LIMIT %(most)s
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
class Unindexed:
    """A text that is to be indexed, and of when it is."""

    place: Place
    text: str
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ItemQuestion:
    """What is asked: below which namespace, with which values, by which words and vector."""

    prefix: Sequence[str]
    condition: Mapping[str, Any] | None
    terms: Sequence[str]
    vector: Vectors | None
    model: str
    most: int
    tail: int


@dataclass(frozen=True, slots=True)
class FoundItems:
    """Rows by channel; ``tail`` is not indexed yet, ``others`` are the latest of all.

    ``collected`` is of what is indexed below the namespace, whatever its values are.
    """

    by_words: list[Row[Any]]
    by_meaning: list[Row[Any]]
    tail: list[Row[Any]]
    others: list[Row[Any]]
    collected: Collected


def unindexed_items(
    connection: Connection, agent_id: str, model: str, limit: int
) -> list[Unindexed]:
    """Return texts without an index by this model, the newest first."""
    values = {"agent": agent_id, "model": model, "limit": limit}
    rows = connection.exec_driver_sql(_UNINDEXED, values)
    return [Unindexed(place_of(row), row.text, row.updated_at) for row in rows]


def index_items(
    connection: Connection,
    agent_id: str,
    items: Sequence[Unindexed],
    terms: Iterable[Mapping[str, int]],
    vectors: Vectors,
    model: str,
) -> int:
    """Write the index of texts, row by row of ``vectors``; return how many still stood."""
    if not items:
        return 0
    rows = [
        {
            "namespace": list(each.place[0]),
            "key": each.place[1],
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
    conditions, values = where_below(agent_id, question.prefix, question.condition)
    values |= {"terms": list(question.terms), "model": question.model}

    def rows(statement: str, most: int) -> list[Row[Any]]:
        asked = statement.format(conditions=conditions)
        return list(connection.exec_driver_sql(asked, {**values, "most": most}))

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
        others=rows(_OTHERS, question.most),
        collected=collected,
    )


def _collected(connection: Connection, values: Mapping[str, Any]) -> Collected:
    counted = connection.exec_driver_sql(_COUNT, values).one()
    found = connection.exec_driver_sql(_FREQUENCY, values) if values["terms"] else ()
    frequency = {row.term: float(row.texts) for row in found}
    return Collected(float(counted.texts), max(counted.mean, 1.0), frequency)


def _weights(terms: Sequence[str], collected: Collected) -> dict[str, Any]:
    """Return what ``_BY_WORDS`` takes of the collection."""
    frequency, texts = collected.frequency, collected.texts
    weights = [bm25.rarity(min(frequency.get(term, 0.0), texts), texts) for term in terms]
    return {"weights": weights, "mean": collected.mean_length, "k1": bm25.K1, "b": bm25.B}
