from __future__ import annotations

import pytest

from memci.storage.session import Database
from tests.support.mailbox import Mailbox
from tests.support.network import AgentUnderTest


@pytest.fixture
def ada(database: Database) -> AgentUnderTest:
    return AgentUnderTest(database)


@pytest.fixture
def mailbox(ada: AgentUnderTest) -> Mailbox:
    return Mailbox(ada)
