"""Plans of queries for chunks, with 10,000 chunks among those of others (style rule 14)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from memci.storage.session import Database
from memci.testing import database_copy
from tests.support.plans import Plan, analyze, explain, indexes, read

pytestmark = pytest.mark.timeout(300)  # some million rows are inserted first

SIZE = 10_000
# The queries need a small part of each table, stored in the order of the owners. Otherwise a
# sequential scan could be the better plan.
SIZES = {
    "ada": SIZE,
    **{f"agent{n:02}": 2_500 for n in range(80)},
    **{f"collection/{name}": SIZE for name in ("lib", "other")},
}
FILL = (
    (
        "INSERT INTO lane (agent_id, documents, indexed_chunks, chunk_terms)"
        " VALUES (%(owner)s, 100, %(size)s, %(size)s * 10) ON CONFLICT DO NOTHING"
    ),
    (
        "INSERT INTO document (agent_id, id, name, digest, bytes, state, chunks, job_id)"
        " SELECT %(owner)s, n, 'docs/' || n || '.md', 'x', 1, 'ready', 100, gen_random_uuid()"
        " FROM generate_series(1, 100) AS n"
    ),
    (
        "INSERT INTO chunk (agent_id, id, document_id, place, kind, text, path, symbol, symbol_key,"
        " language, indexed) SELECT %(owner)s, n, 1 + n / 100, n, 'code', 'text of ' || n, 'path',"
        " 'Type.name' || n, 'name' || n, 'python', true FROM generate_series(1, %(size)s) AS n"
    ),
    (
        "INSERT INTO chunk_vector SELECT %(owner)s, n,"
        " ('[' || sin(n) || ',' || cos(n) || ']')::halfvec, 'm'"
        " FROM generate_series(1, %(size)s) AS n"
    ),
    (
        "INSERT INTO chunk_term SELECT %(owner)s, 'term' || (n * 7 + t * 131) %% 500, n, 1, 10"
        " FROM generate_series(1, %(size)s) AS n, generate_series(1, %(terms)s) AS t"
        " ON CONFLICT DO NOTHING"
    ),
)
# A search reads the postings of each term.
POSTINGS = (
    "SELECT p.* FROM unnest(%(terms)s::text[]) AS r(term) CROSS JOIN LATERAL ("
    "SELECT chunk_id, tf, length FROM chunk_term WHERE agent_id = {} AND term = r.term OFFSET 0"
    ") AS p"
)
SYMBOLS = (
    "SELECT id FROM chunk WHERE agent_id = {} AND symbol_key = ANY(%(keys)s) AND indexed"
    " ORDER BY length(symbol), id DESC LIMIT 20"
)
NEAREST = (
    "SELECT chunk_id, 1 - (embedding <=> '[1,0]'::halfvec) FROM chunk_vector"
    " WHERE agent_id = {} AND model = 'm' ORDER BY embedding <=> '[1,0]'::halfvec LIMIT 200"
)
TEXTS = (
    "SELECT k.*, t.* FROM unnest(%(keepers)s::text[], %(ids)s::bigint[]) AS k(owner, key)"
    " CROSS JOIN LATERAL (SELECT m.text, m.path, m.first_line, m.last_line, (SELECT d.name FROM"
    " document d WHERE d.agent_id = m.agent_id AND d.id = m.document_id) FROM chunk m"
    " WHERE m.agent_id = k.owner AND m.id = k.key OFFSET 0) AS t"
)
ALONE, SHARED = "%(owner)s", "ANY(%(owners)s)"
VALUES: dict[str, Any] = {
    "owner": "ada", "owners": ["ada", "collection/lib"],
    "keepers": ["ada", "collection/lib", "ada"], "terms": ["term3", "term77"],
    "ids": [5, 700, 9_000], "keys": ["name77", "name99"],
}  # fmt: skip


@pytest.fixture(scope="module")
def crowded(shared_postgres: Any) -> Iterator[Database]:
    with database_copy(shared_postgres) as url, closing(Database(url)) as database:
        for owner, size in SIZES.items():
            values = {"owner": owner, "size": size, "terms": 10 if size == SIZE else 2}
            with database.agent_transaction(owner) as connection:
                for statement in FILL:
                    connection.exec_driver_sql(statement, values)
        analyze(database, "lane, document, chunk, chunk_vector, chunk_term", vacuum=True)
        yield database


def plan_of(database: Database, statement: str) -> Plan:
    return explain(database, statement, VALUES, collections=["lib"])


@pytest.mark.parametrize("owner", [ALONE, SHARED])
def test_postings_are_found_by_owner_and_term(crowded: Database, owner: str):
    plan = plan_of(crowded, POSTINGS.format(owner))
    assert indexes(plan) == {"chunk_term_pkey"}
    assert "Seq Scan" not in {each["Node Type"] for each in plan}
    assert read(plan, "chunk_term") <= 2 * 2 * SIZE * 10 / 500


@pytest.mark.parametrize(("owner", "many"), [(ALONE, 1), (SHARED, 2)])
def test_nearest_chunks_are_searched_among_the_owners(crowded: Database, owner: str, many: int):
    plan = plan_of(crowded, NEAREST.format(owner))
    assert indexes(plan) == {"chunk_vector_pkey"}
    assert read(plan, "chunk_vector") == many * SIZE


def test_texts_are_read_by_their_keys(crowded: Database):
    plan = plan_of(crowded, TEXTS)
    # An owner has few documents, so the plan may use any index that begins with the owner.
    assert "chunk_pkey" in indexes(plan)
    assert "Seq Scan" not in {each["Node Type"] for each in plan}
    assert read(plan, "chunk") == 3


@pytest.mark.parametrize("owner", [ALONE, SHARED])
def test_symbols_are_found_by_their_last_parts(crowded: Database, owner: str):
    plan = plan_of(crowded, SYMBOLS.format(owner))
    assert "chunk_symbol" in indexes(plan)
    assert read(plan, "chunk") <= 8
