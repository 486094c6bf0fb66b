"""M25: every table with rows of an agent has statements to erase them, or no content."""

from __future__ import annotations

import re

from sqlalchemy.dialects import postgresql

from memci.storage.erasure.statements import statements_of
from memci.storage.schema import AGENT_TABLES


def test_every_table_has_statements_or_is_marked_no_content():
    for table in AGENT_TABLES:
        assert bool(statements_of(table)) != ("no_content" in table.info), table.name


def test_every_statement_is_bound_to_the_agent():
    for table in AGENT_TABLES:
        for statement in statements_of(table):
            assert "agent_id = %(agent)s" in statement
            values = set(re.findall(r"%\((\w+)\)s", statement))
            assert values <= {
                "agent", "seqs", "nodes", "former_nodes", "repeated", "names", "named", "named_by",
                "session", "hashes", "pages", "reworded", "pins",
            }  # fmt: skip


def test_tables_without_statements_have_no_text_of_users():
    """A table with text or bytes cannot be marked as a table of ids and numbers alone."""
    # Texts that memci writes itself, and hashes.
    harmless = {
        "trail.event", "erased_message.digest", "edition.state", "model_usage.task",
        "model_usage.model", "event.type",
    }  # fmt: skip
    # The erasure reads dead letters itself; items do not come from messages; documents are files
    # that are removed as a whole.
    apart = {"dead_letter", "item"} | {
        "document", "document_body", "chunk", "chunk_term", "chunk_vector",
    }  # fmt: skip
    kept = [table for table in AGENT_TABLES if not statements_of(table) and table.name not in apart]
    assert kept
    words = {
        f"{table.name}.{column.name}"
        for table in kept
        for column in table.columns
        if column.name != "agent_id"
        and column.type.compile(postgresql.dialect()).startswith(("TEXT", "BYTEA"))
    }
    assert words == harmless
