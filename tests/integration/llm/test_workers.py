"""Real workers with a language model for every task; the server counts the calls."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Lock
from typing import Any

import pytest

from memci.domain.job import JobState
from memci.errors import DatabaseBusyError
from memci.reading.lists.listings import Listings
from memci.storage.session import Database
from memci.testing import wait_until
from tests.integration.llm.conftest import TASKS
from tests.support.fading import remember_shrinking_texts, remember_with_half_a_link
from tests.support.fleet import Fleet
from tests.support.lanes import Producer
from tests.support.model_server import (
    ModelServer,
    RecordedRequest,
    Reply,
    answers_correctly,
    fails,
    hangs,
    says,
)
from tests.support.models import BagOfWords, ScriptedModels
from tests.support.network import AgentUnderTest

pytestmark = pytest.mark.timeout(120)
WAIT_S = 60.0
# For a lane without a lease and without a recent wakeup.
_END_WAITS = """
UPDATE lane SET not_before = NULL, compress_at = now(), wake_at = now(),
                compress_cursor = compress_cursor || '{"retry_at": null}'
WHERE agent_id = %s AND (lease_until IS NULL OR lease_until < now())
  AND (wake_at IS NULL OR compress_at IS NULL OR wake_at < now() - interval '1 second')
RETURNING 1
"""


@pytest.fixture
def workers(fleet: Fleet, server: ModelServer) -> Fleet:
    """A fleet that starts the real workers, which do not need torch here."""
    fleet.app = "workers"
    fleet.environment |= {
        **{
            f"MEMCI_MODELS__{task.upper()}__MODEL": "llm:openai/tiny"
            for task in (*TASKS, "embedder")
        },
        "MEMCI_LLM__API_BASE": server.url,
        "MEMCI_LLM__API_KEY": "sk-HUSH",
        "MEMCI_MODELS__EMBEDDER__DIMENSION": "8",
    }
    return fleet


class SameVectors(BagOfWords):
    """Has the name of the workers' embedder, because a database accepts only one embedder."""

    model = "openai/tiny"
    dimension = 8


@pytest.fixture
def ada(database: Database) -> AgentUnderTest:
    return AgentUnderTest(database, models=ScriptedModels(embedder=SameVectors()))


class Hurry:
    """Ends every wait at once, so that tests take seconds instead of a quarter of an hour."""

    def __init__(self, ada: AgentUnderTest, producer: Producer) -> None:
        self.ada, self.producer = ada, producer

    def until(self, done: Callable[[], Any], what: str) -> Any:
        def check() -> Any:
            # Workers lock the same rows in another order: the next check tries again.
            with suppress(DatabaseBusyError):
                self._hurry()
            return done()

        return wait_until(check, what, timeout_s=WAIT_S)

    def _hurry(self) -> None:
        self.ada.execute("UPDATE node SET retry_at = now() WHERE agent_id = %s")
        self.ada.execute(
            "UPDATE job SET not_before = now() WHERE agent_id = %s AND state = 'queued'"
        )
        if self.ada.rows(_END_WAITS):
            self.producer.wakeups.wake_compress("ada")
            self.producer.wakeups.wake_lane("ada")


@pytest.fixture
def hurry(ada: AgentUnderTest, producer: Producer) -> Iterator[Hurry]:
    return Hurry(ada, producer)


def of_task(task: str, reply: Reply) -> Reply:
    """Give this reply to one task, and a correct one to the others."""
    return lambda handler, asked: (reply if asked.task == task else answers_correctly)(
        handler, asked
    )


class Nth:
    """Replies to the call of this number of a task with ``reply``, to others with ``others``."""

    def __init__(self, task: str, number: int, reply: Reply, others: Reply) -> None:
        self.task, self.number, self.reply, self.others = task, number, reply, others
        self.count = 0
        self._lock = Lock()

    def __call__(self, handler: Any, asked: RecordedRequest) -> None:
        if asked.task != self.task:
            answers_correctly(handler, asked)
            return
        with self._lock:
            self.count += 1
            mine = self.count == self.number
        (self.reply if mine else self.others)(handler, asked)


def finished_passes(ada: AgentUnderTest) -> Any:
    return [each for each in ada.passes() if each.finished_at is not None]


def used(job: Any) -> dict[str, dict[str, Any]]:
    return {each["task"]: each for each in (job.result or {}).get("models", [])}


def test_creation_end_to_end(
    workers: Fleet, producer: Producer, ada: AgentUnderTest, server: ModelServer, database: Database
):
    notes = {
        "phrase": "Ada likes Oslo", "keywords": ["Oslo"], "entities": ["Ada"], "type": "semantic",
    }  # fmt: skip

    def reply(handler: Any, asked: RecordedRequest) -> None:
        scripted = {
            "annotate": says(notes), "judge": says({"eligible": False, "worth": 8}),
            "name_relations": says({"relations": ["likes very much"]}),
        }  # fmt: skip
        scripted.get(asked.task, answers_correctly)(handler, asked)

    server.rest = reply
    # At this level clients log whole requests.
    workers.start("memci.lane", MEMCI_LOG_LEVEL="debug")
    job_id = producer.append("ada", "Ada said that she likes Oslo and its fjord.").job_id
    producer.wait_drained(["ada"])
    job = Listings(database).job("ada", job_id)
    assert job.state is JobState.DONE
    (memory,) = ada.nodes("memory")
    assert (memory.phrase, list(memory.keywords)) == ("Ada likes Oslo", ["Oslo"])
    assert (memory.worth, memory.tier) == (8.0, "short")
    assert ada.focus() == ["Ada"]
    assert {link.relation for link in ada.links().values()} == {"likes very much"}
    assert Counter(server.tasks()) == {
        "embed": 1, "annotate": 1, "judge": 1, "name_relations": 1,
    }  # fmt: skip
    took = used(job)
    assert {task: each["calls"] for task, each in took.items()} == {
        "annotator": 1, "embedder": 1, "judge": 1, "relation_namer": 1,
    }  # fmt: skip
    assert took["annotator"]["prompt_tokens"] == 100
    assert took["annotator"]["cost"] is None
    assert not [word for word in ("HUSH", "fjord", "Oslo") if word in workers.workers[0].log_text]


def test_compression_end_to_end(
    workers: Fleet, ada: AgentUnderTest, server: ModelServer, hurry: Hurry
):
    remember_with_half_a_link(ada)
    ada.ask_for_pass()
    workers.start("memci.lane")
    workers.start("memci.compress")
    hurry.until(lambda: finished_passes(ada), "the pass is over")
    (memory,) = ada.nodes("memory")
    assert len(memory.content) <= memory.original_length * 0.5
    # Hurry may lock rows of the pass, which then repeats its work.
    asked = [each for each in server.requests if each.task == "compress"]
    assert {each.headers["authorization"] for each in asked} == {"Bearer sk-HUSH"}
    calls = [each["calls"] for each in ada.passes()[0].models]
    assert len(calls) == 2
    assert all(1 <= each <= len(asked) for each in calls)
    (vector,) = ada.rows("SELECT model FROM node_vector WHERE agent_id = %s")
    assert vector.model == "openai/tiny"


@pytest.mark.long
def test_a_compression_has_fifteen_calls_if_a_worker_is_killed(
    workers: Fleet, ada: AgentUnderTest, server: ModelServer, hurry: Hurry
):
    memory = remember_with_half_a_link(ada)
    server.rest = Nth("compress", 5, hangs, fails(503))
    ada.ask_for_pass()
    workers.start("memci.lane")
    first = workers.start("memci.compress")
    hurry.until(lambda: len(server.tasks()) == 5, "the fifth call is under way")
    first.kill()
    workers.start("memci.compress")
    hurry.until(lambda: finished_passes(ada), "the pass is over")
    node = ada.row("SELECT * FROM node WHERE agent_id = %s AND id = %s", memory)
    assert server.tasks() == ["compress"] * 15
    assert (node.attempts, node.scan_count) == (0, 1)
    assert len(node.content) == node.original_length
    (made,) = ada.passes()
    assert made.given_up == 1
    # The call of the killed worker is counted, but not as a failure.
    assert [(each["calls"], each["failures"]) for each in made.models] == [(15, 14)]


@pytest.mark.long
def test_a_creation_has_fifteen_tries_if_a_worker_is_killed(
    workers: Fleet,
    producer: Producer,
    ada: AgentUnderTest,
    server: ModelServer,
    hurry: Hurry,
    database: Database,
):
    server.rest = Nth("annotate", 5, hangs, fails(503))
    first = workers.start("memci.lane")
    job_id = producer.append("ada", "Ada said that she likes Oslo and its fjord.").job_id
    hurry.until(lambda: server.tasks().count("annotate") == 5, "the fifth try is under way")
    first.kill()
    workers.start("memci.lane")
    jobs = Listings(database)
    hurry.until(lambda: jobs.job("ada", job_id).state is JobState.DEAD, "the job is dead")
    job = jobs.job("ada", job_id)
    assert server.tasks().count("annotate") == 15
    assert server.tasks().count("embed") <= 3  # each process keeps it between tries
    assert "gave up after 15 tries" in (job.error or "")
    assert (used(job)["annotator"]["calls"], used(job)["annotator"]["failures"]) == (15, 14)


@pytest.mark.long
def test_the_first_three_tries_are_inside_the_job(
    workers: Fleet, producer: Producer, server: ModelServer, database: Database
):
    server.rest = of_task("annotate", fails(503))
    workers.start("memci.lane")
    job_id = producer.append("ada", "Ada said that she likes Oslo and its fjord.").job_id
    jobs = Listings(database)
    wait_until(lambda: jobs.job("ada", job_id).not_before, "it backs off", timeout_s=WAIT_S)
    job = jobs.job("ada", job_id)
    assert (job.attempts, server.tasks().count("annotate")) == (3, 3)
    assert "503" in (job.error or "")


def test_a_job_waits_as_long_as_the_provider_asks(
    workers: Fleet, producer: Producer, server: ModelServer, database: Database
):
    server.rest = of_task("annotate", fails(429, retry_after="1000"))
    workers.start("memci.lane")
    job_id = producer.append("ada", "Ada said that she likes Oslo and its fjord.").job_id
    jobs = Listings(database)
    wait_until(lambda: jobs.job("ada", job_id).not_before, "it backs off", timeout_s=WAIT_S)
    job = jobs.job("ada", job_id)
    assert server.tasks().count("annotate") == 1
    assert job.not_before is not None
    assert job.started_at is not None
    assert 900 < (job.not_before - job.started_at).total_seconds() < 1100


def test_useless_answers_lose_no_memory(
    workers: Fleet, producer: Producer, ada: AgentUnderTest, server: ModelServer, database: Database
):
    server.rest = lambda handler, asked: (
        answers_correctly if asked.task == "embed" else says("I will not answer in JSON.")
    )(handler, asked)
    workers.start("memci.lane")
    job_id = producer.append("ada", "Ada said that she likes Oslo and its fjord.").job_id
    producer.wait_drained(["ada"])
    job = Listings(database).job("ada", job_id)
    assert job.state is JobState.DONE
    assert len(ada.nodes("memory")) == 1
    for task in ("annotator", "judge"):
        took = used(job)[task]
        assert (took["calls"], took["failures"], took["fell_back"]) == (3, 3, 1)


@pytest.mark.long
def test_a_model_that_is_down_stops_the_pass_and_is_probed(
    workers: Fleet, ada: AgentUnderTest, server: ModelServer, hurry: Hurry
):
    remember_shrinking_texts(ada)
    server.rest = fails(503)
    workers.start("memci.lane")
    workers.start("memci.compress")
    ada.execute("UPDATE lane SET compress_at = now() WHERE agent_id = %s")
    hurry.producer.wakeups.wake_compress("ada")

    def stopped() -> bool:
        cursor = ada.lane().compress_cursor
        return bool(cursor) and cursor["retry_at"] is not None

    wait_until(stopped, "the pass has stopped", timeout_s=WAIT_S)
    assert len(server.requests) == 3
    assert {node.scan_count for node in ada.nodes()} == {0}
    hurry.until(lambda: len(server.requests) >= 5, "the model is probed")
    probes = len(server.requests) - 3
    assert ada.lane().compress_cursor["unavailable"] in {3 + probes - 1, 3 + probes}
    server.rest = answers_correctly
    hurry.until(lambda: finished_passes(ada), "the pass is over")
    assert {node.scan_count for node in ada.nodes()} == {1}
    assert ada.passes()[0].compressed == 6


@pytest.mark.long
def test_when_the_budget_is_used_up_the_offline_models_take_over(
    workers: Fleet, producer: Producer, ada: AgentUnderTest, server: ModelServer, database: Database
):
    workers.environment["MEMCI_MEMORY__LLM_TOKENS_PER_DAY"] = "100"
    first = producer.append("ada", "Ada said that she likes Oslo and its fjord.").job_id
    second = producer.append("ada", "Grace said that she likes Bergen and its rain.").job_id
    workers.start("memci.lane")
    producer.wait_drained(["ada"])
    jobs = Listings(database)
    assert server.tasks().count("annotate") == 1
    assert used(jobs.job("ada", first))["annotator"]["calls"] == 1
    took = used(jobs.job("ada", second))["annotator"]
    assert (took["calls"], took["over_budget"]) == (0, 1)
    assert len(ada.nodes("memory")) == 2
    assert "budget of language models used up" in workers.workers[0].log_text


@pytest.mark.long
def test_a_stopping_worker_does_not_wait_for_the_next_try(
    workers: Fleet, producer: Producer, server: ModelServer, database: Database
):
    server.rest = of_task("annotate", fails(503))
    worker = workers.start("memci.lane")
    job_id = producer.append("ada", "Ada said that she likes Oslo and its fjord.").job_id
    wait_until(lambda: "annotate" in server.tasks(), "the first try", timeout_s=WAIT_S)
    worker.send(signal.SIGTERM)
    assert worker.process.wait(WAIT_S) == 0
    job = Listings(database).job("ada", job_id)
    assert job.state is JobState.QUEUED
    assert job.attempts == server.tasks().count("annotate")
