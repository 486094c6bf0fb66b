"""Benchmarks run without errors in a small size."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks import concurrency, peers, search
from benchmarks.__main__ import PARTS, measured
from benchmarks.compare import Size
from benchmarks.filling import multiply
from benchmarks.questions import Question, Talk
from benchmarks.stage import LANE_POOL, Stage
from memci.broker.names import LANE_QUEUE, READ_QUEUE
from memci.config.settings import load_settings
from memci.embedded import Postgres, Redis, Servers
from memci.runtime import Runtime
from memci.testing import database_copy


@pytest.fixture
def stage(
    shared_postgres: Postgres, process_redis: Redis, broker_url: str, tmp_path: Path
) -> Iterator[Stage]:
    assert broker_url == process_redis.url
    with database_copy(shared_postgres) as url:
        created = Stage(Servers(shared_postgres, process_redis), url, tmp_path)
        yield created
        created.stop(list(created.processes))


def test_search_is_measured_by_size_and_by_number_of_agents(stage: Stage) -> None:
    findings = {each.name: each for each in search.measure(stage, size=Size.TINY)}
    assert set(findings) == {
        "search, 60 messages: p50",
        "context, 60 messages: p50",
        "context minus a search for 12 hits, 60 messages",
        "context minus search, 60 messages",
        "bare, 20 messages, one of 6 agents: p50",
        "search, 20 messages, one of 6 agents: p50",
        "context, 20 messages, one of 6 agents: p50",
    }
    found = findings["search, 60 messages: p50"]
    assert found.baseline is not None
    assert found.ratio == pytest.approx(found.ours / found.baseline)
    assert "find" in found.note
    assert findings["context minus a search for 12 hits, 60 messages"].bar is not None


def test_agents_are_multiplied_with_all_their_rows(stage: Stage) -> None:
    with stage.owner() as owner:
        owner.execute("INSERT INTO lane (agent_id, message_seq) VALUES ('ada', 3)")
        owner.execute(
            "INSERT INTO message_term (agent_id, term, seq, tf, length, position)"
            " VALUES ('ada', 'x', 1, 2, 3, 0)"
        )
        assert multiply(owner, ["ada"], 3) == ["ada", "ada-1", "ada-2"]
        rows = owner.execute("SELECT agent_id, tf FROM message_term ORDER BY 1").fetchall()
        lanes = owner.execute("SELECT sum(message_seq) FROM lane").fetchone()
    assert rows == [("ada", 2), ("ada-1", 2), ("ada-2", 2)]
    assert lanes == (9,)


def test_reads_are_measured_during_a_write(stage: Stage) -> None:
    settings = load_settings(database_url=stage.database_url, broker_url=stage.broker_url)
    with closing(Runtime(settings)) as runtime:
        questions = concurrency.filled(stage, runtime, concurrency.SMALL)
        assert len(questions) >= concurrency.SMALL.reads * 4
        findings = list(concurrency.during_a_write(runtime, questions))
    assert [each.is_met for each in findings] == [True, True]
    assert {each.name.partition(" ")[0] for each in findings} == {"search", "context"}


SLOW_PARTS = frozenset(
    {
        "concurrency",
        "context",
        "creation",
        "fading",
        "lag",
        "lane",
        "local_stack",
        "readers",
        "startup",
    }
)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "part",
    [pytest.param(each, marks=pytest.mark.long if each in SLOW_PARTS else ()) for each in PARTS],
)
def test_every_part_runs_in_its_tiny_size(stage: Stage, part: str) -> None:
    failures: dict[str, Exception] = {}
    findings = list(measured(part, failures, stage, size=Size.TINY))
    assert not failures
    assert findings
    assert all(each.ours >= 0 for each in findings)


def test_memci_is_measured_as_its_peers_are(stage: Stage) -> None:
    messages = [
        {"id": key, "role": "user", "name": "Ann", "content": text, "timestamp": 1_700_000_000}
        for key, text in (("a", "My dog is called Rex."), ("b", "The trams run late on Sundays."))
    ]
    asked = Question("What is the dog called?", "Rex", 4, frozenset("a"))
    _, port = stage.start_api()
    stage.start_worker("workers", LANE_QUEUE, *LANE_POOL, name="lane")
    stage.start_worker("workers", READ_QUEUE, "-P", "threads", "-c", "4", name="context")
    arguments = Namespace(url=f"http://127.0.0.1:{port}", folder="")
    row = peers.measure("memci", [Talk("t", {"s": messages}, [asked] * 2)], arguments)
    assert row[5:9] == ["1.000"] * 4


def test_a_failed_part_is_named() -> None:
    failures: dict[str, Exception] = {}
    assert list(measured("lag", failures, None, size=Size.TINY)) == []
    assert list(failures) == ["lag"]
