"""Sessions, consolidation and history over HTTP, and by the client."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx
import pytest

from memci import Memci
from memci.domain.job import JobState
from memci.errors import NotFoundError
from tests.integration.http.serving import Served


@pytest.mark.parametrize("session", ["s1", "a/b c", "会话?#%", "end", "x/end", "../x", "//"])
def test_a_session_of_any_name_can_be_ended(server: Served, session: str):
    with Memci(server.url) as memci:
        memory = memci.agent("alice")
        memory.remember([{"role": "user", "content": "hello"}], session_id=session)
        assert memory.sessions().sessions[0].ended_at is None
        ended = memory.end_session(session)
        assert (ended.session_id, ended.seq) == (session, 1)
        again = memory.end_session(session)
        assert again == ended
        (listed,) = memory.sessions().sessions
        assert (listed.session_id, listed.ended_at) == (session, ended.ended_at)
        job = memory.job(ended.job_id)
        assert (job.kind, job.state) == ("memci.memory.consolidate", JobState.QUEUED)


def test_unknown_agents_and_sessions_cannot_be_ended(server: Served):
    with Memci(server.url) as memci:
        with pytest.raises(NotFoundError, match="no agent"):
            memci.agent("nobody").end_session("s1")
        with pytest.raises(NotFoundError, match="no agent"):
            memci.agent("nobody").consolidate()
        memory = memci.agent("alice")
        memory.remember([{"role": "user", "content": "hello"}])
        with pytest.raises(NotFoundError, match="no such session"):
            memory.end_session("s1")
        assert len(memory.jobs().jobs) == 1, "what was refused left nothing behind"
        assert memory.sessions().sessions == []


def test_two_requests_to_consolidate_are_one_job(server: Served):
    with Memci(server.url) as memci:
        memory = memci.agent("alice")
        memory.remember([{"role": "user", "content": "hello"}])
        first, second = memory.consolidate(), memory.consolidate()
        assert (first.coalesced, second.coalesced) == (False, True)
        assert first.job_id == second.job_id


def test_a_node_that_never_existed_has_no_history(server: Served):
    with Memci(server.url) as memci:
        memci.agent("alice").remember([{"role": "user", "content": "hello"}])
        with pytest.raises(NotFoundError, match="never was"):
            memci.agent("alice").history(1, as_of=datetime.now(UTC))
        assert memci.agent("alice").nodes(tier="short", as_of="2026-05-01T00:00:00Z").nodes == []


@pytest.mark.parametrize("as_of", ["yesterday", "2026-13-01"])
def test_an_invalid_time_is_refused(server: Served, as_of: str):
    for path in ("nodes", "nodes/1/history"):
        answer = httpx.get(f"{server.url}/v1/agents/alice/{path}", params={"as_of": as_of})
        assert answer.status_code == 422
        assert "as_of" in answer.text
