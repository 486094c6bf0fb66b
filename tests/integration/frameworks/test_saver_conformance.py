"""LangGraph's own conformance suite for checkpointers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from uuid import uuid4

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability

from memci import AsyncMemci, Memci
from memci.integrations.langgraph import MemciSaver
from tests.integration.http.serving import Served


@pytest.mark.timeout(180)
@pytest.mark.parametrize("awaited", [False, True], ids=["by-threads", "awaited"])
def test_the_saver_conforms(server: Served, awaited: bool):
    @checkpointer_test(name="MemciSaver")
    async def savers() -> AsyncGenerator[MemciSaver]:
        """Yield a saver with a new agent for each part of the suite."""
        name = f"agent-{uuid4()}"
        if awaited:
            async with AsyncMemci(server.url) as memci:
                yield MemciSaver(memci.agent(name))
        else:
            with Memci(server.url) as memci:
                yield MemciSaver(memci.agent(name))

    report = asyncio.run(validate(savers))
    failures = [each for result in report.results.values() for each in result.failures]
    assert failures == []
    assert {name for name, each in report.results.items() if each.passed} == {*Capability}
