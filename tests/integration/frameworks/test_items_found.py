"""A query finds items in the database: the best by words, and its query plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from memci.storage.frameworks import items as item_index
from memci.storage.frameworks.items import (
    ItemQuestion,
    find_items,
    index_items,
    put_item,
    unindexed_items,
    where_below,
)
from memci.storage.session import Database
from memci.testing import database_copy
from tests.support.plans import analyze, explain, indexes, read

MODEL = "m"
# With few agents a sequential scan would be as good as an index.
AGENTS, OF_EACH, OF_ADA = 100, 200, 2_000
FILL = """
INSERT INTO item (agent_id, namespace, key, value, text, terms, length, embedding, model)
SELECT %(agent)s, ARRAY['facts', 'kind' || n %% 4], 'key' || n,
       jsonb_build_object('n', n), 'text ' || n,
       jsonb_build_object('term' || n %% 50, 1, 'word', 2), 3,
       ('[' || sin(n) || ',' || cos(n) || ']')::halfvec, 'm'
  FROM generate_series(1, %(count)s) AS n
"""


def question(terms: Sequence[str], most: int) -> ItemQuestion:
    return ItemQuestion((), None, terms, None, MODEL, most, tail=64)


def test_the_best_items_by_words_are_found_even_if_they_are_old(database: Database):
    texts = {"old": "zebra report", **{f"new{n}": "report of a day" for n in range(8)}}
    for key, text in texts.items():
        with database.agent_transaction("ada") as connection:
            put_item(connection, "ada", (("facts",), key), {}, text=text, ttl_minutes=None)
    with database.agent_transaction("ada") as connection:
        items = unindexed_items(connection, "ada", MODEL, 99)
        terms = [Counter(each.text.split()) for each in items]
        index_items(connection, "ada", items, terms, np.ones((9, 2), np.float32), MODEL)
    with database.agent_snapshot("ada") as connection:
        found = find_items(connection, "ada", question(["report", "zebra", "nowhere"], most=3))
    assert [(each.key, each.hits) for each in found.by_words][:2] == [
        ("old", {"report": 1, "zebra": 1}), ("new7", {"report": 1}),
    ]  # fmt: skip
    # Frequencies count all items, not only the returned ones.
    assert found.collected.frequency == {"report": 9.0, "zebra": 1.0}
    assert found.collected.texts == 9.0


@pytest.fixture(scope="module")
def crowded(shared_postgres: Any) -> Iterator[Database]:
    with database_copy(shared_postgres) as url, closing(Database(url)) as database:
        for agent, count in (("ada", OF_ADA), *((f"agent{n}", OF_EACH) for n in range(AGENTS))):
            with database.agent_transaction(agent) as connection:
                connection.exec_driver_sql(FILL, {"agent": agent, "count": count})
        analyze(database, "item", vacuum=True)
        yield database


@pytest.mark.parametrize(
    "statement",
    ["_TAIL", "_BY_WORDS", "_BY_MEANING", "_LIST", "_COUNT", "_FREQUENCY", "_UNINDEXED"],
)
def test_only_items_of_the_agent_are_read_by_index(crowded: Database, statement: str):
    conditions, values = where_below("ada", ["facts"], {"n": {"$gt": 100}})
    values |= {
        "terms": ["term3", "term7"], "weights": [3.0, 3.0], "mean": 3.0, "k1": 1.2, "b": 0.75,
        "model": MODEL, "vector": "[1,0]", "most": 200, "limit": 256,
        "offset": 0,
    }  # fmt: skip
    query = getattr(item_index, statement).format(conditions=conditions)
    plan = explain(crowded, query, values)
    assert indexes(plan) <= {"item_pkey", "item_unindexed"}
    assert "Seq Scan" not in {each["Node Type"] for each in plan}
    assert read(plan, "item") <= OF_ADA
