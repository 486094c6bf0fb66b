"""M25: every table with an agent's rows says how it gives up what is erased."""

from __future__ import annotations

import re

from sqlalchemy.dialects import postgresql

from memci.storage.erasure.tables import REGISTRY
from memci.storage.schema import metadata


def test_every_table_of_agents_is_named_once():
    named = [entry.table for entry in REGISTRY]
    # Those of a rebuilt network lie in a schema of their own, and go as one.
    tables = [each for each in metadata.sorted_tables if each.schema is None]
    of_agents = [each.name for each in tables if "agent_id" in each.columns]
    assert sorted(named) == sorted(of_agents)


def test_every_entry_removes_rows_or_says_why_not():
    for entry in REGISTRY:
        assert entry.of_messages or entry.why, entry.table
        assert entry.of_agent or entry.why, entry.table


def test_every_statement_is_bound_to_the_agent():
    for entry in REGISTRY:
        for statement in entry.of_messages:
            assert "agent_id = %(agent)s" in statement
            values = set(re.findall(r"%\((\w+)\)s", statement))
            assert values <= {
                "agent", "seqs", "nodes", "gone", "again", "names", "named", "named_by", "session",
                "said", "pages", "reworded", "pins",
            }  # fmt: skip


def test_tables_with_text_give_it_up():
    """Where a table has text or bytes, 'ids and numbers alone' is no reason."""
    # What happened, in words of ours; and hashes.
    harmless = {
        "trail.event", "erased_message.digest", "edition.state", "model_usage.task",
        "model_usage.model",
    }  # fmt: skip
    # Letters are read by the erasure; items are no messages, nor made of any; documents are files,
    # which are removed as such.
    apart = {"letter", "item"} | {
        "document", "document_body", "chunk", "chunk_term", "chunk_vector",
    }  # fmt: skip
    kept = [each.table for each in REGISTRY if not each.of_messages and each.table not in apart]
    assert kept
    words = {
        f"{table}.{column.name}"
        for table in kept
        for column in metadata.tables[table].columns
        if column.name != "agent_id"
        and column.type.compile(postgresql.dialect()).startswith(("TEXT", "BYTEA"))
    }
    assert words == harmless
