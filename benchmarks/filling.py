"""Fills agents without a worker, by the statements that jobs use."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg

from benchmarks.compare import say
from benchmarks.corpus import Corpus
from memci.jobs.index import terms_of
from memci.message import Message
from memci.smallmodel.offline.e5_embedder import MODEL
from memci.smallmodel.offline.index_terms import OfflineLexicon
from memci.storage.search.index import Embedded, index_messages
from memci.storage.session import Database

_AT_ONCE = 1_000
_MESSAGE = "agent_id, seq, id, role, content, session_id, said_at, remember"
# Every table with rows of an agent, and its columns without automatic numbers.
_TABLES = """
SELECT c.table_name, string_agg(quote_ident(c.column_name), ', ')
  FROM information_schema.columns c JOIN information_schema.tables t
    ON t.table_schema = c.table_schema AND t.table_name = c.table_name
 WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.column_name <> 'agent_id'
   AND c.is_identity = 'NO' AND c.is_generated = 'NEVER'
   AND EXISTS (SELECT FROM information_schema.columns a
                WHERE a.table_schema = 'public' AND a.table_name = c.table_name
                  AND a.column_name = 'agent_id')
 GROUP BY c.table_name ORDER BY c.table_name
"""
_COPY = """
INSERT INTO {table} (agent_id, {columns})
SELECT agent_id || %(suffix)s, {columns} FROM {table} WHERE agent_id = ANY(%(agents)s)
 ORDER BY agent_id
"""


def fill(database: Database, owner: psycopg.Connection, agent_id: str, corpus: Corpus) -> None:
    """Store the corpus as indexed messages of the agent, without memories."""
    messages = corpus.messages()
    with owner.cursor() as cursor, cursor.copy(f"COPY message ({_MESSAGE}) FROM STDIN") as copy:
        for each in messages:
            copy.write_row(
                (agent_id, each.seq, each.id, each.role.value, each.content, each.session_id,
                 each.said_at, "never")
            )  # fmt: skip
    owner.execute(
        "INSERT INTO lane (agent_id, message_seq) VALUES (%s, %s)", (agent_id, len(messages))
    )
    lexicon = OfflineLexicon()
    for start in range(0, len(messages), _AT_ONCE):
        _index(database, agent_id, messages[start : start + _AT_ONCE], corpus, lexicon)


def multiply(owner: psycopg.Connection, agents: Sequence[str], times: int) -> list[str]:
    """Copy agents with all their rows, until there are ``times`` as many.

    Return all agents. The rows of one agent are stored together, as if written in one period.
    """
    tables = [
        (table, columns)
        for table, columns in owner.execute(_TABLES).fetchall()
        if owner.execute(f"SELECT EXISTS (SELECT FROM {table})".encode()).fetchone() == (True,)
    ]
    everyone = list(agents)
    for number in range(1, times):
        suffix = f"-{number}"
        for table, columns in tables:
            statement = _COPY.format(table=table, columns=columns)
            owner.execute(statement.encode(), {"suffix": suffix, "agents": list(agents)})
        everyone += [f"{agent}{suffix}" for agent in agents]
        if number % 20 == 0:
            say(f"{len(everyone):,} agents")
    return everyone


def _index(
    database: Database,
    agent_id: str,
    messages: Sequence[Message],
    corpus: Corpus,
    lexicon: OfflineLexicon,
) -> None:
    seqs = [each.seq for each in messages]
    vectors = corpus.vectors[seqs[0] - 1 : seqs[-1]]
    terms = {each.seq: terms_of(lexicon, each.searched) for each in messages}
    embedded = Embedded(seqs, vectors, MODEL, corpus.tokens[seqs[0] - 1 : seqs[-1]])
    with database.agent_transaction(agent_id, durable=False) as connection:
        index_messages(connection, agent_id, seqs, embedded, terms)
