"""An agent on a real database, and commands for its pages."""

from __future__ import annotations

import pytest

from memci.commands.pages.perform import PageCommands
from memci.domain.pages.parameters import PageRules
from memci.storage.page_store.postgres import PostgresPageStore
from tests.support.network import AgentUnderTest
from tests.support.page_asking import COUNTER


@pytest.fixture
def ada(database):
    return AgentUnderTest(database)


@pytest.fixture
def commands(database):
    return PageCommands(database, PostgresPageStore(database), COUNTER, PageRules())
