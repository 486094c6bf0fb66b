"""An agent with two users, and all tools for its pages."""

from __future__ import annotations

import pytest

from memci.commands.pages.perform import PageCommands
from memci.domain.pages.parameters import PageRules
from memci.storage.page_store.postgres import PostgresPageStore
from tests.support.tools import tools_over
from tests.support.two_users import COUNTER, RULES, World


@pytest.fixture
def rules() -> PageRules:
    return RULES


@pytest.fixture
def tools(database, broker_url, rules):
    pages = PageCommands(database, PostgresPageStore(database), COUNTER, rules)
    with tools_over(pages, broker_url) as made:
        yield made


@pytest.fixture
def world(database, tools) -> World:
    return World(database, tools)
