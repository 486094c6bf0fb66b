"""Agents of any size, filled by SQL, for query plans and measurements."""

from __future__ import annotations

from memci.storage.session import Database

# Words follow Zipf's law; vectors are random.
_MESSAGES = """
WITH drawn AS MATERIALIZED (
    SELECT n AS seq, 'w' || floor(exp(random() * ln(%(words)s::float8))) AS term
      FROM generate_series(1, %(count)s::int) n, generate_series(1, %(terms)s::int)),
texts AS (SELECT seq, string_agg(term, ' ') AS content FROM drawn GROUP BY seq),
said AS (
    INSERT INTO message (agent_id, seq, id, role, content, session_id, said_at, remember,
                         memory_state, indexed, position)
    SELECT %(agent)s, seq, 'm' || seq, CASE seq %% 2 WHEN 1 THEN 'user' ELSE 'assistant' END,
           content, 's' || seq / 40, now() - (%(count)s - seq) * interval '1 minute', 'now',
           'made', true, ((seq / 40)::bigint << 32) + seq %% 40
      FROM texts ORDER BY seq)
INSERT INTO message_term (agent_id, term, seq, tf, length, position)
SELECT %(agent)s, term, seq, count(*), %(terms)s, ((seq / 40)::bigint << 32) + seq %% 40
  FROM drawn GROUP BY term, seq
"""
_NODES = """
WITH drawn AS MATERIALIZED (
    SELECT n AS id, 'w' || floor(exp(random() * ln(%(words)s::float8))) AS term
      FROM generate_series(%(first)s::int, %(last)s::int) n,
           generate_series(1, %(terms)s::int)),
texts AS (SELECT id, string_agg(term, ' ') AS content FROM drawn GROUP BY id),
made AS (
    INSERT INTO node (agent_id, id, slot, kind, type, content, original_length, phrase, keywords,
                      language, message_seqs, session_id, said_at)
    SELECT %(agent)s, id, id, 'memory', 'episodic', content, length(content), 'phrase', '{}',
           'en', ARRAY[id - %(first)s + 1, id - %(first)s + 2], 's' || id / 40, now()
      FROM texts)
INSERT INTO node_term (agent_id, term, node_id, tf, length)
SELECT %(agent)s, term, id, count(*), %(terms)s FROM drawn GROUP BY term, id
"""
_VECTORS = """
INSERT INTO {table}_vector (agent_id, {key}, embedding, model)
SELECT %(agent)s, n, (SELECT array_agg(random() - 0.5)
                        FROM generate_series(1, %(dimension)s::int + n * 0))::real[]::halfvec,
       'words'
  FROM generate_series(%(first)s::int, %(last)s::int) n
"""
# Links of a memory: to and from an entity, and with the memories before and after it.
_NETWORK = """
WITH entities AS (
    INSERT INTO node (agent_id, id, slot, kind, type, content, original_length, phrase, keywords,
                      language, entity_key, message_seqs)
    SELECT %(agent)s, n, n, 'entity', 'semantic', 'entity ' || n, 8, 'entity', '{}', 'en',
           'entity ' || n, '{}' FROM generate_series(1, %(entities)s::int) n),
focused AS (
    INSERT INTO focus (agent_id, node_id, mentioned)
    SELECT %(agent)s, n, n FROM generate_series(1, 5) n),
about AS MATERIALIZED (
    SELECT n AS id, floor(exp(random() * ln(%(entities)s::float8)))::int AS entity
      FROM generate_series(%(first)s::int, %(last)s::int) n)
INSERT INTO link (agent_id, source, target, relation, strength, hint)
SELECT %(agent)s, id, entity, 'about', 1, '' FROM about
 UNION ALL SELECT %(agent)s, entity, id, 'about', 1, '' FROM about
 UNION ALL SELECT %(agent)s, id, id + 1, 'next', 0.5, '' FROM about WHERE id < %(last)s
 UNION ALL SELECT %(agent)s, id, id - 1, 'previous', 0.5, '' FROM about WHERE id > %(first)s
"""
_LANE = """
INSERT INTO lane (agent_id, message_seq, last_node_id, indexed_messages, indexed_terms)
VALUES (%(agent)s, %(count)s, %(last)s, %(count)s, %(count)s::int * %(terms)s::int)
"""

WORDS = 5_000
ENTITIES = 200


def fill(
    database: Database,
    agent_id: str,
    *,
    messages: int,
    nodes: int,
    dimension: int = 384,
    terms: int = 12,
) -> None:
    """Fill an agent with messages ``m1`` … and memories; its focus is on five entities."""
    first, last = ENTITIES + 1, ENTITIES + nodes
    values = {
        "agent": agent_id, "count": messages, "words": WORDS, "entities": ENTITIES,
        "dimension": dimension, "first": first, "last": last, "terms": terms,
    }  # fmt: skip
    with database.agent_transaction(agent_id, durable=False) as connection:
        connection.exec_driver_sql(_LANE, values)
        connection.exec_driver_sql(_MESSAGES, values)
        of_messages = _VECTORS.replace("{table}", "message").replace("{key}", "seq")
        connection.exec_driver_sql(of_messages, {**values, "first": 1, "last": messages})
        if nodes:
            connection.exec_driver_sql(_NODES, values)
            of_nodes = _VECTORS.replace("{table}", "node").replace("{key}", "node_id")
            connection.exec_driver_sql(of_nodes, values)
            connection.exec_driver_sql(_NETWORK, values)


ORIGIN_NODE = ENTITIES + 1
_ORIGINS = """
INSERT INTO trail (agent_id, node_id, event, pass_number, details)
SELECT %s, id, 'created', 0, '{"messages": [1, 2]}' FROM generate_series(%s::int, %s::int) id
"""


def fill_with_origin(database: Database, agent_id: str) -> None:
    """Fill an agent whose memories ``ORIGIN_NODE`` and the next tell its first two messages."""
    fill(database, agent_id, messages=60, nodes=20, dimension=8)
    with database.agent_transaction(agent_id) as connection:
        connection.exec_driver_sql(_ORIGINS, (agent_id, ORIGIN_NODE, ORIGIN_NODE + 1))
