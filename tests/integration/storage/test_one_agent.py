"""Reads and jobs name one agent in each statement, so that agents can live in several databases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any

import psycopg
import pytest

from memci.config.settings import load_settings
from memci.runtime import Runtime
from memci.schemas.reads import ContextRequest, RecallRequest, SearchRequest
from memci.storage.schema import AGENT_TABLES
from memci.storage.session import Database
from tests.support.network import AgentUnderTest

# Work of all agents together: lanes and jobs are claimed, counted and swept.
_SHARED = {"lane", "job", "dead_letter"}
_CONTENT = "|".join(each.name for each in AGENT_TABLES if each.name not in _SHARED)
_REFERENCE = re.compile(
    rf"\b(?:FROM|JOIN|UPDATE|INTO|USING)\s+({_CONTENT})\b(?:\s+(?:AS\s+)?([a-z_0-9]+)\b)?",
    re.IGNORECASE,
)
_NO_ALIAS = {"where", "set", "on", "order", "join", "cross", "left", "limit", "values", "using"}
TEXTS = (
    "[Ann] moved to Lisbon in March and keeps bees",
    "[Ann] keeps bees on the roof",
    "[Ann] plays the cello",
)


class Statements(list[tuple[str, Any]]):
    """The statements that ran, with their values."""

    def unnamed(self, agent_id: str) -> Iterator[str]:
        """Yield those on content that do not name the agent for each table."""
        for text, values in self:
            references = [
                (table, alias if alias and alias.lower() not in _NO_ALIAS else "")
                for table, alias in _REFERENCE.findall(text)
            ]
            if not references:
                continue
            given = list(values.values()) if isinstance(values, Mapping) else list(values or ())
            is_bound = agent_id in given or [agent_id] in given
            are_named = all(f"{alias}.agent_id" in text if alias else "agent_id" in text
                            for _, alias in references)  # fmt: skip
            if not (is_bound and are_named):
                yield text


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Statements:
    seen, run = Statements(), psycopg.Cursor.execute

    def execute(self: Any, query: Any, params: Any = None, **options: Any) -> Any:
        seen.append((str(query), params))
        return run(self, query, params, **options)

    monkeypatch.setattr(psycopg.Cursor, "execute", execute)
    return seen


@pytest.fixture
def ada(database: Database) -> AgentUnderTest:
    return AgentUnderTest(database)


def test_jobs_name_one_agent(ada: AgentUnderTest, statements: Statements):
    ada.remember(*TEXTS)
    ada.compress()
    assert len(statements) > 20
    assert list(statements.unnamed(ada.agent_id)) == []


@pytest.mark.parametrize(
    "read",
    [
        lambda readings: readings.search.run("ada", SearchRequest(query="Where are the bees?")),
        lambda readings: readings.recall.run("ada", RecallRequest(keywords=("bees",))),
        lambda readings: readings.assemble.run(
            "ada", ContextRequest(query="Who keeps bees?", budget_tokens=500, session_id="s1")
        ),
    ],
    ids=["search", "recall", "context"],
)
def test_reads_name_one_agent(
    ada: AgentUnderTest,
    database_url: str,
    broker_url: str,
    statements: Statements,
    read: Callable[[Any], object],
):
    ada.remember(*TEXTS)
    settings = load_settings(database_url=database_url, broker_url=broker_url)
    statements.clear()
    with closing(Runtime(settings)) as runtime:
        read(runtime.readings)
    assert list(statements.unnamed(ada.agent_id)) == []


def test_a_statement_on_all_agents_would_be_seen(statements: Statements, database: Database):
    with database.agent_transaction("ada") as connection:
        connection.exec_driver_sql("SELECT count(*) FROM message")
        connection.exec_driver_sql(
            "SELECT count(*) FROM message m JOIN node n ON n.id = m.seq WHERE m.agent_id = %s",
            ("ada",),
        )
    assert len(list(statements.unnamed("ada"))) == 2
