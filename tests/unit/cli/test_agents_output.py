"""The output of `memci agents show --agent ID`."""

from __future__ import annotations

import pytest

from memci.cli.commands.agents import print_agent
from memci.schemas.agents import AgentAnswer


def test_messages_without_a_memory_are_not_called_known(
    capsys: pytest.CaptureFixture[str],
):
    """The job of one of the seven messages may have been cancelled."""
    print_agent(
        AgentAnswer(
            agent_id="a", messages=7, seq=7, pending=0, nodes=3, links=2, dangling=0, focus=[],
            queued=0, dead=0, lease=None, pass_progress=None, passes=0, paused=False,
            halted_by=None, idle=True, documents=1, items=2, summaries=2,
        )
    )  # fmt: skip
    output = capsys.readouterr().out
    assert "7; memory has read up to seq 7, 0 pending" in output
    assert "knows" not in output
    assert "1 document, 2 items, 2 summaries\n" in output
